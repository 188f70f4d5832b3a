-- Ids that are derived from what they identify, so that doing a step twice makes the same id.
-- Amounts: rounding, the commission, and how an amount is written.
-- When a key ends, and the hash of an act.

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

-- name: round_to_minor_unit
-- An amount rounded half up (amounts are not negative) to 0, 2, 3 or 4 decimals. Each branch is
-- cast: left alone, the result would take the scale of the first one.
create or replace macro round_to_minor_unit(amount, minor_unit) as case minor_unit
    when 0 then cast(round(amount, 0) as decimal(18, 4))
    when 2 then cast(round(amount, 2) as decimal(18, 4))
    when 3 then cast(round(amount, 3) as decimal(18, 4))
    when 4 then cast(round(amount, 4) as decimal(18, 4))
end;

-- name: commission_of
-- The commission on one redemption: the one place of the formula in SQL (rules.md#ledger-amounts). Widened
-- to 38 digits before the multiplication.
create or replace macro commission_of(cashback_amount, commission_rate, minor_unit) as
    round_to_minor_unit(cast(cashback_amount as decimal(28, 4)) * commission_rate, minor_unit);

-- name: amount_text
-- An amount as a number token with exactly its currency's decimals.
create or replace macro amount_text(amount, minor_unit) as case minor_unit
    when 0 then cast(cast(amount as decimal(18, 0)) as varchar)
    when 2 then cast(cast(amount as decimal(18, 2)) as varchar)
    when 3 then cast(cast(amount as decimal(18, 3)) as varchar)
    when 4 then cast(amount as varchar)
end;

-- name: key_ends_at
-- When a key stops working by itself: the earlier of its expiry and the end of its overlap.
create or replace macro key_ends_at(expires_at, retires_at) as least(
    coalesce(expires_at, retires_at), coalesce(retires_at, expires_at)
);

-- name: act_hash
-- The hash of a row of the log of acts: over every column of it and the hash before. The one place of
-- the rule; writing and verifying both use it.
create or replace macro act_hash(act) as sha256(
    concat_ws(
        chr(31), act.previous_hash, act.act_no, act.event_id,
        coalesce(cast(act.run_no as varchar), ''), act.happened_at,
        coalesce(cast(act.institution_id as varchar), ''),
        coalesce(cast(act.key_id as varchar), ''), act.kind, coalesce(act.subject, ''), act.actor,
        coalesce(act.approver, ''), coalesce(act.row_sha256, ''), act.details
    )
);
