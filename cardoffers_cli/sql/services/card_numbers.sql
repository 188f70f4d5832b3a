-- name: whole
-- Texts that are digits, spaces and dashes alone, where a real card number would be one: tokens,
-- and references and identifiers, which may look like one by chance (`is_numeric`). Reads every
-- table that keeps what institutions sent. Grain: one row per text and place.
with texts as (
    select
        'cardholders.cardholder_token' as place, cardholder_no as row_no, institution_id,
        cardholder_token as text, false as is_numeric
    from cardholders
    union all
    select 'instruments.instrument_token', instrument_no, institution_id, instrument_token, false
    from instruments
    union all
    select 'purchases.transaction_ref', purchase_no, institution_id, transaction_ref, true
    from purchases
    union all
    select 'purchase_details.mcc', purchase_no, institution_id, mcc, false
    from purchase_details
    union all
    select 'purchase_details.network', purchase_no, institution_id, network, false
    from purchase_details
    union all
    select 'rejects.transaction_ref', import_no, institution_id, transaction_ref, false
    from rejects
    union all
    select 'duplicates.transaction_ref', import_no, institution_id, transaction_ref, true
    from duplicates
    union all
    select
        'identifiers.' || merchant_identifier_type, identifier_no, null, merchant_identifier, true
    from identifiers
    union all
    select 'audit_log.old_value', audit_no, institution_id, old_value, false
    from audit_log
    union all
    select 'audit_log.new_value', audit_no, institution_id, new_value, false
    from audit_log
)
select texts.place, texts.row_no, texts.institution_id, texts.text, texts.is_numeric
from texts
where length(texts.text) >= 12
    and regexp_full_match(texts.text, '[0-9\s\p{Zs}\p{Pd}\x{2212}]{12,}');

-- name: inside
-- Long rows of digits, spaces and dashes inside of what people wrote, or shops are called. Grain:
-- one row per such row of digits and place.
with texts as (
    select 'purchase_details.merchant_descriptor' as place, purchase_no as row_no,
        institution_id, merchant_descriptor as text, true as is_numeric
    from purchase_details
    union all
    select 'ledger_entries.reversal_reason', redemption_no, institution_id, reversal_reason, false
    from ledger_entries
    union all
    select 'ledger_moves.reason', redemption_no, null, reason, false
    from ledger_moves
    union all
    select 'imports.file_name', import_no, institution_id, file_name, false
    from imports
    union all
    select 'institutions.name', null, institution_id, name, false
    from institutions
    union all
    select 'merchants.name', merchant_no, null, name, false
    from merchants
    union all
    select 'offer_texts.title', null, null, title, false
    from offer_texts
    union all
    select 'offer_texts.description', null, null, description, false
    from offer_texts
    union all
    select 'api_keys.name', null, institution_id, name, false
    from api_keys
)
select
    texts.place,
    texts.row_no,
    texts.institution_id,
    unnest(regexp_extract_all(texts.text, '[0-9][0-9\s\p{Zs}\p{Pd}\x{2212}]{10,}[0-9]')) as text,
    texts.is_numeric
from texts
where length(texts.text) >= 12;
