-- name: told_entries
-- What banks said, each entry with the payout that it names, or else the one whose trace number it
-- has, if there is one, or the invoice that a receipt names. `named` is what it names its payment by, or
-- else its day, and `turn_no` counts those of one kind of message that say the same of it.
-- Grain: one row per entry.
create or replace view told_entries as
select
    bank_entries.entry_no, bank_entries.entry_id, bank_entries.status, bank_entries.direction,
    bank_entries.amount, bank_entries.currency, bank_entries.booked_at, bank_entries.code,
    coalesce(bank_entries.booked_at, bank_files.received_at) as told_at,
    bank_files.run_no, invoices.invoice_no, bank_entries.message, bank_entries.account,
    coalesce(by_id.payout_no, by_trace.payout_no) as payout_no,
    coalesce(by_id.institution_id, by_trace.institution_id) as institution_id,
    coalesce(by_id.number, by_trace.number) as number,
    coalesce(
        by_trace.payment_id, bank_entries.payment_id, bank_entries.trace,
        cast(cast(told_at as date) as varchar)
    ) as named,
    row_number() over (
        partition by
            named, bank_entries.status, bank_entries.direction, bank_entries.amount,
            bank_entries.currency, bank_entries.message
        order by bank_entries.entry_no
    ) as turn_no
from bank_entries
inner join bank_files on bank_files.bank_file_no = bank_entries.bank_file_no
left join payouts as by_id on by_id.payment_id = bank_entries.payment_id
left join payouts as by_trace
    on by_trace.trace = bank_entries.trace
    and by_id.payout_no is null
left join invoices
    on invoices.number = coalesce(bank_entries.legal_match, bank_entries.payment_id)
    and invoices.currency = bank_entries.currency
    and bank_entries.status = 'booked'
    and bank_entries.direction = 'credit';

