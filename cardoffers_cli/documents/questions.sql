-- name: take_settlements
-- Writes statement_settlements: the settlements of an institution made before $to_at that no statement
-- took (rules.md#statements); taken again they are there, so none is written twice.
-- Grain: one row per settlement.
insert into statement_settlements (settlement_no, institution_id, statement_no)
select settlement_no, institution_id, $statement_no
from unstated_settlements
where institution_id = $institution_id
    and settled_at < $to_at;

-- name: next_no
-- The number of the next statement of all.
select coalesce(max(statements.statement_no), 0) + 1 as statement_no
from statements;

-- name: next_place
-- The place of the next statement in a series and year, from 1 without a gap.
select coalesce(max(statements.place), 0) + 1 as place
from statements
where statements.series = $series
    and statements.year = $year;

-- name: taken
-- What the lines of a statement come to. Grain: one row.
select
    count(*) filter (where kind = 'entry') as entry_count,
    count(*) filter (where kind = 'adjustment') as adjustment_count,
    coalesce(sum(institution_payout_amount) filter (where kind = 'entry'), 0) as entries,
    coalesce(sum(institution_payout_amount) filter (where kind = 'adjustment'), 0) as adjustments
from statement_lines
where institution_id = $institution_id
    and statement_no = $statement_no;

-- name: to_come
-- What the settlements of an institution made before $to_at that no statement took come to.
-- Grain: one row.
select
    count(*) filter (where amounts.kind = 'entry') as entry_count,
    count(*) filter (where amounts.kind = 'adjustment') as adjustment_count,
    coalesce(sum(amounts.institution_payout_amount) filter (where amounts.kind = 'entry'), 0)
        as entries,
    coalesce(sum(amounts.institution_payout_amount) filter (where amounts.kind = 'adjustment'), 0)
        as adjustments
from settled_amounts as amounts
inner join unstated_settlements
    on unstated_settlements.settlement_no = amounts.settlement_no
    and unstated_settlements.institution_id = amounts.institution_id
where unstated_settlements.institution_id = $institution_id
    and unstated_settlements.settled_at < $to_at;

-- name: pending
-- Entries of an institution that are on hold, and how many of them were due before $to_at and wait
-- for a run of settle. Grain: one row.
select
    count(*) as pending_count,
    coalesce(sum(ledger_entries.institution_payout_amount), 0) as pending,
    count(*) filter (where ledger_entries.settles_at < $to_at) as overdue_count
from ledger_entries
where ledger_entries.institution_id = $institution_id
    and ledger_entries.status = 'pending'
    and ledger_entries.created_at < $to_at;

-- name: write
-- Writes statements, one row: a period that was closed.
insert into statements (
    statement_no, institution_id, number, series, year, place, from_at, to_at, currency,
    entry_count, adjustment_count, carried_in, entries, adjustments, carried_out, payable,
    pending_count, pending, sha256, previous_number, previous_sha256, closed_at, run_no, actor,
    tax_id, tax_note
)
values (
    $statement_no, $institution_id, $number, $series, $year, $place, $from_at, $to_at, $currency,
    $entry_count, $adjustment_count, $carried_in, $entries, $adjustments, $carried_out, $payable,
    $pending_count, $pending, $sha256, $previous_number, $previous_sha256, $closed_at, $run_no,
    $actor, $tax_id, $tax_note
);

-- name: list
-- Statements, the newest period first; nulls in the parameters filter nothing. `statements` is how
-- many there are in all. Grain: one row per statement.
select
    statements.statement_no, statements.number, statements.institution_id,
    institutions.slug as institution, statements.series, statements.year, statements.place,
    statements.from_at, statements.to_at, statements.currency, statements.entry_count,
    statements.adjustment_count, statements.carried_in, statements.entries,
    statements.adjustments, statements.carried_out, statements.payable, statements.pending_count,
    statements.pending, statements.sha256, statements.previous_number,
    statements.previous_sha256, statements.closed_at, statements.actor, statements.tax_id,
    statements.tax_note,
    count(*) over () as statements
from statements
inner join institutions on institutions.institution_id = statements.institution_id
where ($institution_id is null or statements.institution_id = $institution_id)
    and ($number is null or statements.number = $number)
order by statements.from_at desc, statements.number
limit $limit;

-- name: settlements
-- The settlements that a statement took, the first one first. Grain: one row per settlement.
select
    settlements.settled_at, settlements.currency, settlements.entries, settlements.adjustments,
    settlements.institution_payout_amount, settlements.settlement_id
from settlements
inner join statement_settlements
    on statement_settlements.settlement_no = settlements.settlement_no
    and statement_settlements.institution_id = settlements.institution_id
where statement_settlements.institution_id = $institution_id
    and statement_settlements.statement_no = $statement_no
order by settlements.settled_at, settlements.settlement_no;

-- name: lines
-- The lines of a statement, in their order for ever: the first $limit, or all where that is null.
-- Grain: one row per entry or adjustment.
select
    kind, created_at, redemption_id, offer_id, merchant_id, settlement_id, settled_at, currency,
    merchant_funded_amount, commission_amount, institution_payout_amount
from statement_lines
where institution_id = $institution_id
    and statement_no = $statement_no
order by created_at, redemption_id, kind desc
limit $limit;

-- name: csv_lines
-- The same lines as they stand in the CSV file of the statement. Its digest is kept, so this is never
-- changed. Grain: one row per entry or adjustment.
select concat_ws(
    ',', kind, moment_text(created_at), cast(redemption_id as varchar), csv_text(offer_id),
    cast(merchant_id as varchar), cast(settlement_id as varchar), moment_text(settled_at),
    currency, amount_text(merchant_funded_amount, minor_unit),
    amount_text(commission_amount, minor_unit),
    amount_text(institution_payout_amount, minor_unit), ''
) as line
from statement_lines
where institution_id = $institution_id
    and statement_no = $statement_no
order by created_at, redemption_id, kind desc;
