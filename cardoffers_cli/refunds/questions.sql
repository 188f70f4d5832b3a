-- name: listed
-- The refunds of an institution in a state, or in any where that is null, with one of some references,
-- or any, of a span of time, the newest first; `refunds` says how many there are. Purchases and redemptions are looked up for the rows that are shown only.
-- Grain: one row per refund.
with page as materialized (
    select refund_states.*, count(*) over () as refunds
    from refund_states
    where refund_states.institution_id = $institution_id
        and ($state is null or refund_states.state = $state)
        and ($from_at is null or refund_states.refunded_at >= $from_at)
        and ($to_at is null or refund_states.refunded_at < $to_at)
        and (
            $refund_refs is null
            or refund_states.refund_ref in (select unnest(cast($refund_refs as varchar[])))
        )
    order by refund_states.refunded_at desc, refund_states.refund_no desc
    limit $limit
)
select
    page.refund_no, page.refund_ref, page.kind, page.amount, page.currency, page.refunded_at,
    page.original_transaction_ref, purchases.transaction_ref, page.state, page.outcome,
    page.net_after, redemptions.redemption_id, page.refunds
from page
left join purchases using (purchase_no, institution_id)
left join redemptions using (redemption_no, institution_id)
order by page.refunded_at desc, page.refund_no desc;

-- name: shown
-- What was received of refunds of an institution, and who linked or dismissed them.
-- Grain: one row per refund.
select
    refund_states.currency, refund_states.purchase_amount, refund_states.how, refund_states.actor,
    refund_states.reason, refund_states.moved_at, refund_states.received_at,
    refund_states.line, imports.file_name as file, imports.import_id,
    identifiers.merchant_identifier_type, identifiers.merchant_identifier,
    merchants.name as merchant_name,
    masked(cardholders.cardholder_token) as cardholder_token_masked,
    runs.run_id, runs.as_of as found_at
from refund_states
left join imports using (import_no, institution_id)
left join identifiers on identifiers.identifier_no = refund_states.identifier_no
left join merchants
    on merchants.merchant_id = coalesce(refund_states.merchant_id, identifiers.merchant_id)
left join cardholders using (cardholder_no, institution_id)
left join runs on runs.run_no = refund_states.found_by_run_no
where refund_states.institution_id = $institution_id
    and refund_states.refund_ref = $refund_ref;

-- name: named
-- reads: said(line, refund_ref, transaction_ref, reason)
-- What a person says of refunds of an institution, with the numbers that it is about; null where
-- there is no such refund, or purchase. Grain: one row per row that was said.
with hashed as materialized (
    select
        said.line, said.refund_ref, said.transaction_ref, said.reason,
        ref_hash(cast($institution_id as uuid), said.transaction_ref) as ref_hash
    from said
),
bought as (
    select hashed.line, purchases.purchase_no
    from hashed
    inner join purchase_refs on purchase_refs.ref_hash = hashed.ref_hash
    inner join purchases
        on purchases.purchase_no = purchase_refs.purchase_no
        and purchases.institution_id = $institution_id
        and purchases.transaction_ref = hashed.transaction_ref
)
select
    hashed.line, hashed.refund_ref, hashed.transaction_ref, hashed.reason,
    refund_states.refund_no, refund_states.state, bought.purchase_no
from hashed
left join refund_states
    on refund_states.institution_id = $institution_id
    and refund_states.refund_ref = hashed.refund_ref
left join bought on bought.line = hashed.line
order by hashed.line;

-- name: said
-- makes: said(line, refund_ref, transaction_ref, reason)
-- Makes said of $said, a list of structs. Grain: one row per row that was said.
create temp table said as
select
    unnest(
        cast(
            $said as struct(
                line bigint, refund_ref varchar, transaction_ref varchar, reason varchar
            )[]
        ),
        recursive := true
    );

-- name: dismiss
-- Writes that a person laid a refund aside.
insert into refund_dismissals (
    refund_no, institution_id, actor, reason, run_no, dismissed_at
)
values ($refund_no, $institution_id, $actor, $reason, $run_no, $now);

-- name: candidates
-- reads: candidates(refund_no, refund_ref, refund_amount, transaction_ref,
--     transacted_at, refunded_at, purchase_amount, remaining_amount, is_equal_amount,
--     is_same_instrument, rank_no)
-- The candidates of refunds that have enough left, best first. Grain: one row per refund and purchase.
select
    candidates.refund_ref, candidates.transaction_ref, candidates.rank_no as rank, candidates.is_equal_amount as equal_amount,
    candidates.is_same_instrument as same_instrument,
    date_sub('day', candidates.transacted_at, candidates.refunded_at) as lag_days,
    candidates.remaining_amount as remaining, candidates.refund_amount as amount,
    candidates.purchase_amount, refunds.currency, candidates.refunded_at, candidates.transacted_at,
    cast(null as varchar) as reason
from candidates
inner join refunds on refunds.refund_no = candidates.refund_no
where candidates.remaining_amount >= candidates.refund_amount
order by candidates.refunded_at, candidates.refund_ref, candidates.rank_no;
