-- name: find
-- The identifiers of a text, of one type or of all, with the merchant that each is of.
-- Grain: one row per identifier.
select
    identifiers.identifier_no, identifiers.merchant_identifier_type,
    identifiers.merchant_identifier, identifiers.merchant_id, merchants.name as merchant_name
from identifiers
left join merchants on merchants.merchant_id = identifiers.merchant_id
where identifiers.merchant_identifier = $merchant_identifier
    and (
        $merchant_identifier_type is null
        or identifiers.merchant_identifier_type = $merchant_identifier_type
    )
order by identifiers.merchant_identifier_type;

-- name: newest
-- The newest answer to whether an identifier is a merchant's. Grain: one row, or none.
select
    merchant_answers.answer, merchant_answers.actor, merchant_answers.answered_at,
    merchant_answers.reason
from merchant_answers
where merchant_answers.identifier_no = $identifier_no
    and merchant_answers.merchant_id = $merchant_id
order by merchant_answers.answer_no desc
limit 1;

-- name: keep
-- Writes an answer under the next number; append only.
insert into merchant_answers (
    answer_no, identifier_no, merchant_id, answer, reason, actor, run_no, answered_at
)
select
    coalesce(max(merchant_answers.answer_no), 0) + 1, $identifier_no, $merchant_id, $answer,
    $reason, $actor, $run_no, $answered_at
from merchant_answers;

-- name: unlink
-- Writes an identifier as nobody's. Idempotent.
update identifiers
set merchant_id = null
where identifiers.identifier_no = $identifier_no;

-- name: log
-- Writes to the audit log that an identifier is of a merchant now, or no longer.
insert into audit_log (
    audit_no, run_no, happened_at, actor, institution_id, subject, subject_id, field, old_value,
    new_value
)
select
    coalesce(max(audit_log.audit_no), 0) + 1, $run_no, $now, $actor, null,
    'merchant_identifier', $subject_id, 'merchant_id', $old_value, $new_value
from audit_log;

-- name: waiting
-- What waits for some identifiers. Grain: one row per institution and currency.
select institutions.slug, waiting.currency, count(*) as purchases, sum(waiting.amount) as amount
from waiting_purchases as waiting
inner join institutions on institutions.institution_id = waiting.institution_id
where waiting.identifier_no in (select unnest(cast($identifier_nos as bigint[])))
group by institutions.slug, waiting.currency
order by institutions.slug, waiting.currency;

-- name: redeemed
-- What purchases that carried an identifier redeemed, and how much of it was reversed.
-- Grain: one row per institution and currency.
select
    institutions.slug as institution, ledger_entries.currency, count(*) as redemptions,
    count(*) filter (where ledger_entries.status = 'reversed') as reversed,
    coalesce(
        sum(ledger_entries.institution_payout_amount)
            filter (where ledger_entries.status <> 'reversed'),
        0
    ) as institution_payout_amount
from purchases
inner join redemptions using (purchase_no, institution_id)
inner join ledger_entries using (redemption_no, institution_id)
inner join institutions on institutions.institution_id = purchases.institution_id
where purchases.identifier_no = $identifier_no
group by institutions.slug, ledger_entries.currency
order by institutions.slug, ledger_entries.currency;

-- name: descriptor
-- What purchases that wait for an identifier mostly called it. Grain: one row, null if nothing.
select mode(purchase_details.merchant_descriptor) as merchant_descriptor
from waiting_purchases as waiting
inner join purchase_details using (purchase_no, institution_id)
where waiting.identifier_no = $identifier_no;
