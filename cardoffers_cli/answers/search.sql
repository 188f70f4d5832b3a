-- name: cardholders
-- The numbers of the cardholders of an institution with a full token, or with the first and last
-- letters of one, or the last alone. Grain: one row per cardholder.
select cardholders.cardholder_no
from cardholders
where cardholders.institution_id = $institution_id
    and ($token is null or cardholders.cardholder_token = $token)
    and (
        $head is null
        or (
            cardholders.cardholder_token >= $head
            and cardholders.cardholder_token < $end_of_head
            and starts_with(cardholders.cardholder_token, $head)
        )
    )
    and (
        $tail is null
        or (
            ends_with(cardholders.cardholder_token, $tail)
            and length(cardholders.cardholder_token) > 8
        )
    )
order by cardholders.cardholder_no
limit $limit;

-- name: cards
-- The numbers of the cards of an institution whose token ends, and begins if that is said, in these
-- letters. Grain: one row per card of a cardholder.
select instruments.instrument_no
from instruments
where instruments.institution_id = $institution_id
    and ends_with(instruments.instrument_token, $tail)
    and ($head is null or starts_with(instruments.instrument_token, $head))
    and length(instruments.instrument_token) > 8
order by instruments.instrument_no
limit $limit;

-- name: near_merchants
-- The merchants whose name, or a word of it, is like a text, the likest first. Grain: one per name.
with named as (
    select distinct
        merchants.name, lower(merchants.name) as spelled,
        lower(cast($merchant as varchar)) as wanted
    from merchants
),

likened as (
    select
        named.name,
        greatest(
            jaro_winkler_similarity(named.spelled, named.wanted),
            0.99 * list_max(
                list_transform(
                    string_split(named.spelled, ' '),
                    lambda word: jaro_winkler_similarity(word, named.wanted)
                )
            )
        ) as likeness
    from named
)

select likened.name
from likened
where likened.likeness >= 0.86
order by likened.likeness desc, likened.name
limit $limit;

-- name: senders
-- The other institutions that sent these refs, accepted ($purchase_nos) or not. Grain: one row per
-- ref and slug.
with sent as (
    select purchases.transaction_ref, purchases.institution_id
    from purchases
    where purchases.purchase_no in (select unnest(cast($purchase_nos as bigint[])))
        and ($institution_id is null or purchases.institution_id <> $institution_id)
    union
    select rejects.transaction_ref, rejects.institution_id
    from rejects
    where rejects.transaction_ref in (select unnest(cast($refs as varchar[])))
        and ($institution_id is null or rejects.institution_id <> $institution_id)
)

select sent.transaction_ref, institutions.slug
from sent
inner join institutions on institutions.institution_id = sent.institution_id
order by sent.transaction_ref, institutions.slug;

-- name: merchants
-- The merchants with a name that holds a text, or with this id or identifier, and the numbers of
-- their identifiers. Grain: one row per merchant and identifier.
select coalesce(merchants.merchant_id, identifiers.merchant_id) as merchant_id, identifiers.identifier_no
from identifiers
full outer join merchants on merchants.merchant_id = identifiers.merchant_id
where contains(lower(merchants.name), lower($merchant))
    or merchants.merchant_id = try_cast($merchant as uuid)
    or identifiers.merchant_identifier = $merchant
order by identifiers.identifier_no;

-- name: purchase_of_redemption
-- Which purchase redeemed, by the public id of what it came to.
select redemptions.purchase_no
from redemptions
where redemptions.institution_id = $institution_id
    and redemptions.redemption_id = try_cast($redemption_id as uuid);

-- name: matching
-- Makes matching: the purchases that pass every filter but their state, the newest if there is a
-- limit (without one nobody needs them sorted, and they are many); nulls filter nothing. What is
-- given as a list is also given as a range: a range is looked up in the statistics of the table, and
-- a scan stops at it early. Grain: one row per purchase.
create or replace temp table matching as
select purchases.purchase_no, purchases.transacted_at
from purchases
where purchases.institution_id = $institution_id
    and ($first_ref is null or purchases.transaction_ref >= $first_ref)
    and ($end_ref is null or purchases.transaction_ref < $end_ref)
    and ($pattern is null or regexp_full_match(purchases.transaction_ref, $pattern))
    and ($purchase_no is null or purchases.purchase_no = $purchase_no)
    and ($first_cardholder_no is null or purchases.cardholder_no >= $first_cardholder_no)
    and ($last_cardholder_no is null or purchases.cardholder_no <= $last_cardholder_no)
    and (
        $cardholder_nos is null
        or list_contains(cast($cardholder_nos as bigint[]), purchases.cardholder_no)
    )
    and (
        $instrument_nos is null
        or list_contains(cast($instrument_nos as bigint[]), purchases.instrument_no)
    )
    and (
        $merchant is null
        or list_contains(cast($identifier_nos as bigint[]), purchases.identifier_no)
        or list_contains(cast($merchant_ids as uuid[]), purchases.merchant_id)
        or purchases.purchase_no in (
            select purchase_details.purchase_no
            from purchase_details
            where purchase_details.institution_id = $institution_id
                and contains(lower(purchase_details.merchant_descriptor), lower($merchant))
        )
    )
    and ($least_amount is null or purchases.amount >= $least_amount)
    and ($most_amount is null or purchases.amount <= $most_amount)
    and ($from_at is null or purchases.transacted_at >= $from_at)
    and ($to_at is null or purchases.transacted_at < $to_at)
