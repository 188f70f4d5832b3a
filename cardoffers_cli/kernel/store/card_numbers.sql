-- Card numbers in the store, and what is known of the numbers of its institutions. Every text column
-- is looked at and masked, but those of words, codes, hashes and JSON of ours, of accounts and bank
-- references, of files as a night finds them, and of what is signed or sealed with its bytes.
-- but: account, action, amends, answer, approvals, bank_code, bank_ref, body, code, content, counts,
--     currency, details, digest, direction, engine_version, error, event, expects, figures,
--     file_kind, file_sha256, findings, form, holidays, how, institution, key_hash, kind, kind_of_rows,
--     language, languages, last_four, merchant_identifier_type, notice, number, options, outcome,
--     payment_id, plan, prefix, previous_hash, previous_number, previous_sha256, refund_auto_link, root,
--     scopes, segments, series, sha256, slug, stamp, state, status, table_name, token_hash, toml, trace,
--     webhook_events, accepted_sha256, secret_sha256, placed_sha256, taken_sha256,
--     night_files, night_steps, nights, number_evidence, picked_files, acts, offer_id,
--     subject_id, place, webhook_url, numbers, audit_log.field, rejects.field, rejects.message,
--     reconciliation_verdicts.subject, statements, invoices

-- name: evidence
-- What is known of the numbers of an institution. Grain: one row per field, length and form.
select field, length, form, issued, "right", met, is_taken
from number_evidence
where institution_id = $institution_id;

-- name: keep_evidence
-- Writes what is known of some numbers of an institution, in the place of what was known.
insert or replace into number_evidence (
    institution_id, field, length, form, issued, "right", met, is_taken
)
values ($institution_id, $field, $length, $form, $issued, $right, $met, $is_taken);

-- name: declared
-- What persons declared of the numbers of institutions. Grain: one row per institution.
select institution_id, numbers
from institutions;

-- name: refused_before
-- The files of an institution of which rows were refused as card numbers in one of these fields, with
-- how many rows, the newest first. Grain: one row per file.
select imports.file_name, count(distinct rejects.line) as row_count
from rejects
inner join imports on imports.import_no = rejects.import_no
where rejects.institution_id = $institution_id
    and rejects.code = 'card_number'
    and rejects.field in (select unnest(cast($fields as varchar[])))
group by imports.file_name
order by max(imports.import_no) desc;

-- name: texts
-- for each: text columns
-- Texts that may hold a card number, with how many rows have each, and one of these. Grain: one row
-- per institution, where the table has some, and text.
select
    '{table}.{column}' as place, {owner} as institution_id, {column} as text,
    min({number}) as row_no, count(*) as row_count
from {table}
where length({column}) >= 12
    and regexp_matches({column}, $like)
group by all;

-- name: catalogued
-- Those of some texts that the catalogue holds as merchants' identifiers. Grain: one row per text.
select distinct merchant_identifier as text
from identifiers
where merchant_id is not null
    and merchant_identifier in (select unnest(cast($texts as varchar[])));

-- name: senders
-- Who sent some identifiers. Grain: one row per institution and identifier.
with wanted as materialized (
    select identifier_no, merchant_identifier
    from identifiers
    where merchant_identifier in (select unnest(cast($texts as varchar[])))
)
select distinct wanted.merchant_identifier as text, purchases.institution_id
from wanted
inner join purchases on purchases.identifier_no = wanted.identifier_no;

-- name: masks
-- Makes card_masks of $masks: which text is to be replaced by which, and in which column. Grain: one
-- row per column, institution and text.
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
    on card_masks.place = 'redemptions.transaction_ref'
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
inner join cardholders using (cardholder_no, institution_id)
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
    and ledger_entries.institution_id = outbox.institution_id;

-- name: mask_hashes
-- Writes the hashes that purchases with masked references are found by; done again it changes none.
update purchase_refs
set ref_hash = ref_hash(purchases.institution_id, purchases.transaction_ref)
from purchases
inner join card_masks
    on card_masks.place = 'purchases.transaction_ref'
    and card_masks.institution_id = purchases.institution_id
    and card_masks.masked = purchases.transaction_ref
where purchases.purchase_no = purchase_refs.purchase_no;

-- name: mask_refund_hashes
-- Writes the hashes that refunds with masked references are found by; done again it changes none.
update refunds
set ref_hash = ref_hash(refunds.institution_id, refunds.refund_ref)
where refund_ref like 'masked-%';

-- name: mask_credit_hashes
-- Writes the hashes that credited rows with masked references are found by; done again it changes
-- none.
update credits
set ref_hash = ref_hash(credits.institution_id, credits.credit_ref)
where credit_ref like 'masked-%';

-- name: mask
-- for each: text columns
-- Replaces texts by their masks; done again it finds none.
update {kept}
set {column} = card_masks.masked
from card_masks
where card_masks.place = '{table}.{column}'
    and card_masks.institution_id is not distinct from {institution_id}
    and card_masks.text = {kept}.{column};