-- name: bank_bookings
-- The entries that count (rules.md#bank-entries): of those that say the same of one payment as many as
-- the kind of message has that says it most often, each as it was told first. What names no payment is
-- the same only on one day. A notice of money that a proved statement of its day does not have is of no
-- payment, and its status `not_in_book`. Grain: one row per booking.
create or replace view bank_bookings as
with held as (
    select
        told_entries.*,
        message in ('camt.052', 'camt.054', 'csv')
        and status in ('booked', 'returned', 'unexplained')
        and not bool_or(message in ('camt.053', 'mt940', 'bai2')) over (
            partition by named, status, direction, amount, currency, turn_no
        )
        and exists (
            select true
            from bank_statements as books
            where books.is_proved
                and books.currency = told_entries.currency
                and cast(told_entries.booked_at as date) between books.from_on and books.to_on
                and books.account = coalesce(told_entries.account, (
                    select min(account)
                    from bank_statements
                    having min(account) = max(account)
                ))
        ) as is_left_out
    from told_entries
)
select
    entry_no, entry_id, if(is_left_out, 'not_in_book', status) as status, direction, amount, currency,
    booked_at, code, told_at, run_no, if(is_left_out, null, payout_no) as payout_no,
    if(is_left_out, null, invoice_no) as invoice_no,
    if(is_left_out, null, institution_id) as institution_id, if(is_left_out, null, number) as number
from held
qualify entry_no = min(entry_no) over (
    partition by named, held.status, direction, amount, currency, turn_no, is_left_out
);

-- name: squashed
-- The letters and digits of a name, by which it is found in a text.
create or replace macro squashed(content) as regexp_replace(
    lower(strip_accents(content)), '[^\p{L}\p{N}]', '', 'g'
);

-- name: allocated_parts
-- What receipts that count are for as a person said last, and, `is_undone`, with the sign changed, what
-- they were taken for by themselves: an invoice, or `suspense`. Grain: one row per entry and part.
create or replace view allocated_parts as
with newest as (
    select entry_id, number, amount
    from bank_allocations
    qualify run_no = max(run_no) over (partition by entry_id)
)
select newest.entry_id, newest.number, newest.amount, bank_bookings.currency, false as is_undone
from newest
inner join bank_bookings on bank_bookings.entry_id = newest.entry_id
union all
select
    bank_bookings.entry_id, coalesce(invoices.number, 'suspense'), -bank_bookings.amount,
    bank_bookings.currency, true
from bank_bookings
semi join newest on newest.entry_id = bank_bookings.entry_id
left join invoices on invoices.invoice_no = bank_bookings.invoice_no;

-- name: is_unexplained
-- Whether an entry of no payout tells of money that left, or that came back or was rejected, or that no
-- detail of its entry, or no statement, has (rules.md#bank-verdicts).
create or replace macro is_unexplained(status, direction) as
    status in ('returned', 'rejected', 'unexplained', 'not_in_book')
    or (status = 'booked' and direction = 'debit');

-- name: tells_return
-- Whether an entry says that a payment came back or was rejected, as a code with which it left does too.
create or replace macro tells_return(status, direction, code) as
    status in ('returned', 'rejected')
    or (status = 'booked' and direction = 'debit' and code is not null);

-- name: moved_by_bank
-- What an entry adds to what is paid: what left, less what came back.
create or replace macro moved_by_bank(status, direction, amount) as case
    when status = 'booked' and direction = 'debit' then amount
    when status = 'returned' and direction = 'credit' then -amount
    else 0
end;

-- name: paid_statements
-- What is paid of each statement that pays anything (rules.md#bank-verdicts), by all its payments. Of a
-- payment that came back nothing counts, also where the bank told of the return alone; `kept_amount` is
-- what did not come back of it. Whether it came back and the day it was due are of the newest payment,
-- the code of the bank too, unless an older one stands. A payment that was withdrawn is due no more.
-- Grain: one row per statement that pays anything.
create or replace view paid_statements as
with said as (
    select
        bank_bookings.*, moved_by_bank(status, direction, 1) as moved,
        status = 'notice' or tells_return(status, direction, code) as is_coded
    from bank_bookings
),
returns as (
    select payout_no, max_by(code, (told_at, entry_no)) as code
    from told_entries
    where tells_return(status, direction, code)
    group by payout_no
),
payments as (
    select
        payouts.number, payouts.institution_id, payouts.payout_no, payouts.due_on,
        payouts.withdrawn_at is not null as is_withdrawn,
        count(said.entry_id) as entries, coalesce(sum(said.moved), 0) as payments,
        coalesce(sum(said.moved * said.amount), 0) as moved_amount,
        case when bool_or(said.moved = 1) then 0 else any_value(payouts.amount) end
            as untold_amount,
        bool_or(said.moved = -1) as is_back,
        bool_or(said.status in ('returned', 'rejected')) as came_back,
        any_value(returns.payout_no) is not null as is_return_told,
        bool_or(
            said.status in ('booked', 'returned') and said.currency <> payouts.currency
        ) as is_in_another,
        max(said.booked_at) filter (said.status in ('booked', 'returned')) as booked_at,
        coalesce(
            max_by(said.code, (said.told_at, said.entry_no)) filter (said.is_coded),
            any_value(returns.code)
        ) as bank_code
    from payouts
    left join said on said.payout_no = payouts.payout_no
    left join returns on returns.payout_no = payouts.payout_no
    group by all
),
told as (
    select
        payments.number, payments.institution_id, max(payments.payout_no) as payout_no,
        arg_max_null(
            case when not payments.is_withdrawn then payments.due_on end, payments.payout_no
        ) as due_on,
        sum(payments.entries) as entries, sum(greatest(payments.payments, 0)) as payments,
        sum(payments.moved_amount) filter (where payments.payments >= 1) as paid_amount,
        sum(payments.moved_amount) as moved_amount,
        coalesce(
            sum(payments.untold_amount + payments.moved_amount)
                filter (where payments.payments < 1 and payments.is_back),
            0
        ) as kept_amount,
        arg_max_null(payments.came_back, payments.payout_no) as came_back,
        bool_or(payments.is_withdrawn and payments.entries > 0) as is_withdrawn_told,
        bool_or(payments.is_return_told) filter (where payments.payments >= 1) as is_return_told,
        bool_or(payments.is_in_another) filter (where payments.payments >= 1) as is_in_another,
        max(payments.booked_at) as booked_at,
        coalesce(
            arg_max_null(payments.bank_code, payments.payout_no),
            max_by(payments.bank_code, payments.payout_no) filter (where payments.payments >= 1)
        ) as bank_code
    from payments
    group by payments.number, payments.institution_id
)
select
    statements.institution_id, statements.statement_no, statements.number, statements.payable,
    statements.currency, statements.closed_at,
    case
        when told.payments >= 2 and told.paid_amount > statements.payable
            and not told.is_in_another
            then 'paid_twice'
        when told.is_withdrawn_told then 'withdrawn_told'
        when told.payments >= 1
            and (told.is_in_another or told.paid_amount <> statements.payable)
            then 'paid_differs'
        when told.payments >= 1 and told.is_return_told then 'return_unbooked'
        when told.kept_amount <> 0 then 'return_differs'
        when told.payments >= 1 then 'paid'
        when told.came_back then 'returned'
        else 'unpaid'
    end as state,
    coalesce(told.payments, 0) = 0 and coalesce(told.came_back, false) as is_back,
    coalesce(told.paid_amount, 0) as paid_amount,
    coalesce(told.moved_amount, 0) as moved_amount,
    coalesce(told.kept_amount, 0) as kept_amount, coalesce(told.entries, 0) as entries,
    told.bank_code, told.booked_at, told.payout_no,
    cast(coalesce(told.due_on, cast(statements.closed_at as date)) as timestamp) as since_at
from statements
left join told using (number, institution_id)
where statements.payable > 0;
