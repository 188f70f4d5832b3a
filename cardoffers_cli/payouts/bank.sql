-- name: next_file
-- The number of the next file of a bank, from 1 on, and whether one of the same bytes was taken in before.
-- Grain: one row.
select
    coalesce(max(bank_file_no), 0) + 1 as bank_file_no,
    coalesce(bool_or(sha256 = $sha256), false) as is_known
from bank_files;

-- name: keep_file
-- Writes that a file was taken in.
insert into bank_files (bank_file_no, file_name, form, sha256, received_at, run_no)
values ($bank_file_no, $file_name, $form, $sha256, $received_at, $run_no);

-- name: keep_statement
-- Writes what a file says of an account over some days.
insert into bank_statements (
    bank_file_no, message, account, currency, from_on, to_on, opening, closing, is_proved
)
values (
    $bank_file_no, $message, $account, $currency, $from_on, $to_on, $opening, $closing, $is_proved
);

-- name: broken_chains
-- The statements of a file, or next to one of it, that open with another balance than the one before of
-- their account closed with, as far as that is known; a day may have several, one behind the other.
-- Grain: one row per statement.
select later.to_on, later.currency, later.opening, max_by(before.closing, before.to_on) as closing
from bank_statements as later
inner join bank_statements as before
    on before.account = later.account
    and before.currency = later.currency
    and (
        before.to_on < later.to_on
        or (before.to_on = later.to_on and before.opening <> later.opening)
    )
group by later.to_on, later.currency, later.opening, later.closing, later.bank_file_no
having max(before.to_on) filter (before.to_on < later.to_on)
    > coalesce(max(before.to_on) filter (before.closing = later.opening), date '1900-01-01')
    and $bank_file_no in (later.bank_file_no, max_by(before.bank_file_no, before.to_on))
order by all;

