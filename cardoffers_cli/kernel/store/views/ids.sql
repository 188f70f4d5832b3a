-- Ids that are derived from what they identify, so that doing a step twice makes the same id.

-- name: derived_id
-- A UUID (RFC 9562, version 8) from the SHA-256 of a text.
create or replace macro derived_id(content) as cast(
    regexp_replace(substr(sha256(content), 1, 32), '^(.{12}).(.{3}).(.{15})$', '\18\2a\3') as uuid
);

-- name: link_id
-- The cardholder_offer_id of a link, from what it ties together (rules.md#ids).
create or replace macro link_id(institution_id, cardholder_token, offer_id) as derived_id(
    cast(institution_id as varchar) || chr(31) || cardholder_token || chr(31) || offer_id
);

-- name: transaction_id
-- The public id of a purchase.
create or replace macro transaction_id(institution_id, transaction_ref) as derived_id(
    'purchase' || chr(31) || cast(institution_id as varchar) || chr(31) || transaction_ref
);

-- name: statement_id
-- The id of a statement in events, by its number.
create or replace macro statement_id(institution_id, number) as derived_id(
    'statement' || chr(31) || cast(institution_id as varchar) || chr(31) || number
);

-- name: payout_id
-- The id of a payment of a statement in events, by its end-to-end id.
create or replace macro payout_id(institution_id, payment_id) as derived_id(
    'payout' || chr(31) || cast(institution_id as varchar) || chr(31) || payment_id
);

-- name: text_hash
-- 64 bits of the MD5 of a text, as a number: the same for ever, whatever engine computes it.
create or replace macro text_hash(content) as cast('0x' || substr(md5(content), 1, 16) as ubigint);

-- name: hash_of_institution
-- The number that a purchase is found by, of the hash of its reference: it differs by institution,
-- whose part is computed once where it is one.
create or replace macro hash_of_institution(hash_of_text, institution_id) as xor(
    hash_of_text, text_hash(cast(institution_id as varchar))
);

-- name: ref_hash
-- The same of an institution and a reference. It is stored (purchase_refs), so it must never change.
create or replace macro ref_hash(institution_id, transaction_ref) as hash_of_institution(
    text_hash(transaction_ref), institution_id
);
