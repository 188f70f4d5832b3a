-- name: whole
-- Texts that are digits, spaces and dashes alone, where a real card number would be one: tokens,
-- and references and identifiers, which may look like one by chance and are judged together with
-- others (`together` says with which). Identifiers may have forms of merchants' own, and those that a
-- catalogue knows are merchants'. Reads every table that keeps what institutions sent. Grain: one row
-- per text and place.
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
-- Replaces references in the bodies of events, which hold them in quotes. To be done before the
-- purchases that they are found by.
update outbox
set body = replace(
    outbox.body, '"' || card_masks.text || '"', '"' || card_masks.masked || '"'
)
from redemptions
inner join purchases
    on purchases.purchase_no = redemptions.purchase_no
    and purchases.institution_id = redemptions.institution_id
inner join card_masks
    on card_masks.place = 'transaction_ref'
    and card_masks.institution_id = purchases.institution_id
    and card_masks.text = purchases.transaction_ref
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

-- name: mask_cardholders_cardholder_token
-- Replaces cardholder tokens by their masks; done again it finds none.
update cardholders
set cardholder_token = card_masks.masked
from card_masks
where card_masks.place = 'cardholders.cardholder_token'
    and card_masks.institution_id is not distinct from cardholders.institution_id
    and card_masks.text = cardholders.cardholder_token;

-- name: mask_instruments_instrument_token
-- Replaces instrument tokens by their masks; done again it finds none.
update instruments
set instrument_token = card_masks.masked
from card_masks
where card_masks.place = 'instruments.instrument_token'
    and card_masks.institution_id is not distinct from instruments.institution_id
    and card_masks.text = instruments.instrument_token;

-- name: mask_purchases_transaction_ref
-- Replaces the references of purchases by their masks; done again it finds none.
update recent_purchases
set transaction_ref = card_masks.masked
from card_masks
where card_masks.place = 'transaction_ref'
    and card_masks.institution_id is not distinct from recent_purchases.institution_id
    and card_masks.text = recent_purchases.transaction_ref;

-- name: mask_rejects_transaction_ref
-- Replaces the references of rejected rows by their masks; done again it finds none.
update rejects
set transaction_ref = card_masks.masked
from card_masks
where card_masks.place = 'transaction_ref'
    and card_masks.institution_id is not distinct from rejects.institution_id
    and card_masks.text = rejects.transaction_ref;

-- name: mask_duplicates_transaction_ref
-- Replaces the references of rows that came again by their masks; done again it finds none.
update duplicates
set transaction_ref = card_masks.masked
from card_masks
where card_masks.place = 'transaction_ref'
    and card_masks.institution_id is not distinct from duplicates.institution_id
    and card_masks.text = duplicates.transaction_ref;

-- name: mask_purchase_details_merchant_descriptor
-- Replaces descriptors by their masks; done again it finds none.
update recent_purchase_details
set merchant_descriptor = card_masks.masked
from card_masks
where card_masks.place = 'purchase_details.merchant_descriptor'
    and card_masks.institution_id is not distinct from recent_purchase_details.institution_id
    and card_masks.text = recent_purchase_details.merchant_descriptor;

-- name: mask_purchase_details_mcc
-- Replaces category codes by their masks; done again it finds none.
update recent_purchase_details
set mcc = card_masks.masked
from card_masks
where card_masks.place = 'purchase_details.mcc'
    and card_masks.institution_id is not distinct from recent_purchase_details.institution_id
    and card_masks.text = recent_purchase_details.mcc;

-- name: mask_purchase_details_network
-- Replaces networks by their masks; done again it finds none.
update recent_purchase_details
set network = card_masks.masked
from card_masks
where card_masks.place = 'purchase_details.network'
    and card_masks.institution_id is not distinct from recent_purchase_details.institution_id
    and card_masks.text = recent_purchase_details.network;

-- name: mask_identifiers_merchant_identifier
-- Replaces merchant identifiers by their masks; done again it finds none.
update identifiers
set merchant_identifier = card_masks.masked
from card_masks
where card_masks.place = 'identifiers.merchant_identifier'
    and card_masks.text = identifiers.merchant_identifier;

-- name: mask_audit_log_old_value
-- Replaces old values of settings and of the catalogue by their masks; done again it finds none.
update audit_log
set old_value = card_masks.masked
from card_masks
where card_masks.place = 'audit_log.old_value'
    and card_masks.institution_id is not distinct from audit_log.institution_id
    and card_masks.text = audit_log.old_value;

-- name: mask_audit_log_new_value
-- Replaces new values of settings and of the catalogue by their masks; done again it finds none.
update audit_log
set new_value = card_masks.masked
from card_masks
where card_masks.place = 'audit_log.new_value'
    and card_masks.institution_id is not distinct from audit_log.institution_id
    and card_masks.text = audit_log.new_value;

-- name: mask_ledger_entries_reversal_reason
-- Replaces reasons of reversals by their masks; done again it finds none.
update ledger_entries
set reversal_reason = card_masks.masked
from card_masks
where card_masks.place = 'ledger_entries.reversal_reason'
    and card_masks.institution_id is not distinct from ledger_entries.institution_id
    and card_masks.text = ledger_entries.reversal_reason;

-- name: mask_ledger_moves_reason
-- Replaces reasons of moves by their masks; done again it finds none.
update ledger_moves
set reason = card_masks.masked
from card_masks
where card_masks.place = 'ledger_moves.reason'
    and card_masks.text = ledger_moves.reason;

-- name: mask_imports_file_name
-- Replaces names of files by their masks; done again it finds none.
update imports
set file_name = card_masks.masked
from card_masks
where card_masks.place = 'imports.file_name'
    and card_masks.institution_id is not distinct from imports.institution_id
    and card_masks.text = imports.file_name;

-- name: mask_institutions_name
-- Replaces names of institutions by their masks; done again it finds none.
update institutions
set name = card_masks.masked
from card_masks
where card_masks.place = 'institutions.name'
    and card_masks.institution_id is not distinct from institutions.institution_id
    and card_masks.text = institutions.name;

-- name: mask_merchants_name
-- Replaces names of merchants by their masks; done again it finds none.
update merchants
set name = card_masks.masked
from card_masks
where card_masks.place = 'merchants.name'
    and card_masks.text = merchants.name;

-- name: mask_offer_texts_title
-- Replaces titles of offers by their masks; done again it finds none.
update offer_texts
set title = card_masks.masked
from card_masks
where card_masks.place = 'offer_texts.title'
    and card_masks.text = offer_texts.title;

-- name: mask_offer_texts_description
-- Replaces descriptions of offers by their masks; done again it finds none.
update offer_texts
set description = card_masks.masked
from card_masks
where card_masks.place = 'offer_texts.description'
    and card_masks.text = offer_texts.description;

-- name: mask_api_keys_name
-- Replaces names of keys by their masks; done again it finds none.
update api_keys
set name = card_masks.masked
from card_masks
where card_masks.place = 'api_keys.name'
    and card_masks.institution_id is not distinct from api_keys.institution_id
    and card_masks.text = api_keys.name;
