-- Redemptions with all that is told of them.

-- name: redemption_entries
-- Redemptions with the money and the state of their ledger entry, which is written with them: it is
-- as old, and of the same cardholder and offer, which an audit holds. Grain: one row per redemption.
create or replace view redemption_entries as
select
    redemptions.redemption_no,
    redemptions.redemption_id,
    redemptions.institution_id,
    redemptions.purchase_no,
    redemptions.cardholder_no,
    redemptions.offer_no,
    redemptions.version_no,
    redemptions.run_no,
    redemptions.created_at,
    redemptions.purchase_amount,
    redemptions.purchased_at,
    redemptions.transaction_ref,
    ledger_entries.entry_id,
    ledger_entries.merchant_id,
    ledger_entries.currency,
    ledger_entries.merchant_funded_amount,
    ledger_entries.commission_amount,
    ledger_entries.institution_payout_amount,
    ledger_entries.status,
    ledger_entries.settles_at,
    ledger_entries.settled_at,
    ledger_entries.reversed_at,
    ledger_entries.reversal_reason,
    ledger_entries.settlement_no
from redemptions
inner join ledger_entries
    on ledger_entries.redemption_no = redemptions.redemption_no
    and ledger_entries.institution_id = redemptions.institution_id;

-- name: redemption_facts
-- Redemptions with their ledger entry, and what people know them by: the offer, the merchant, the
-- settlement. Of their purchase they say themselves what they are told with. Titles are not here: a
-- page of a report looks up those of its own rows only.
-- Grain: one row per redemption.
create or replace view redemption_facts as
select
    redemption_entries.*,
    institutions.slug as institution,
    institutions.languages,
    offers.offer_id,
    merchants.name as merchant_name,
    settlements.settlement_id,
    settlements.run_no as settled_by_run_no
from redemption_entries
inner join institutions on institutions.institution_id = redemption_entries.institution_id
inner join offers on offers.offer_no = redemption_entries.offer_no
left join merchants on merchants.merchant_id = redemption_entries.merchant_id
left join settlements
    on settlements.settlement_no = redemption_entries.settlement_no
    and settlements.institution_id = redemption_entries.institution_id;

-- name: last_redemption
-- The number behind which new redemptions are numbered, those of withdrawn files included.
-- Grain: one row.
create or replace view last_redemption as
select
    greatest(
        (select coalesce(max(redemptions.redemption_no), 0) from redemptions),
        (select max(withdrawn_imports.last_redemption_no) from withdrawn_imports)
    ) as redemption_no;
