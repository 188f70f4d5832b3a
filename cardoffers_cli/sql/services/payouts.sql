-- name: payable
-- A statement, and what it pays. Grain: one row, none where there is no such statement.
select statements.institution_id, statements.number, statements.payable as amount,
    statements.currency, statements.closed_at
from statements
where statements.number = $number;

-- name: find
-- The newest payment of a statement of an institution, with its file. Grain: one row, none before it
-- is exported.
select payouts.number, payouts.attempt, payouts.payment_id, payouts.amount, payouts.currency,
    payouts.form, payouts.account, payouts.content, payouts.sha256, payouts.due_on,
    payouts.exported_at, payouts.actor
from payouts
where payouts.institution_id = $institution_id
    and payouts.number = $number
order by payouts.attempt desc
limit 1;

-- name: next_no
-- The number of the next payout, from 1 on.
select coalesce(max(payouts.payout_no), 0) + 1
from payouts;

-- name: keep
-- Writes a payment of a statement that has none of this attempt.
insert into payouts (
    payout_no, institution_id, number, attempt, payment_id, trace, amount, currency, form, account,
    content, sha256, due_on, exported_at, run_no, actor, reason
)
values (
    $payout_no, $institution_id, $number, $attempt, $payment_id, $trace, $amount, $currency, $form,
    $account, $content, $sha256, $due_on, $exported_at, $run_no, $actor, $reason
);

-- name: states
-- What is paid of each statement that pays anything (rules.md#bank-verdicts), of an institution or
-- of all, or of one statement, the newest first, with its newest payment. The age counts from the day
-- it was due, else from the close. Grain: one row per statement.
select
    paid_statements.number,
    institutions.slug as institution,
    paid_statements.state,
    paid_statements.payable as amount,
    paid_statements.currency,
    cast(paid_statements.paid_amount as decimal(38, 4)) as paid_amount,
    paid_statements.bank_code,
    paid_statements.booked_at,
    greatest(0, date_sub('day', paid_statements.since_at, $moment)) as age_days,
    payouts.payment_id,
    payouts.form,
    payouts.account,
    payouts.due_on,
    payouts.exported_at,
    paid_statements.closed_at,
    payouts.attempt
from paid_statements
inner join institutions on institutions.institution_id = paid_statements.institution_id
left join payouts on payouts.payout_no = paid_statements.payout_no
where ($institution_id is null or paid_statements.institution_id = $institution_id)
    and ($number is null or paid_statements.number = $number)
order by paid_statements.closed_at desc, paid_statements.number desc
limit $limit;
