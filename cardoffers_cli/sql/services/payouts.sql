-- name: payable
-- A statement, and what it pays. Grain: one row, none where there is no such statement.
select statements.institution_id, statements.number, statements.payable as amount,
    statements.currency, statements.closed_at
from statements
where statements.number = $number;

-- name: find
-- The payout of a statement of an institution, with its file. Grain: one row, none before it is
-- exported.
select payouts.number, payouts.payment_id, payouts.amount, payouts.currency, payouts.form,
    payouts.account, payouts.content, payouts.sha256, payouts.due_on, payouts.exported_at,
    payouts.actor
from payouts
where payouts.institution_id = $institution_id
    and payouts.number = $number;

-- name: next_no
-- The number of the next payout, from 1 on.
select coalesce(max(payouts.payout_no), 0) + 1
from payouts;

-- name: keep
-- Writes the payout of a statement that has none.
insert into payouts (
    payout_no, institution_id, number, payment_id, trace, amount, currency, form, account, content,
    sha256, due_on, exported_at, run_no, actor
)
values (
    $payout_no, $institution_id, $number, $payment_id, $trace, $amount, $currency, $form, $account,
    $content, $sha256, $due_on, $exported_at, $run_no, $actor
);

-- name: states
-- What is paid of each statement that pays anything (rules.md#bank-verdicts), of an institution or
-- of all, or of one statement, the newest first. What came back is taken from what left. The age
-- counts from the day it was due, else from the close. Grain: one row per statement.
with told as (
    select
        payout_entries.number,
        count(*) filter (payout_entries.status = 'booked' and payout_entries.direction = 'debit')
            - count(*) filter (
                payout_entries.status = 'returned' and payout_entries.direction = 'credit'
            ) as payments,
        coalesce(sum(payout_entries.amount) filter (
            payout_entries.status = 'booked' and payout_entries.direction = 'debit'
        ), 0) - coalesce(sum(payout_entries.amount) filter (
            payout_entries.status = 'returned' and payout_entries.direction = 'credit'
        ), 0) as paid_amount,
        bool_or(
            payout_entries.status in ('returned', 'rejected')
        ) as came_back,
        bool_or(
            payout_entries.status in ('booked', 'returned')
            and payout_entries.currency <> payouts.currency
        ) as is_in_another,
        max(payout_entries.booked_at) filter (payout_entries.status in ('booked', 'returned'))
            as booked_at,
        max_by(payout_entries.code, (payout_entries.booked_at, payout_entries.entry_id)) filter (
            payout_entries.status in ('returned', 'rejected', 'notice')
        ) as bank_code
    from payout_entries
    inner join payouts on payouts.payout_no = payout_entries.payout_no
    group by payout_entries.number
)
select
    statements.number,
    institutions.slug as institution,
    case
        when told.payments >= 1 and told.is_in_another then 'paid_differs'
        when told.payments >= 1 and told.paid_amount = statements.payable then 'paid'
        when told.payments >= 2 and told.paid_amount > statements.payable then 'paid_twice'
        when told.payments >= 1 then 'paid_differs'
        when told.came_back then 'returned'
        else 'unpaid'
    end as state,
    statements.payable as amount,
    statements.currency,
    cast(case when told.payments >= 1 then told.paid_amount else 0 end as decimal(38, 4))
        as paid_amount,
    told.bank_code,
    told.booked_at,
    greatest(
        0, date_diff('day', coalesce(payouts.due_on, cast(statements.closed_at as date)), cast($moment as date))
    ) as age_days,
    payouts.payment_id,
    payouts.form,
    payouts.account,
    payouts.due_on,
    payouts.exported_at,
    statements.closed_at
from statements
inner join institutions on institutions.institution_id = statements.institution_id
left join payouts
    on payouts.number = statements.number
    and payouts.institution_id = statements.institution_id
left join told on told.number = statements.number
where statements.payable > 0
    and ($institution_id is null or statements.institution_id = $institution_id)
    and ($number is null or statements.number = $number)
order by statements.closed_at desc, statements.number desc
limit $limit;

-- name: unknown_totals
-- What no payout explains of what banks said (rules.md#bank-verdicts), whichever institution it may
-- be of. Grain: one row per currency.
select
    'bank_unknown' as code, count(*) as rows,
    cast(coalesce(sum(bank_entries.amount), 0) as decimal(38, 4)) as amount, bank_entries.currency
from bank_entries
where bank_entries.currency is not null
    and (
        bank_entries.status in ('returned', 'rejected')
        or (bank_entries.status = 'booked' and bank_entries.direction = 'debit')
    )
    and not exists (
        select 1
        from payout_entries
        where payout_entries.entry_id = bank_entries.entry_id
    )
group by bank_entries.currency
order by bank_entries.currency;