order by
    case when $limit is not null then purchases.transacted_at end desc,
    case when $limit is not null then purchases.purchase_no end desc
limit $limit;

-- name: shown
-- Makes shown: the purchases of matching, which are few, with their state; latest_decisions would
-- put all decisions in groups, and all entries would be joined. Grain: one row per purchase.
create or replace temp table shown as
with entries as materialized (
    select found.purchase_no, found.status
    from redemption_entries as found
    where found.purchase_no in (select matching.purchase_no from matching)
        and found.institution_id = $institution_id
),

decided as (
    select decisions.purchase_no, max_by(decisions.outcome, decisions.run_no) as outcome
    from decisions
    where decisions.purchase_no in (select matching.purchase_no from matching)
    group by decisions.purchase_no
)

select
    matching.purchase_no,
    coalesce(entries.status, decided.outcome, 'not_matched_yet') as state
from matching
left join decided on decided.purchase_no = matching.purchase_no
left join entries on entries.purchase_no = matching.purchase_no;

-- name: shown_in_ledger
-- Makes shown: the newest purchases of matching with a ledger entry in this state.
-- Grain: one row per purchase.
create or replace temp table shown as
select matching.purchase_no, entries.status as state
from matching
inner join redemption_entries as entries
    on entries.purchase_no = matching.purchase_no
    and entries.institution_id = $institution_id
where entries.status = $state
order by matching.transacted_at desc, matching.purchase_no desc
limit $limit;

-- name: shown_decided
-- Makes shown: the newest purchases of matching whose newest decision came to this state. A newer
-- one is looked for, rather than the newest of each: that would put all decisions in groups.
-- Grain: one row per purchase.
create or replace temp table shown as
with decided as (
    select decisions.purchase_no
    from decisions
    anti join decisions as newer
        on newer.purchase_no = decisions.purchase_no
        and newer.run_no > decisions.run_no
    where decisions.outcome = $state
)

select matching.purchase_no, $state as state
from matching
where matching.purchase_no in (select decided.purchase_no from decided)
order by matching.transacted_at desc, matching.purchase_no desc
limit $limit;

-- name: shown_undecided
-- Makes shown: the newest purchases of matching that nothing was decided of yet.
-- Grain: one row per purchase.
create or replace temp table shown as
select matching.purchase_no, 'not_matched_yet' as state
from matching
anti join decisions on decisions.purchase_no = matching.purchase_no
order by matching.transacted_at desc, matching.purchase_no desc
limit $limit;

