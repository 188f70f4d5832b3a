-- name: find
-- One redemption with the state of its ledger entry, and what people know it by.
select
    ledger_entries.redemption_no,
    redemptions.redemption_id,
    redemptions.institution_id,
    institutions.slug as institution,
    purchases.transaction_ref,
    offers.offer_id,
    merchants.name as merchant_name,
    ledger_entries.currency,
    ledger_entries.merchant_funded_amount,
    ledger_entries.commission_amount,
    ledger_entries.institution_payout_amount,
    ledger_entries.status,
    ledger_entries.created_at,
    ledger_entries.settled_at,
    ledger_entries.reversed_at
from redemptions
inner join ledger_entries on ledger_entries.redemption_no = redemptions.redemption_no
inner join institutions on institutions.institution_id = redemptions.institution_id
inner join offers on offers.offer_no = redemptions.offer_no
left join merchants on merchants.merchant_id = ledger_entries.merchant_id
left join purchases
    on purchases.purchase_no = redemptions.purchase_no
    and purchases.institution_id = redemptions.institution_id
where redemptions.redemption_id = try_cast($redemption_id as uuid);

-- name: show
-- One redemption with its purchase, its offer, its ledger entry and how far its webhook is.
select
    redemptions.redemption_id,
    institutions.slug as institution,
    ledger_entries.status,
    purchases.transaction_ref,
    purchases.amount,
    ledger_entries.currency,
    purchases.transacted_at,
    purchases.received_at,
    cardholders.cardholder_token,
    offers.offer_id,
    coalesce(in_first_language.title, in_english.title) as offer_title,
    ledger_entries.merchant_id,
    merchants.name as merchant_name,
    ledger_entries.entry_id,
    ledger_entries.merchant_funded_amount,
    ledger_entries.commission_amount,
    ledger_entries.institution_payout_amount,
    ledger_entries.created_at,
    ledger_entries.settles_at,
    ledger_entries.settled_at,
    ledger_entries.reversed_at,
    ledger_entries.reversal_reason,
    settlements.settlement_id,
    deducting.settlement_id as deducted_by_settlement_id,
    deliveries.state as webhook_state,
    deliveries.attempts as webhook_attempts,
    deliveries.next_attempt_at as webhook_next_attempt_at
from redemptions
inner join ledger_entries
    on ledger_entries.redemption_no = redemptions.redemption_no
    and ledger_entries.institution_id = redemptions.institution_id
inner join institutions on institutions.institution_id = redemptions.institution_id
inner join purchases
    on purchases.purchase_no = redemptions.purchase_no
    and purchases.institution_id = redemptions.institution_id
inner join cardholders
    on cardholders.cardholder_no = redemptions.cardholder_no
    and cardholders.institution_id = redemptions.institution_id
inner join offers on offers.offer_no = redemptions.offer_no
inner join merchants on merchants.merchant_id = ledger_entries.merchant_id
left join settlements
    on settlements.settlement_no = ledger_entries.settlement_no
    and settlements.institution_id = ledger_entries.institution_id
left join adjustments
    on adjustments.redemption_no = redemptions.redemption_no
    and adjustments.institution_id = redemptions.institution_id
left join settlements as deducting
    on deducting.settlement_no = adjustments.settlement_no
    and deducting.institution_id = adjustments.institution_id
left join deliveries
    on deliveries.redemption_no = redemptions.redemption_no
    and deliveries.institution_id = redemptions.institution_id
left join offer_texts as in_first_language
    on in_first_language.offer_id = offers.offer_id
    and in_first_language.language = split_part(institutions.languages, '|', 1)
left join offer_texts as in_english
    on in_english.offer_id = offers.offer_id
    and in_english.language = 'en'
where redemptions.redemption_id = try_cast($redemption_id as uuid);

-- name: moves
-- The changes of state of one redemption, in their order. Grain: one row per change.
select ledger_moves.status, ledger_moves.moved_at, ledger_moves.actor, ledger_moves.reason
from ledger_moves
inner join redemptions on redemptions.redemption_no = ledger_moves.redemption_no
where redemptions.redemption_id = try_cast($redemption_id as uuid)
order by ledger_moves.moved_at, ledger_moves.run_no;

-- name: reverse
-- Moves one ledger entry to reversed; its amounts stay as they are.
update ledger_entries
set status = 'reversed', reversed_at = $now, reversal_reason = $reason
where redemption_no = $redemption_no
    and status <> 'reversed';

-- name: record_reversal
-- Writes the move into reversed.
insert into ledger_moves (redemption_no, run_no, status, moved_at, actor, reason)
values ($redemption_no, $run_no, 'reversed', $now, $actor, $reason);

-- name: adjust
-- Owes the amounts of a settled entry back: a negative adjustment for the next settlement.
insert into adjustments (
    redemption_no, institution_id, currency, merchant_funded_amount, commission_amount,
    institution_payout_amount, created_at
)
select
    ledger_entries.redemption_no,
    ledger_entries.institution_id,
    ledger_entries.currency,
    -ledger_entries.merchant_funded_amount,
    -ledger_entries.commission_amount,
    -ledger_entries.institution_payout_amount,
    $now
from ledger_entries
where ledger_entries.redemption_no = $redemption_no;
