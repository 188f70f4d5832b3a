-- name: number
-- How often a cardholder of an institution was erased who had this token.
select count(*) as erased
from erasures
where erasures.institution_id = $institution_id
    and erasures.token_hash = $token_hash;

-- name: latest
-- The latest erasure of who had this token. Grain: one row, or none.
select erasures.erasure_id, erasures.erased_at, erasures.cardholder_no, erasures.run_no
from erasures
where erasures.institution_id = $institution_id
    and erasures.token_hash = $token_hash
order by erasures.run_no desc, erasures.erasure_id
limit 1;

-- name: known_ids
-- The erasures that a store knows, of all institutions. Grain: one row per erasure.
select erasures.erasure_id
from erasures;

-- name: erasing
-- makes: erasing(erasure_id, institution_id, token_hash, reason, erased_at, actor, cardholder_no,
--     cardholder_token, tombstone)
-- Makes erasing: cardholders who are to be erased, found by the HMAC-SHA256 of institution and token,
-- with what takes the place of their token; cardholder_no is null where nobody has that token.
-- Grain: one row per erasure.
create temp table erasing as
with wanted as (
    select
        unnest(
            cast(
                $erasures as struct(
                    erasure_id uuid, institution_id uuid, token_hash varchar, reason varchar,
                    erased_at timestamp, actor varchar
                )[]
            ),
            recursive := true
        )
),
hashed as (
    select
        cardholders.institution_id, cardholders.cardholder_no, cardholders.cardholder_token,
        sha256(
            cast($outer as blob) || unhex(
                sha256(
                    cast($inner as blob) || encode(
                        cast(cardholders.institution_id as varchar) || chr(31)
                        || cardholders.cardholder_token
                    )
                )
            )
        ) as token_hash
    from cardholders
    where cardholders.institution_id in (select wanted.institution_id from wanted)
)
select
    wanted.erasure_id, wanted.institution_id, wanted.token_hash, wanted.reason, wanted.erased_at,
    wanted.actor, hashed.cardholder_no, hashed.cardholder_token,
    'erased-' || replace(cast(wanted.erasure_id as varchar), '-', '') as tombstone
from wanted
left join hashed using (institution_id, token_hash);

-- name: erased_tokens
-- reads: erasing(institution_id, cardholder_token, cardholder_no, tombstone)
-- Tokens that are longer than $longer of who is to be erased, and of their cards that nobody else has,
-- with what takes their place in texts. Grain: one row per token of an institution.
select erasing.institution_id, erasing.cardholder_token as token, erasing.tombstone
from erasing
where length(erasing.cardholder_token) > $longer
union
select erasing.institution_id, own.instrument_token, erasing.tombstone
from erasing
inner join instruments as own using (institution_id, cardholder_no)
anti join instruments as others
    on others.institution_id = own.institution_id
    and others.instrument_token = own.instrument_token
    and others.cardholder_no <> own.cardholder_no
where length(own.instrument_token) > $longer;

-- name: erase_reasons_sent
-- Replaces a token in reasons of reversals in the bodies of events, before those that they are
-- found by; done again it finds none.
update outbox
set body = replace(
    outbox.body, to_json(ledger_entries.reversal_reason),
    to_json(replace(ledger_entries.reversal_reason, $token, $tombstone))
)
from ledger_entries
where ledger_entries.redemption_no = outbox.redemption_no
    and ledger_entries.institution_id = outbox.institution_id
    and ledger_entries.institution_id = $institution_id
    and contains(ledger_entries.reversal_reason, $token);

-- name: erase_text
-- for each: ledger_entries.reversal_reason, ledger_moves.reason, refund_links.reason,
--     refund_dismissals.reason, finding_acceptances.reason, payouts.reason,
--     payouts.withdrawn_reason, watch_findings.reason, merchant_answers.reason, approvals.reason,
--     legal_holds.reason, erasures.reason, withdrawn_imports.reason, bank_allocations.reason,
--     invoice_settlements.reason, runs.counts
-- Replaces a token in what people wrote; done again it finds none.
update {kept}
set {column} = replace({kept}.{column}, $token, $tombstone)
where contains({kept}.{column}, $token)
    and coalesce({institution_id}, $institution_id) = $institution_id;