-- name: shown_in_story
-- Makes shown: the newest purchases of matching whose redemption has this story (rules.md#stories).
-- Grain: one row per purchase.
create or replace temp table shown as
select matching.purchase_no, stories.status as state
from stories_of((
    select list(redemptions.redemption_no)
    from matching
    inner join redemptions
        on redemptions.purchase_no = matching.purchase_no
        and redemptions.institution_id = $institution_id
)) as stories
inner join matching on matching.purchase_no = stories.purchase_no
where stories.story = $state
order by matching.transacted_at desc, matching.purchase_no desc
limit $limit;

-- name: purchases
-- The purchases of shown with everything that is told of them, the newest first.
-- Grain: one row per purchase.
select
    purchases.transaction_ref, shown.state, purchases.transacted_at, purchases.received_at,
    purchases.amount, purchases.currency, purchases.merchant_name, purchases.merchant_identifier,
    purchase_details.merchant_descriptor, cardholders.cardholder_token,
    instruments.instrument_token, redemptions.redemption_no, redemptions.redemption_id,
    imports.file_name as file, purchases.line
from shown
inner join identified_purchases as purchases
    on purchases.purchase_no = shown.purchase_no
    and purchases.institution_id = $institution_id
inner join cardholders using (cardholder_no, institution_id)
left join redemptions
    on redemptions.purchase_no = purchases.purchase_no
    and redemptions.institution_id = purchases.institution_id
left join instruments using (instrument_no, cardholder_no, institution_id)
left join purchase_details
    on purchase_details.purchase_no = purchases.purchase_no
    and purchase_details.institution_id = purchases.institution_id
left join imports using (import_no, institution_id)
order by purchases.transacted_at desc, purchases.purchase_no desc;

-- name: rejects
-- The rows that were not accepted, the newest first, one of their errors each; nulls filter
-- nothing. Grain: one row per line.
select
    min(rejects.transaction_ref) as transaction_ref, 'rejected' as state,
    imports.imported_at as received_at, imports.file_name as file, rejects.line,
    min(rejects.code) as code
from rejects
inner join imports using (import_no, institution_id)
where rejects.institution_id = $institution_id
    and ($ref is null or rejects.transaction_ref = $ref)
    and ($pattern is null or regexp_full_match(rejects.transaction_ref, $pattern))
    and ($from_at is null or imports.imported_at >= $from_at)
    and ($to_at is null or imports.imported_at < $to_at)
group by rejects.import_no, imports.imported_at, imports.file_name, rejects.line
order by imports.imported_at desc, rejects.import_no desc, rejects.line
limit $limit;

-- name: duplicates
-- The rows whose ref was known already, the newest first; nulls filter nothing.
-- Grain: one row per line.
select
    duplicates.transaction_ref,
    case when duplicates.is_conflict then 'duplicate_conflict' else 'duplicate' end as state,
    imports.imported_at as received_at, imports.file_name as file, duplicates.line
from duplicates
inner join imports using (import_no, institution_id)
where duplicates.institution_id = $institution_id
    and ($ref is null or duplicates.transaction_ref = $ref)
    and ($pattern is null or regexp_full_match(duplicates.transaction_ref, $pattern))
    and ($from_at is null or imports.imported_at >= $from_at)
    and ($to_at is null or imports.imported_at < $to_at)
    and ($state is null or $state = 'duplicate' or duplicates.is_conflict)
order by imports.imported_at desc, duplicates.import_no desc, duplicates.line
limit $limit;

-- name: refunds
-- The refunds with this reference, or of a purchase that they name by it, the newest first; nulls
-- filter nothing. Grain: one row per refund.
select
    refund_states.refund_ref as transaction_ref, 'refund_' || refund_states.state as state,
    refund_states.received_at, imports.file_name as file, refund_states.line
from refund_states
inner join imports using (import_no, institution_id)
where refund_states.institution_id = $institution_id
    and (
        $ref is null
        or refund_states.refund_ref = $ref
        or refund_states.original_transaction_ref = $ref
    )
    and (
        $pattern is null
        or regexp_full_match(refund_states.refund_ref, $pattern)
        or regexp_full_match(refund_states.original_transaction_ref, $pattern)
    )
    and ($from_at is null or refund_states.received_at >= $from_at)
    and ($to_at is null or refund_states.received_at < $to_at)
order by refund_states.received_at desc, refund_states.refund_no desc
limit $limit;

-- name: credits
-- The credited rows with this reference, or that name a purchase by it, or those of a redemption, the
-- newest first; nulls filter nothing. Grain: one row per credited row.
with bought as (
    select redemptions.transaction_ref
    from redemptions
    where redemptions.institution_id = $institution_id
        and redemptions.redemption_id = try_cast($redemption_id as uuid)
)
select
    credits.credit_ref as transaction_ref,
    case credits.status when 'credited' then 'credited' else 'credit_' || credits.status end as state,
    credits.received_at, imports.file_name as file, credits.line
from credits
inner join imports using (import_no, institution_id)
where credits.institution_id = $institution_id
    and ($ref is null or credits.credit_ref = $ref or credits.transaction_ref = $ref)
    and (
        $redemption_id is null
        or credits.redemption_id = try_cast($redemption_id as uuid)
        or (
            credits.redemption_id is null
            and credits.transaction_ref in (select bought.transaction_ref from bought)
        )
    )
    and (
        $pattern is null
        or regexp_full_match(credits.credit_ref, $pattern)
        or regexp_full_match(credits.transaction_ref, $pattern)
    )
    and ($from_at is null or credits.received_at >= $from_at)
    and ($to_at is null or credits.received_at < $to_at)
order by credits.received_at desc, credits.credit_no desc
limit $limit;

-- name: searched
-- How many purchases were looked through. Grain: one row.
select
    coalesce(sum(imports.accepted), 0) as purchases, coalesce(sum(imports.invalid), 0) as rejected,
    coalesce(sum(imports.duplicates), 0) as duplicates, max(imports.imported_at) as last_import_at
from imports
where imports.institution_id = $institution_id
    and imports.kind_of_rows = 'purchases';
