-- name: payouts_pay_their_statement
-- Payouts that are not what their statement pays, or whose file is not the one whose digest was told;
-- those of another attempt whose payment before never came back nor was withdrawn, or that no run
-- withdrew; and entries of banks that stand there twice. Grain: one row per payout, or entry.
select payouts.number, payouts.amount, statements.payable
from payouts
left join statements
    on statements.number = payouts.number
    and statements.institution_id = payouts.institution_id
where statements.number is null
    or payouts.amount <> statements.payable
    or payouts.currency <> statements.currency
    or payouts.sha256 <> sha256(payouts.content)
    or not contains(payouts.content, payouts.payment_id)
    or (
        payouts.withdrawn_at is not null
        and not exists (
            select 1
            from runs
            where runs.run_no = payouts.withdrawn_run_no
                and runs.kind = 'payout_withdraw'
        )
    )
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
union all
select cast(bank_entries.entry_id as varchar), min(bank_entries.amount), count(*)
from bank_entries
group by bank_entries.entry_id
having count(*) > 1
order by all;
