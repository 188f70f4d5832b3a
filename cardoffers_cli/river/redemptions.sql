-- name: find
-- One redemption with the state of its ledger entry, and what people know it by.
select
    facts.redemption_no, facts.redemption_id, facts.institution_id, facts.institution,
    facts.transaction_ref, facts.offer_id, facts.merchant_name, facts.currency,
    facts.merchant_funded_amount, facts.commission_amount, facts.institution_payout_amount,
    facts.status, facts.created_at, facts.settled_at, facts.reversed_at
from redemption_facts as facts
where facts.redemption_id = try_cast($redemption_id as uuid);

-- name: show
-- One redemption with its purchase, its offer, its ledger entry and how far its webhook is.
select
    facts.redemption_id, facts.institution, facts.status, facts.transaction_ref,
    facts.purchase_amount as amount, facts.currency, facts.purchased_at as transacted_at,
    purchases.received_at, facts.offer_id,
    offer_title(offer_titles.titles, facts.languages) as offer_title,
    facts.merchant_id, facts.merchant_name, facts.entry_id, facts.merchant_funded_amount, facts.commission_amount,
    facts.institution_payout_amount, facts.created_at, facts.settles_at, facts.settled_at,
    facts.reversed_at, facts.reversal_reason, facts.settlement_id,
    deducting.settlement_id as deducted_by_settlement_id, deliveries.state as webhook_state,
    deliveries.attempts as webhook_attempts, deliveries.next_attempt_at as webhook_next_attempt_at,
    masked(cardholders.cardholder_token) as cardholder_token_masked
from redemption_facts as facts
inner join cardholders using (cardholder_no, institution_id)
left join purchases using (purchase_no, institution_id)
left join offer_titles on offer_titles.offer_id = facts.offer_id
left join adjustments
    on adjustments.redemption_no = facts.redemption_no
    and adjustments.institution_id = facts.institution_id
    and adjustments.refund_no is null
left join settlements as deducting
    on deducting.settlement_no = adjustments.settlement_no
    and deducting.institution_id = adjustments.institution_id
left join deliveries
    on deliveries.redemption_no = facts.redemption_no
    and is_announcement(deliveries.kind)
    and deliveries.institution_id = facts.institution_id
where facts.redemption_id = try_cast($redemption_id as uuid);

-- name: moves
-- The changes of state of one redemption, in their order. Grain: one row per change.
select ledger_moves.status, ledger_moves.moved_at, ledger_moves.actor, ledger_moves.reason
from ledger_moves
inner join redemptions on redemptions.redemption_no = ledger_moves.redemption_no
where redemptions.redemption_id = try_cast($redemption_id as uuid)
order by ledger_moves.moved_at, ledger_moves.run_no;

-- name: one_reversal
-- makes: reversals(redemption_no)
-- Makes reversals of one redemption. Grain: one row.
create temp table reversals as
select cast($redemption_no as bigint) as redemption_no;

-- name: newest_move
-- reads: reversals(redemption_no)
-- When the last of these redemptions was made or settled: none can be reversed before. Grain: one
-- row, or none where there are no redemptions.
select
    coalesce(ledger_entries.settled_at, ledger_entries.created_at) as moved_at,
    ledger_entries.settled_at is not null as is_settled
from ledger_entries
where ledger_entries.redemption_no in (select reversals.redemption_no from reversals)
order by moved_at desc, is_settled
limit 1;

-- name: reverse
-- reads: reversals(redemption_no)
-- Moves ledger entries to reversed; their amounts stay as they are.
update ledger_entries
set status = 'reversed', reversed_at = $now, reversal_reason = $reason
where redemption_no in (select reversals.redemption_no from reversals)
    and status <> 'reversed';

-- name: record_reversals
-- reads: reversals(redemption_no)
-- Writes their moves into reversed.
insert into ledger_moves (redemption_no, run_no, status, moved_at, actor, reason)
select reversals.redemption_no, $run_no, 'reversed', $now, $actor, $reason
from reversals;

-- name: adjust
-- reads: reversals(redemption_no)
-- Owes the amounts of the settled entries back, but for what refunds had reduced them by: a negative
-- adjustment for the next settlement.
insert into adjustments (
    redemption_no, institution_id, currency, merchant_funded_amount, commission_amount,
    institution_payout_amount, created_at
)
with reduced as (
    select
        adjustments.redemption_no, sum(adjustments.merchant_funded_amount) as funded,
        sum(adjustments.commission_amount) as commission,
        sum(adjustments.institution_payout_amount) as payout
    from adjustments
    where adjustments.redemption_no in (select reversals.redemption_no from reversals)
    group by adjustments.redemption_no
)
select
    ledger_entries.redemption_no, ledger_entries.institution_id, ledger_entries.currency,
    -ledger_entries.merchant_funded_amount - coalesce(reduced.funded, 0),
    -ledger_entries.commission_amount - coalesce(reduced.commission, 0),
    -ledger_entries.institution_payout_amount - coalesce(reduced.payout, 0), $now
from ledger_entries
left join reduced on reduced.redemption_no = ledger_entries.redemption_no
where ledger_entries.redemption_no in (select reversals.redemption_no from reversals)
    and ledger_entries.status = 'settled';

-- name: release
-- reads: reversals(redemption_no)
-- Ends what reductions of these redemptions give back to budgets, as nothing is held any more.
update adjustments
set offer_no = null
where redemption_no in (select reversals.redemption_no from reversals)
    and offer_no is not null;

-- name: reduce
-- reads: effects(refund_no, outcome, redemption_no, cashback_back, commission_back)
-- Owes back what these refunds reduce redemptions by: a negative adjustment for the next settlement.
insert into adjustments (
    redemption_no, institution_id, currency, merchant_funded_amount, commission_amount,
    institution_payout_amount, created_at, refund_no, run_no, offer_no
)
select
    entries.redemption_no, entries.institution_id, entries.currency,
    -effects.cashback_back - effects.commission_back, -effects.commission_back,
    -effects.cashback_back, $now, effects.refund_no, $run_no, entries.offer_no
from effects
inner join ledger_entries as entries on entries.redemption_no = effects.redemption_no
where effects.outcome = 'reduced';