-- name: keep_entries
-- Writes the entries of a page of a file, but those that are there already, which any file of its kind
-- may have told (rules.md#bank-entries). Whoever runs it again writes nothing. The merchant whose name is
-- in the payer's is looked up by its first letters at every place: all names in all texts would be too many.
-- So legal numbers are looked up by the words of the text; beside another invoice's it is of none.
insert into bank_entries (
    entry_no, entry_id, bank_file_no, place, status, direction, payment_id, trace, amount, currency,
    booked_at, code, bank_ref, message, account, payer_id, legal_match
)
select
    (select coalesce(max(bank_entries.entry_no), 0) from bank_entries)
    + row_number() over (order by said.entry_id),
    said.entry_id, $bank_file_no, said.place, said.status, said.direction, said.payment_id,
    said.trace, cast(said.amount as decimal(38, 4)), said.currency,
    cast(said.booked_at as timestamp), said.code, said.bank_ref, said.message, said.account,
    (
        select max_by(merchants.merchant_id, length(merchants.name))
        from unnest(range(1, length(squashed(said.payer)) - 2)) as places (place)
        cross join range(4, 9) as lengths (length)
        inner join merchants
            on left(squashed(merchants.name), 8)
            = substr(squashed(said.payer), places.place, lengths.length)
        where said.direction = 'credit'
            and length(squashed(merchants.name)) > 3
            and starts_with(substr(squashed(said.payer), places.place), squashed(merchants.name))
    ),
    (
        select if(count(distinct named.item) = 1, any_value(named.item), 'suspense')
        from unnest(regexp_extract_all(
            upper(concat_ws(' ', said.payment_id, said.text)),
            '[A-Z0-9](?:[A-Z0-9/._-]*[A-Z0-9])?'
        )) as words (word)
        inner join (
            select number as word, coalesce(amends, number) as item, false as is_legal
            from invoices
            union all
            select upper(legal_number), coalesce(amends, number), true
            from invoices
            inner join newest_legal_invoices using (number)
        ) as named on named.word = words.word
        where said.direction = 'credit'
        having bool_or(named.is_legal)
    )
from (
    select unnest(
        cast(
            $said as struct(
                entry_id uuid, place varchar, status varchar, direction varchar,
                payment_id varchar, trace varchar, amount varchar, currency varchar,
                booked_at varchar, code varchar, bank_ref varchar, message varchar, account varchar,
                payer varchar, text varchar
            )[]
        ),
        recursive := true
    )
) as said
anti join bank_entries on bank_entries.entry_id = said.entry_id;

-- name: allocate
-- Writes a part of a receipt: what it is of.
insert into bank_allocations (run_no, entry_id, number, amount, actor, reason)
values ($run_no, $entry_id, $number, $amount, $actor, $reason);

-- name: invoice_currency
-- The currency of an invoice. Grain: one row, none of what is no invoice, or is a credit note.
select currency
from invoices
where number = $number
    and amends is null;

-- name: listed
-- What banks said, of payouts and of others, the newest first: of an institution, of a statement,
-- one entry, or what is of no payout. Money that left, or came back or was rejected, and that no payout
-- explains is `unknown` (rules.md#bank-verdicts); `counts` tells what does (rules.md#bank-entries).
-- `invoice` is what a receipt paid; candidates are open invoices of its amount, or of the merchant whose
-- name it has, at most five. Grain: one row per entry.
with open_invoices as (
    select item, currency, party_id, sum(amount) as amount
    from journal_lines
    where account = 'merchants:billed'
    group by item, currency, party_id
    having sum(amount) > 0
),
likely as (
    select
        entries.entry_no,
        list(
            owed.item
            order by owed.amount <> entries.amount, owed.party_id <> entries.payer_id, owed.item
        )[:5] as numbers
    from bank_entries as entries
    inner join open_invoices as owed
        on owed.currency = entries.currency
        and (owed.amount = entries.amount or owed.party_id = entries.payer_id)
    group by entries.entry_no
),
paid as (
    select entry_id, string_agg(number, ', ' order by number) as numbers
    from allocated_parts
    where not is_undone
    group by entry_id
)
select
    bank_entries.entry_id, bank_entries.status, bank_entries.direction, told_entries.number,
    institutions.slug as institution, bank_entries.payment_id, bank_entries.trace,
    bank_entries.amount, bank_entries.currency, bank_entries.booked_at, bank_entries.code,
    bank_entries.bank_ref, bank_files.file_name as file, bank_entries.place, bank_files.received_at,
    bank_entries.message, coalesce(counting.status <> 'not_in_book', false) as counts,
    coalesce(counting.number is null and is_unexplained(counting.status, counting.direction), false)
        as is_unknown,
    case
        when counting.status in ('booked', 'unexplained') and counting.direction = 'credit'
            then coalesce(paid.numbers, invoices.number, 'suspense')
    end as invoice,
    if(invoice = 'suspense', array_to_string(likely.numbers, ', '), null) as candidates,
    count(*) over () as entries
from bank_entries
inner join bank_files on bank_files.bank_file_no = bank_entries.bank_file_no
inner join told_entries on told_entries.entry_no = bank_entries.entry_no
left join bank_bookings as counting on counting.entry_no = bank_entries.entry_no
left join institutions on institutions.institution_id = told_entries.institution_id
left join invoices on invoices.invoice_no = told_entries.invoice_no
left join likely on likely.entry_no = bank_entries.entry_no
left join paid on paid.entry_id = bank_entries.entry_id
where ($institution_id is null or told_entries.institution_id = $institution_id)
    and ($number is null or told_entries.number = $number)
    and ($entry_no is null or bank_entries.entry_no = $entry_no)
    and starts_with(cast(bank_entries.entry_id as varchar), coalesce($entry_id, ''))
    and (not $unknown or is_unknown)
order by bank_entries.booked_at desc nulls last, bank_files.bank_file_no desc, bank_entries.entry_id
limit $limit;
