-- name: find
-- One redemption with the state of its ledger entry.
select
    ledger_entries.redemption_no,
    redemptions.redemption_id,
    redemptions.institution_id,
    ledger_entries.currency,
    ledger_entries.merchant_funded_amount,
    ledger_entries.commission_amount,
    ledger_entries.institution_payout_amount,
    ledger_entries.status,
    ledger_entries.reversed_at
from redemptions
inner join ledger_entries on ledger_entries.redemption_no = redemptions.redemption_no
where redemptions.redemption_id = try_cast($redemption_id as uuid);

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
