-- name: whole
-- Texts that are digits, spaces and dashes alone, where a real card number would be one: tokens,
-- and references and identifiers, which may look like one by chance and are judged together with
-- others (`together` says with which). Identifiers may have forms of merchants' own, and those that a
-- catalogue knows are merchants'. Reads every table that keeps what institutions sent; redemptions
-- repeat the references of their purchases. Grain: one row per text and place.
with texts as (
    select
        'cardholders.cardholder_token' as place, cardholder_no as row_no, institution_id,
        cardholder_token as text, cast(null as varchar) as together, false as may_be_merchants
    from cardholders
    union all
    select
        'instruments.instrument_token', instrument_no, institution_id, instrument_token, null,
        false
    from instruments
    union all
    select
        'purchases.transaction_ref', purchase_no, institution_id, transaction_ref,
        'transaction_ref', false
    from purchases
    union all
    select
        'rejects.transaction_ref', import_no, institution_id, transaction_ref,
        'transaction_ref', false
    from rejects
    union all
    select
        'duplicates.transaction_ref', import_no, institution_id, transaction_ref,
        'transaction_ref', false
    from duplicates
    union all
    select
        'identifiers.merchant_identifier', identifier_no, null, merchant_identifier,
        merchant_identifier_type, true
    from identifiers
    where merchant_id is null
    union all
    select 'audit_log.old_value', audit_no, institution_id, old_value, null, false
    from audit_log
    union all
    select 'audit_log.new_value', audit_no, institution_id, new_value, null, false
    from audit_log
)
select
    texts.place, texts.row_no, texts.institution_id, texts.text, texts.together,
    texts.may_be_merchants
from texts
where length(texts.text) >= 12
    and regexp_full_match(texts.text, '[0-9\s\p{Zs}\p{Pd}\x{2212}]{12,}');

-- name: filled
-- How many texts are judged together. Grain: one row per kind of text and institution.
with references_of_rows as (
    select institution_id, transaction_ref
    from purchases
    union all
    select institution_id, transaction_ref
    from rejects
    union all
    select institution_id, transaction_ref
    from duplicates
)
select 'transaction_ref' as together, institution_id, count(transaction_ref) as filled
from references_of_rows
group by institution_id
union all
select merchant_identifier_type, null, count(*)
from identifiers
where merchant_id is null
group by merchant_identifier_type;

-- name: filled_references
-- How many references an institution has.
select count(*) as filled
from purchases
where institution_id = $institution_id;

-- name: numeric_references
-- The references of an institution that are digits, spaces and dashes alone. Grain: one row per
-- purchase.
select transaction_ref as text
from purchases
where institution_id = $institution_id
    and length(transaction_ref) >= 12
    and regexp_full_match(transaction_ref, '[0-9\s\p{Zs}\p{Pd}\x{2212}]{12,}');

-- name: inside
-- Texts with a long row of digits, spaces and dashes in them, of what people wrote, or shops are
-- called. Which of the numbers in a text may be merchants' is asked of each, never of the text whole.
-- Grain: one row per text and place.
with texts as (
    select 'purchase_details.merchant_descriptor' as place, purchase_no as row_no,
        institution_id, merchant_descriptor as text
    from purchase_details
    union all
    select 'purchase_details.mcc', purchase_no, institution_id, mcc
    from purchase_details
    union all
    select 'purchase_details.network', purchase_no, institution_id, network
    from purchase_details
    union all
    select 'ledger_entries.reversal_reason', redemption_no, institution_id, reversal_reason
    from ledger_entries
    union all
    select 'ledger_moves.reason', redemption_no, null, reason
    from ledger_moves
    union all
    select 'imports.file_name', import_no, institution_id, file_name
    from imports
    union all
    select 'institutions.name', null, institution_id, name
    from institutions
    union all
    select 'merchants.name', merchant_no, null, name
    from merchants
    union all
    select 'offer_texts.title', null, null, title
    from offer_texts
    union all
    select 'offer_texts.description', null, null, description
    from offer_texts
    union all
    select 'api_keys.name', null, institution_id, name
    from api_keys
)
select
    texts.place, texts.row_no, texts.institution_id, texts.text,
    cast(null as varchar) as together, false as may_be_merchants
