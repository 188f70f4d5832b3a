-- Payouts: what the bank said of each, and what is paid of a statement.

-- name: payout_entries
-- What a bank said of payouts: an entry is of the payout that it names, else of the one whose trace
-- number it has. Grain: one row per entry that is of a payout.
create or replace view payout_entries as
select
    payouts.payout_no, payouts.institution_id, payouts.number, bank_entries.entry_no,
    bank_entries.entry_id, bank_entries.status, bank_entries.direction, bank_entries.amount, bank_entries.currency,
    bank_entries.booked_at, bank_entries.code,
    coalesce(bank_entries.booked_at, bank_files.received_at) as told_at
from bank_entries
inner join bank_files on bank_files.bank_file_no = bank_entries.bank_file_no
inner join payouts on payouts.payment_id = bank_entries.payment_id
union all
select
    payouts.payout_no, payouts.institution_id, payouts.number, bank_entries.entry_no,
    bank_entries.entry_id, bank_entries.status, bank_entries.direction, bank_entries.amount, bank_entries.currency,
    bank_entries.booked_at, bank_entries.code,
    coalesce(bank_entries.booked_at, bank_files.received_at) as told_at
from bank_entries
inner join bank_files on bank_files.bank_file_no = bank_entries.bank_file_no
inner join payouts on payouts.trace = bank_entries.trace
where not exists (
    select 1
    from payouts as named
    where named.payment_id = bank_entries.payment_id
);

-- name: is_unexplained
-- Whether an entry of no payout tells of money that left, or that came back or was rejected
-- (rules.md#bank-verdicts).
create or replace macro is_unexplained(status, direction) as
    status in ('returned', 'rejected') or (status = 'booked' and direction = 'debit');

-- name: moved_by_bank
-- What an entry adds to what is paid: what left, less what came back.
create or replace macro moved_by_bank(status, direction, amount) as case
    when status = 'booked' and direction = 'debit' then amount
    when status = 'returned' and direction = 'credit' then -amount
    else 0
end;

-- name: paid_statements
-- What is paid of each statement that pays anything (rules.md#bank-verdicts), by all its payments. Of a
-- payment that came back nothing counts, also where the bank told of the return alone; whether it came
-- back, the code of the bank and the day it was due are of the newest payment.
-- Grain: one row per statement that pays anything.
create or replace view paid_statements as
with payments as (
    select
        payouts.number,
        payouts.institution_id,
        payouts.payout_no,
        payouts.due_on,
        count(payout_entries.entry_id) as entries,
        coalesce(
            sum(moved_by_bank(payout_entries.status, payout_entries.direction, 1)), 0
        ) as payments,
        coalesce(
            sum(
                moved_by_bank(
                    payout_entries.status, payout_entries.direction, payout_entries.amount
                )
            ),
            0
        ) as moved_amount,
        bool_or(payout_entries.status in ('returned', 'rejected')) as came_back,
        bool_or(
            payout_entries.status in ('booked', 'returned')
            and payout_entries.currency <> payouts.currency
        ) as is_in_another,
        max(payout_entries.booked_at) filter (payout_entries.status in ('booked', 'returned'))
            as booked_at,
        max_by(payout_entries.code, (payout_entries.told_at, payout_entries.entry_no)) filter (
            payout_entries.status in ('returned', 'rejected', 'notice')
        ) as bank_code
    from payouts
    left join payout_entries on payout_entries.payout_no = payouts.payout_no
    group by payouts.number, payouts.institution_id, payouts.payout_no, payouts.due_on
),
told as (
    select
        payments.number,
        payments.institution_id,
        max(payments.payout_no) as payout_no,
        max_by(payments.due_on, payments.payout_no) as due_on,
        sum(payments.entries) as entries,
        sum(greatest(payments.payments, 0)) as payments,
        sum(payments.moved_amount) filter (where payments.payments >= 1) as paid_amount,
        sum(payments.moved_amount) as moved_amount,
        arg_max_null(payments.came_back, payments.payout_no) as came_back,
        bool_or(payments.is_in_another) filter (where payments.payments >= 1) as is_in_another,
        max(payments.booked_at) as booked_at,
        arg_max_null(payments.bank_code, payments.payout_no) as bank_code
    from payments
    group by payments.number, payments.institution_id
)
select
    statements.institution_id,
    statements.statement_no,
    statements.number,
    statements.payable,
    statements.currency,
    statements.closed_at,
    case
        when told.payments >= 1 and told.is_in_another then 'paid_differs'
        when told.payments >= 1 and told.paid_amount = statements.payable then 'paid'
        when told.payments >= 2 and told.paid_amount > statements.payable then 'paid_twice'
        when told.payments >= 1 then 'paid_differs'
        when told.came_back then 'returned'
        else 'unpaid'
    end as state,
    coalesce(told.paid_amount, 0) as paid_amount,
    coalesce(told.moved_amount, 0) as moved_amount,
    coalesce(told.entries, 0) as entries,
    told.bank_code,
    told.booked_at,
    told.payout_no,
    cast(coalesce(told.due_on, cast(statements.closed_at as date)) as timestamp) as since_at
from statements
left join told
    on told.number = statements.number
    and told.institution_id = statements.institution_id
where statements.payable > 0;