-- name: erase_outbox
-- reads: erasing(institution_id, cardholder_no, cardholder_token, tombstone)
-- Puts tombstones in the place of tokens, full and masked, in the bodies of events, before the tokens
-- that they are found by go; done again it finds none.
update outbox
set body = replace(
    replace(
        outbox.body,
        '"cardholder_token":' || to_json(erasing.cardholder_token),
        '"cardholder_token":' || to_json(erasing.tombstone)
    ),
    '"cardholder_token_masked":' || to_json(masked(erasing.cardholder_token)),
    '"cardholder_token_masked":' || to_json(masked(erasing.tombstone))
)
from redemptions
inner join erasing using (cardholder_no, institution_id)
where redemptions.redemption_no = outbox.redemption_no
    and redemptions.institution_id = outbox.institution_id;

-- name: erase_instruments
-- reads: erasing(erasure_id, institution_id, cardholder_no)
-- Puts tombstones in the place of tokens of cards, wallets and accounts; the same each time.
update instruments
set instrument_token = 'erased-' || substr(
    sha256(
        cast(erasing.erasure_id as varchar) || chr(31)
        || cast(instruments.instrument_no as varchar)
    ),
    1, 32
)
from erasing
where erasing.cardholder_no = instruments.cardholder_no
    and erasing.institution_id = instruments.institution_id;

-- name: erase_cardholders
-- reads: erasing(institution_id, cardholder_no, tombstone)
-- Puts tombstones in the place of tokens of cardholders; the same each time.
update cardholders
set cardholder_token = erasing.tombstone
from erasing
where erasing.cardholder_no = cardholders.cardholder_no
    and erasing.institution_id = cardholders.institution_id;

-- name: keep
-- reads: erasing(erasure_id, institution_id, cardholder_no, token_hash, reason, erased_at, actor)
-- Writes erasures, each once.
insert into erasures (
    erasure_id, institution_id, cardholder_no, token_hash, reason, erased_at, run_no, actor
)
select
    erasing.erasure_id, erasing.institution_id, erasing.cardholder_no, erasing.token_hash,
    erasing.reason, erasing.erased_at, $run_no, erasing.actor
from erasing
anti join erasures on erasures.erasure_id = erasing.erasure_id;

-- name: counts
-- reads: erasing(institution_id, cardholder_no)
-- What there is of those who are erased. Grain: one row.
select
    (select count(erasing.cardholder_no) from erasing) as cardholders,
    (
        select count(*)
        from instruments
        inner join erasing using (cardholder_no, institution_id)
    ) as instruments,
    (
        select count(*)
        from links
        inner join erasing using (cardholder_no, institution_id)
    ) as links,
    (
        select count(*)
        from purchases
        inner join erasing using (cardholder_no, institution_id)
    ) as purchases,
    (
        select count(*)
        from redemptions
        inner join erasing using (cardholder_no, institution_id)
    ) as redemptions,
    (
        select count(*)
        from outbox
        inner join redemptions using (redemption_no, institution_id)
        inner join erasing using (cardholder_no, institution_id)
    ) as events;

-- name: unsettled
-- What a cardholder still waits for, and who must not be erased meanwhile: purchases that no match
-- looked at, and events that are still to be sent. Grain: one row.
select
    (
        select count(*)
        from waiting_purchases
        where waiting_purchases.institution_id = $institution_id
            and waiting_purchases.cardholder_no = $cardholder_no
            and waiting_purchases.purchase_no > (
                select coalesce(max(match_watermark.purchase_no), 0)
                from match_watermark
            )
    ) as purchases,
    (
        select count(*)
        from deliveries
        inner join redemptions using (redemption_no, institution_id)
        where deliveries.institution_id = $institution_id
            and redemptions.cardholder_no = $cardholder_no
            and deliveries.state in ('due', 'failed')
            and deliveries.webhook_url is not null
    ) as events;

-- name: shared_instruments
-- How many tokens of a cardholder's cards others of the institution have too, with whom they stay.
select count(distinct own.instrument_token) as shared
from instruments as own
inner join instruments as others
    on others.institution_id = own.institution_id
    and others.instrument_token = own.instrument_token
    and others.cardholder_no <> own.cardholder_no
where own.institution_id = $institution_id
    and own.cardholder_no = $cardholder_no;
