-- name: payouts_pay_their_statement
-- Payouts that are not what their statement pays, or whose file is not the one whose digest was told;
-- and those of another attempt whose payment before never came back nor was withdrawn. Grain: one row
-- per payout.
select payouts.number, payouts.amount, statements.payable
from payouts
full join payment_files as files using (sha256)
left join statements using (number, institution_id)
where statements.number is null
    or payouts.amount <> statements.payable
    or payouts.currency <> statements.currency
    or payouts.sha256 is distinct from sha256(files.content)
    or not contains(files.content, payouts.payment_id)
    or (
        payouts.attempt > 1
        and not exists (
            select 1
            from payouts as before
            left join bank_bookings on bank_bookings.payout_no = before.payout_no
            where before.number = payouts.number
                and before.institution_id = payouts.institution_id
                and before.attempt = payouts.attempt - 1
                and (
                    before.withdrawn_at <= payouts.exported_at
                    or bank_bookings.status in ('returned', 'rejected')
                )
        )
    )
order by payouts.number, payouts.attempt;
