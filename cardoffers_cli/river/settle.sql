-- name: due
-- makes: due(redemption_no, institution_id, currency, is_adjustment, merchant_funded_amount,
--     commission_amount, institution_payout_amount)
-- Makes due: pending entries whose hold has ended, and adjustments no settlement has taken yet, none
-- before its entry (rules.md#settlement). Grain: one row per entry or adjustment.
create temp table due as
select
    ledger_entries.redemption_no, ledger_entries.institution_id, ledger_entries.currency,
    false as is_adjustment, ledger_entries.merchant_funded_amount, ledger_entries.commission_amount,
    ledger_entries.institution_payout_amount
from ledger_entries
where ledger_entries.status = 'pending'
    and ledger_entries.settles_at <= $now
union all
select
    adjustments.redemption_no, adjustments.institution_id, adjustments.currency, true,
    adjustments.merchant_funded_amount, adjustments.commission_amount,
    adjustments.institution_payout_amount
from adjustments
inner join ledger_entries using (redemption_no, institution_id)
where adjustments.settlement_no is null
    and adjustments.created_at <= $now
    and (
        ledger_entries.settlement_no is not null
        or ledger_entries.status = 'pending' and ledger_entries.settles_at <= $now
    );

-- name: settlements
-- reads: due(institution_id, currency, is_adjustment, merchant_funded_amount, commission_amount,
--     institution_payout_amount)
-- Writes one settlement per institution and currency of due; amounts are net of adjustments.
insert into settlements (
    settlement_no, settlement_id, institution_id, run_no, currency, entries, adjustments,
    merchant_funded_amount, commission_amount, institution_payout_amount, settled_at
)
with highest as (
    select coalesce(max(settlements.settlement_no), 0) as settlement_no
    from settlements
),
final as (
    select
        due.institution_id,
        due.currency,
        count(*) filter (where not due.is_adjustment) as entries,
        count(*) filter (where due.is_adjustment) as adjustments,
        sum(due.merchant_funded_amount) as merchant_funded_amount,
        sum(due.commission_amount) as commission_amount,
        sum(due.institution_payout_amount) as institution_payout_amount
    from due
    group by due.institution_id, due.currency
),
numbered as (
    select
        highest.settlement_no
        + row_number() over (order by final.institution_id, final.currency) as settlement_no,
        final.institution_id,
        final.currency,
        final.entries,
        final.adjustments,
        final.merchant_funded_amount,
        final.commission_amount,
        final.institution_payout_amount
    from final
    cross join highest
)
select
    numbered.settlement_no,
    derived_id(
        'settlement' || chr(31) || cast(numbered.institution_id as varchar)
        || chr(31) || cast(numbered.settlement_no as varchar)
    ),
    numbered.institution_id,
    $run_no,
    numbered.currency,
    numbered.entries,
    numbered.adjustments,
    numbered.merchant_funded_amount,
    numbered.commission_amount,
    numbered.institution_payout_amount,
    $now
from numbered;

-- name: ledger_entries
-- reads: due(redemption_no, institution_id, currency, is_adjustment)
-- Moves the due entries from pending to settled, with their settlement.
update ledger_entries
set status = 'settled', settled_at = $now, settlement_no = settlements.settlement_no
from due
inner join settlements using (institution_id, currency)
where due.redemption_no = ledger_entries.redemption_no
    and not due.is_adjustment
    and settlements.run_no = $run_no;

-- name: ledger_moves
-- reads: due(redemption_no, is_adjustment)
-- Writes the move into settled of every entry this run settled.
insert into ledger_moves (redemption_no, run_no, status, moved_at, actor, reason)
select due.redemption_no, $run_no, 'settled', $now, $actor, 'hold ended'
from due
where not due.is_adjustment;

-- name: adjustments
-- reads: due(redemption_no, is_adjustment)
-- Marks the adjustments of due as taken by the settlement of this run.
update adjustments
set settlement_no = settlements.settlement_no
from settlements
where settlements.run_no = $run_no
    and settlements.institution_id = adjustments.institution_id
    and settlements.currency = adjustments.currency
    and adjustments.settlement_no is null
    and adjustments.created_at <= $now
    and adjustments.redemption_no in (
        select due.redemption_no
        from due
        where due.is_adjustment
    );

-- name: made
-- The settlements of this run. Grain: one row per settlement.
select
    settlements.settlement_id, settlements.institution_id, institutions.slug as institution,
    settlements.currency, settlements.entries, settlements.adjustments,
    settlements.merchant_funded_amount, settlements.commission_amount,
    settlements.institution_payout_amount, settlements.settled_at
from settlements
inner join institutions on institutions.institution_id = settlements.institution_id
where settlements.run_no = $run_no
order by institutions.slug, settlements.currency;

-- name: still_pending
-- How many ledger entries wait for the end of their hold, and when the first of them is due.
select count(*) as still_pending, min(ledger_entries.settles_at) as next_settles_at
from ledger_entries
where ledger_entries.status = 'pending';