from texts
where length(texts.text) >= 12
    and regexp_matches(texts.text, '[0-9][0-9\s\p{Zs}\p{Pd}\x{2212}]{10,}[0-9]');

-- name: masks
-- Makes card_masks of $masks: which text is to be replaced by which, and in which column. Those of
-- references are of every table that has references. Grain: one row per column, institution, text.
create or replace temp table card_masks as
select distinct masks.place, masks.institution_id, masks.text, masks.masked
from (
    select
        unnest(
            cast(
                $masks as struct(
                    place varchar, institution_id uuid, text varchar, masked varchar
                )[]
            ),
            recursive := true
        )
) as masks;

-- name: mask_outbox_references
-- Replaces references in the bodies of events, which hold them in quotes. To be done before those
-- of the redemptions that they are found by.
update outbox
set body = replace(
    outbox.body, '"' || card_masks.text || '"', '"' || card_masks.masked || '"'
)
from redemptions
inner join card_masks
    on card_masks.place = 'transaction_ref'
    and card_masks.institution_id = redemptions.institution_id
    and card_masks.text = redemptions.transaction_ref
where redemptions.redemption_no = outbox.redemption_no
    and redemptions.institution_id = outbox.institution_id;

-- name: mask_outbox_tokens
-- Replaces cardholder tokens in the bodies of events, before those that they are found by by their masks; done again it finds none.
update outbox
set body = replace(
    outbox.body, '"' || card_masks.text || '"', '"' || card_masks.masked || '"'
)
from redemptions
inner join cardholders
    on cardholders.cardholder_no = redemptions.cardholder_no
    and cardholders.institution_id = redemptions.institution_id
inner join card_masks
    on card_masks.place = 'cardholders.cardholder_token'
    and card_masks.institution_id = cardholders.institution_id
    and card_masks.text = cardholders.cardholder_token
where redemptions.redemption_no = outbox.redemption_no
    and redemptions.institution_id = outbox.institution_id;

-- name: mask_outbox_reasons
-- Replaces reasons of reversals in the bodies of events, before those that they are found by; done
-- again it finds none.
update outbox
set body = replace(
    outbox.body, to_json(card_masks.text), to_json(card_masks.masked)
)
from ledger_entries
inner join card_masks
    on card_masks.place = 'ledger_entries.reversal_reason'
    and card_masks.institution_id = ledger_entries.institution_id
    and card_masks.text = ledger_entries.reversal_reason
where ledger_entries.redemption_no = outbox.redemption_no
    and ledger_entries.institution_id = outbox.institution_id
    and outbox.event = 'redemption.reversed';

-- name: mask_hashes
-- Writes the hashes that purchases with masked references are found by; done again it changes none.
update purchase_refs
set ref_hash = ref_hash(purchases.institution_id, purchases.transaction_ref)
from purchases
inner join card_masks
    on card_masks.place = 'transaction_ref'
    and card_masks.institution_id = purchases.institution_id
    and card_masks.masked = purchases.transaction_ref
where purchases.purchase_no = purchase_refs.purchase_no;

-- name: mask
-- for each: cardholders.cardholder_token, instruments.instrument_token, purchases.transaction_ref,
--     redemptions.transaction_ref, rejects.transaction_ref, duplicates.transaction_ref,
--     purchase_details.merchant_descriptor, purchase_details.mcc, purchase_details.network,
--     identifiers.merchant_identifier,
--     audit_log.old_value, audit_log.new_value, ledger_entries.reversal_reason, ledger_moves.reason,
--     imports.file_name, institutions.name, merchants.name, offer_texts.title,
--     offer_texts.description, api_keys.name
-- Replaces texts by their masks, those of references wherever they stand; done again it finds none.
update {kept}
set {column} = card_masks.masked
from card_masks
where card_masks.place in ('{table}.{column}', '{column}')
    and card_masks.institution_id is not distinct from {institution_id}
    and card_masks.text = {kept}.{column};
