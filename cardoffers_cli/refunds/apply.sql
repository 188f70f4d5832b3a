-- name: open_refunds
-- makes: open_refunds(refund_no, institution_id, refund_ref, original_transaction_ref, cardholder_no,
--     instrument_no, identifier_no, merchant_id, amount, refunded_at, is_told)
-- Makes open_refunds: the refunds that wait, as they were neither linked nor refused nor dismissed;
-- `is_told` where a run said before that the purchase was not there. Those of one institution and
-- of a list, where there is one. Grain: one row per refund.
create temp table open_refunds as
with told as (
    select refund_outcomes.refund_no, bool_or(refund_outcomes.outcome <> 'purchase_not_received') as is_final
    from refund_outcomes
    group by refund_outcomes.refund_no
)
select
    refunds.refund_no, refunds.institution_id, refunds.refund_ref, refunds.original_transaction_ref,
    refunds.cardholder_no, refunds.instrument_no, refunds.identifier_no, refunds.merchant_id,
    refunds.amount, refunds.refunded_at, told.refund_no is not null as is_told
from refunds
left join told on told.refund_no = refunds.refund_no
where not coalesce(told.is_final, false)
    and refunds.refund_no not in (select refund_dismissals.refund_no from refund_dismissals)
    and ($institution_id is null or refunds.institution_id = $institution_id)
    and (
        $refund_nos is null
        or refunds.refund_no in (select unnest(cast($refund_nos as bigint[])))
    );

-- name: named_purchases
-- reads: open_refunds(refund_no, institution_id, original_transaction_ref)
-- makes: named_purchases(refund_no, purchase_no, reason)
-- Makes named_purchases: the purchases whose reference has the hash of the one that an open refund
-- names, which are hardly ever others than those of the same reference. Grain: one row per such pair.
create temp table named_purchases as
with hashed as materialized (
    select
        open_refunds.refund_no,
        ref_hash(open_refunds.institution_id, open_refunds.original_transaction_ref) as ref_hash
    from open_refunds
    where open_refunds.original_transaction_ref is not null
)
select hashed.refund_no, purchase_refs.purchase_no, cast(null as varchar) as reason
from hashed
inner join purchase_refs on purchase_refs.ref_hash = hashed.ref_hash;

-- name: referenced
-- reads: open_refunds(refund_no, institution_id, refund_ref, original_transaction_ref, cardholder_no,
--     amount, refunded_at), named_purchases(refund_no, purchase_no, reason)
-- makes: claims(refund_no, institution_id, refund_ref, refunded_at, refund_amount, purchase_no,
--     purchase_amount, reason, refusal)
-- Makes claims: the open refunds with the purchase that each names, or that a person named for it, and
-- what is against it, but for its amount (rules.md#referenced-refunds). Whose purchase it is, nobody
-- knows any more of the erased (rules.md#erasure). Grain: one row per refund.
create temp table claims as
select
    open_refunds.refund_no, open_refunds.institution_id, open_refunds.refund_ref,
    open_refunds.refunded_at, open_refunds.amount as refund_amount, purchases.purchase_no,
    purchases.amount as purchase_amount, named_purchases.reason,
    case
        when open_refunds.cardholder_no <> purchases.cardholder_no
            and purchases.cardholder_no not in (
                select erasures.cardholder_no
                from erasures
                where erasures.institution_id = open_refunds.institution_id
                    and erasures.cardholder_no is not null
            )
            then 'refund_of_other_cardholder'
        when open_refunds.refunded_at < purchases.transacted_at then 'refund_before_purchase'
    end as refusal
from named_purchases
inner join open_refunds on open_refunds.refund_no = named_purchases.refund_no
inner join purchases
    on purchases.purchase_no = named_purchases.purchase_no
    and purchases.institution_id = open_refunds.institution_id
    and (
        named_purchases.reason is not null
        or purchases.transaction_ref = open_refunds.original_transaction_ref
    );

-- name: candidates
-- reads: open_refunds(refund_no, institution_id, refund_ref, original_transaction_ref, cardholder_no,
--     instrument_no, identifier_no, merchant_id, amount, refunded_at)
-- makes: candidates(refund_no, institution_id, refund_ref, refunded_at, refund_amount, purchase_no,
--     transaction_ref, transacted_at, purchase_amount, remaining_amount, unclaimed_amount,
--     is_equal_amount, is_same_instrument, rank_no)
-- Makes candidates: for each open refund without a reference the purchases that it may be of: of its
-- cardholder, at the same identifier, or at the same merchant where one of both has none, made before
-- it and within the institution's window, with as much left (rules.md#unreferenced-refunds), best
-- first. `unclaimed_amount` is left but for links by policy.
-- If $by_policy, only where institutions let some link by themselves.
-- Grain: one row per refund and purchase.
create temp table candidates as
with asking as materialized (
    select
        open_refunds.refund_no, open_refunds.institution_id, open_refunds.refund_ref,
        open_refunds.cardholder_no, open_refunds.instrument_no, open_refunds.identifier_no,
        open_refunds.amount, open_refunds.refunded_at,
        coalesce(merchants.merchant_id, identifiers.merchant_id, open_refunds.merchant_id)
            as merchant_id,
        open_refunds.refunded_at - to_days(institutions.refund_window_days) as window_begins_at
    from open_refunds
    inner join institutions on institutions.institution_id = open_refunds.institution_id
    left join merchants on merchants.merchant_id = open_refunds.merchant_id
    left join identifiers on identifiers.identifier_no = open_refunds.identifier_no
    where open_refunds.original_transaction_ref is null
        and (not $by_policy or institutions.refund_auto_link <> 'never')
),
taken as (
    select
        refund_links.purchase_no, sum(refund_links.amount) as amount,
        coalesce(sum(refund_links.amount) filter (where refund_links.how = 'policy'), 0)
            as amount_by_policy
    from refund_links
    group by refund_links.purchase_no
),
near as (
    select
        asking.refund_no, asking.institution_id, asking.refund_ref, asking.refunded_at,
        asking.amount as refund_amount, purchases.purchase_no, purchases.transaction_ref,
        purchases.transacted_at, purchases.amount as purchase_amount,
        purchases.amount - coalesce(taken.amount, 0) as remaining_amount,
        purchases.amount - coalesce(taken.amount - taken.amount_by_policy, 0) as unclaimed_amount,
        purchases.amount = asking.amount as is_equal_amount,
        coalesce(purchases.instrument_no = asking.instrument_no, false) as is_same_instrument
    from asking
    inner join purchases
        on purchases.cardholder_no = asking.cardholder_no
        and purchases.institution_id = asking.institution_id
        and purchases.transacted_at <= asking.refunded_at
        and purchases.transacted_at >= asking.window_begins_at
        and purchases.amount >= asking.amount
    left join identifiers on identifiers.identifier_no = purchases.identifier_no
    left join merchants on merchants.merchant_id = purchases.merchant_id
    left join taken on taken.purchase_no = purchases.purchase_no
    where case
            when purchases.identifier_no is not null and asking.identifier_no is not null
                then purchases.identifier_no = asking.identifier_no
            else coalesce(merchants.merchant_id, identifiers.merchant_id, purchases.merchant_id)
                = asking.merchant_id
        end
)
select
    near.refund_no, near.institution_id, near.refund_ref, near.refunded_at, near.refund_amount,
    near.purchase_no, near.transaction_ref, near.transacted_at, near.purchase_amount,
    near.remaining_amount, near.unclaimed_amount, near.is_equal_amount, near.is_same_instrument,
    row_number() over (
        partition by near.refund_no, near.remaining_amount >= near.refund_amount
        order by
            near.is_equal_amount desc, near.is_same_instrument desc, near.transacted_at desc,
            near.transaction_ref
    ) as rank_no
from near
where near.unclaimed_amount >= near.refund_amount;

-- name: by_policy
-- reads: candidates(refund_no, institution_id, refund_ref, refunded_at, refund_amount, purchase_no,
--     purchase_amount, remaining_amount, is_equal_amount, is_same_instrument)
-- makes: claims(refund_no, institution_id, refund_ref, refunded_at, refund_amount, purchase_no,
--     purchase_amount, reason, refusal)
-- Makes claims: the refunds whose institution links them by itself where one purchase alone has
-- their amount, and was paid with the same instrument (rules.md#refund-policy). What the policy
-- linked counts as there, or one link would make the next one unique. Where several refunds are of
-- one purchase the first has it, and the others wait. Grain: one row per refund.
create temp table claims as
with equal as (
    select candidates.refund_no, count(*) as purchases, min(candidates.purchase_no) as purchase_no
    from candidates
    inner join institutions on institutions.institution_id = candidates.institution_id
    where candidates.is_equal_amount
        and institutions.refund_auto_link = 'unique_exact'
    group by candidates.refund_no
),
unique_ones as (
    select
        candidates.refund_no, candidates.purchase_no,
        row_number() over (
            partition by candidates.purchase_no
            order by candidates.refunded_at, candidates.refund_ref
        ) as turn_no
    from equal
    inner join candidates using (refund_no, purchase_no)
    where equal.purchases = 1
        and candidates.is_same_instrument
        and candidates.remaining_amount >= candidates.refund_amount
)
select
    candidates.refund_no, candidates.institution_id, candidates.refund_ref, candidates.refunded_at,
    candidates.refund_amount, candidates.purchase_no, candidates.purchase_amount,
    cast(null as varchar) as reason, cast(null as varchar) as refusal
from unique_ones
inner join candidates using (refund_no, purchase_no)
where unique_ones.turn_no = 1;

-- name: named_by_person
-- makes: named_purchases(refund_no, purchase_no, reason)
-- Makes named_purchases of what a person says ($said, a list of structs): the purchase that each refund
-- is to be of, and why. Grain: one row per refund.
create temp table named_purchases as
select
    unnest(
        cast($said as struct(refund_no bigint, purchase_no bigint, reason varchar)[]),
        recursive := true
    );

-- name: asking
-- reads: claims(refund_no, refund_ref, refunded_at, refund_amount, purchase_no, purchase_amount,
--     refusal)
-- makes: asking(refund_no, purchase_no, turn_no, asked_amount, left_amount, taken_amount,
--     is_contested)
-- Makes asking: the turn of each refund among those that claim its purchase: by time, then reference
-- (rules.md#turns-of-refunds); what it asks for, nothing if it is refused as it is; what earlier links
-- have left of the purchase, and what refunds up to this one would take of that. Where all of them
-- together take no more than is left nobody contests it. Those of a redemption that was made or
-- settled after the clock of this run wait, as it cannot be reversed yet. Grain: one row per refund.
create temp table asking as
with ordered as (
    select
        claims.refund_no, claims.purchase_no,
        row_number() over turns as turn_no,
        case when claims.refusal is null then claims.refund_amount else 0 end as asked_amount,
        claims.purchase_amount - coalesce(refunded_purchases.amount, 0) as left_amount
    from claims
    left join refunded_purchases on refunded_purchases.purchase_no = claims.purchase_no
    where claims.purchase_no not in (
            select redemption_entries.purchase_no
            from redemption_entries
            where coalesce(redemption_entries.settled_at, redemption_entries.created_at) > $now
        )
    window turns as (
        partition by claims.purchase_no order by claims.refunded_at, claims.refund_ref
    )
),
summed as (
    select
        ordered.refund_no, ordered.purchase_no, ordered.turn_no, ordered.asked_amount,
        ordered.left_amount,
        sum(ordered.asked_amount) over (
            partition by ordered.purchase_no
            order by ordered.turn_no
        ) as taken_amount,
        sum(ordered.asked_amount) over (partition by ordered.purchase_no) as asked_in_all
    from ordered
)
select
    summed.refund_no, summed.purchase_no, summed.turn_no, summed.asked_amount, summed.left_amount,
    summed.taken_amount, summed.asked_in_all > summed.left_amount as is_contested
from summed;

-- name: taking
-- reads: asking(refund_no, purchase_no, turn_no, asked_amount, left_amount, taken_amount,
--     is_contested)
-- makes: taking(refund_no, turn_no, fits, net_after)
-- Makes taking: whether each refund is covered by what is left of its purchase at its turn, in full,
-- and what is left then. Contested purchases are gone through turn by turn, all of them at once.
-- Grain: one row per refund.
create temp table taking as
with recursive contested as materialized (
    select
        asking.refund_no, asking.purchase_no, asking.turn_no, asking.asked_amount,
        asking.left_amount
    from asking
    where asking.is_contested
),
walked as (
    select
        contested.refund_no, contested.purchase_no, contested.turn_no,
        contested.asked_amount <= contested.left_amount as fits,
        case
            when contested.asked_amount <= contested.left_amount
                then contested.left_amount - contested.asked_amount
            else contested.left_amount
        end as net_after
    from contested
    where contested.turn_no = 1
    union all
    select
        contested.refund_no, contested.purchase_no, contested.turn_no,
        contested.asked_amount <= walked.net_after,
        case
            when contested.asked_amount <= walked.net_after
                then walked.net_after - contested.asked_amount
            else walked.net_after
        end
    from walked
    inner join contested
        on contested.purchase_no = walked.purchase_no
        and contested.turn_no = walked.turn_no + 1
)
select walked.refund_no, walked.turn_no, walked.fits, walked.net_after
from walked
union all
select asking.refund_no, asking.turn_no, true, asking.left_amount - asking.taken_amount
from asking
where not asking.is_contested;

-- name: effects
-- reads: claims(refund_no, institution_id, refunded_at, refund_amount, purchase_no, purchase_amount,
--     reason, refusal), taking(refund_no, turn_no, fits, net_after)
-- makes: effects(refund_no, institution_id, outcome, is_linked, reason, purchase_no, redemption_no,
--     purchase_amount, refund_amount, net_after, cashback_back, commission_back)
-- Makes effects: what becomes of each claim (rules.md#effects-of-refunds). A redemption is reversed
-- by the first refund that leaves less than its offer asked for, or nothing, and reduced where its
-- version gives less of what is left; it stays where it was settled too long ago.
-- Grain: one row per refund.
create temp table effects as
with entries as materialized (
    select
        redemption_entries.purchase_no, redemption_entries.redemption_no,
        redemption_entries.status, coalesce(offer_versions.min_spend, 0) as min_spend,
        redemption_entries.settled_at + to_days(institutions.clawback_days) as last_clawback_at,
        coalesce(offer_versions.cashback_amount, offer_versions.max_cashback_amount) as cashback,
        offer_versions.cashback_percent, offer_versions.commission_rate,
        offer_versions.commission_basis, offer_versions.max_commission_amount,
        currencies.minor_unit
    from redemption_entries
    inner join currencies on currencies.currency = redemption_entries.currency
    inner join institutions on institutions.institution_id = redemption_entries.institution_id
    left join offer_versions
        on offer_versions.offer_no = redemption_entries.offer_no
        and offer_versions.run_no = redemption_entries.version_no
    where redemption_entries.purchase_no in (select claims.purchase_no from claims)
),
waiting as materialized (
    select claims.purchase_no
    from claims
    where claims.purchase_no > (select max(match_watermark.purchase_no) from match_watermark)
        or claims.purchase_no in (select unresolved_purchases.purchase_no from unresolved_purchases)
),
amounts as (
    select
        claims.refund_no, taking.net_after + claims.refund_amount as net_before,
        reward_of(net_before, entries.cashback, entries.cashback_percent, entries.minor_unit)
            as before,
        reward_of(
            taking.net_after, entries.cashback, entries.cashback_percent, entries.minor_unit
        ) as after,
        before - after as cashback_back,
        commission_on(
            net_before, before, entries.commission_rate, entries.commission_basis,
            entries.max_commission_amount, entries.minor_unit
        ) - commission_on(
            taking.net_after, after, entries.commission_rate, entries.commission_basis,
            entries.max_commission_amount, entries.minor_unit
        ) as commission_back
    from claims
    inner join taking on taking.refund_no = claims.refund_no
    inner join entries on entries.purchase_no = claims.purchase_no
),
judged as (
    select
        claims.refund_no, claims.institution_id, claims.reason, claims.purchase_no,
        entries.redemption_no, claims.purchase_amount, claims.refund_amount, taking.net_after,
        taking.turn_no, claims.refusal is null and taking.fits as is_linked,
        amounts.cashback_back, amounts.commission_back,
        taking.net_after > 0 and taking.net_after >= entries.min_spend as is_enough,
        case
            when claims.refusal is not null then claims.refusal
            when not taking.fits then 'refund_exceeds_purchase'
            when claims.purchase_no in (select waiting.purchase_no from waiting)
                then 'not_matched_yet'
            when entries.redemption_no is null then 'not_redeemed'
            when entries.status = 'reversed' then 'already_reversed'
            when is_enough and amounts.cashback_back + amounts.commission_back = 0 then 'kept'
            when claims.refunded_at > entries.last_clawback_at then 'outside_clawback_window'
            when is_enough then 'reduced'
            else 'reversed'
        end as outcome
    from claims
    inner join taking on taking.refund_no = claims.refund_no
    left join entries on entries.purchase_no = claims.purchase_no
    left join amounts on amounts.refund_no = claims.refund_no
),
first_reversals as (
    select judged.purchase_no, min(judged.turn_no) as turn_no
    from judged
    where judged.outcome = 'reversed'
    group by judged.purchase_no
)
select
    judged.refund_no, judged.institution_id,
    case
        when judged.is_linked and judged.turn_no > first_reversals.turn_no then 'already_reversed'
        else judged.outcome
    end as outcome,
    judged.is_linked, judged.reason, judged.purchase_no, judged.redemption_no,
    judged.purchase_amount, judged.refund_amount, judged.net_after, judged.cashback_back,
    judged.commission_back
from judged
left join first_reversals on first_reversals.purchase_no = judged.purchase_no;

-- name: links
-- reads: effects(refund_no, institution_id, is_linked, reason, purchase_no, refund_amount)
-- Writes the link of every refund that its purchase covers. Idempotent: what is linked is not open.
insert into refund_links (
    refund_no, institution_id, purchase_no, amount, how, actor, reason, run_no, linked_at
)
select
    effects.refund_no, effects.institution_id, effects.purchase_no, effects.refund_amount, $how,
    $actor, effects.reason, $run_no, $now
from effects
where effects.is_linked;

-- name: outcomes
-- reads: effects(refund_no, institution_id, outcome, is_linked, purchase_no, redemption_no,
--     purchase_amount, refund_amount, net_after)
-- Writes what became of these refunds; a mistake of a person refuses none. Idempotent: after a last
-- word a refund is not open.
insert into refund_outcomes (
    refund_no, institution_id, run_no, outcome, purchase_no, redemption_no, purchase_amount,
    refund_amount, net_after
)
select
    effects.refund_no, effects.institution_id, $run_no, effects.outcome, effects.purchase_no,
    effects.redemption_no, effects.purchase_amount, effects.refund_amount, effects.net_after
from effects
where effects.is_linked
    or $how <> 'person';

-- name: refusals
-- reads: effects(refund_no, outcome, is_linked)
-- Why claims were not linked. Grain: one row per refund.
select effects.refund_no, effects.outcome
from effects
where not effects.is_linked;

-- name: reversals
-- reads: effects(outcome, redemption_no)
-- makes: reversals(redemption_no)
-- Makes reversals: the redemptions that these refunds take back. Grain: one row per redemption.
create temp table reversals as
select effects.redemption_no
from effects
where effects.outcome = 'reversed';

-- name: not_received
-- reads: open_refunds(refund_no, institution_id, original_transaction_ref, amount, is_told),
--     claims(refund_no)
-- Writes once of every refund that names a purchase which is not there that it waits for it.
insert into refund_outcomes (refund_no, institution_id, run_no, outcome, refund_amount)
select
    open_refunds.refund_no, open_refunds.institution_id, $run_no, 'purchase_not_received',
    open_refunds.amount
from open_refunds
where open_refunds.original_transaction_ref is not null
    and not open_refunds.is_told
    and open_refunds.refund_no not in (select claims.refund_no from claims);

-- name: counts
-- reads: open_refunds(refund_no)
-- What a run made of the refunds that were open before it; `waiting` are open still.
with final as (
    select
        refund_outcomes.refund_no, refund_outcomes.outcome,
        coalesce(refund_links.refund_no is not null, false) as is_linked
    from refund_outcomes
    left join refund_links on refund_links.refund_no = refund_outcomes.refund_no
    where refund_outcomes.run_no = $run_no
        and refund_outcomes.outcome <> 'purchase_not_received'
)
select
    (select count(*) from open_refunds) as considered,
    count(*) filter (where final.outcome = 'reversed') as reversed,
    count(*) filter (where final.outcome = 'kept') as kept,
    nullif(count(*) filter (where final.outcome = 'reduced'), 0) as reduced,
    count(*) filter (where final.outcome = 'already_reversed') as already_reversed,
    count(*) filter (where final.outcome = 'outside_clawback_window') as outside_clawback_window,
    count(*) filter (where final.outcome = 'not_redeemed') as not_redeemed,
    count(*) filter (where final.outcome = 'not_matched_yet') as not_matched_yet,
    count(*) filter (where not final.is_linked) as refused,
    (select count(*) from open_refunds) - count(*) as waiting
from final;

-- name: given_back
-- What a run took back: what redemptions came to that it reversed, but for what refunds had reduced
-- them by, and what it reduced redemptions by. Grain: one row per currency.
with reversed as (
    select ledger_moves.redemption_no
    from ledger_moves
    where ledger_moves.run_no = $run_no
        and ledger_moves.status = 'reversed'
),
taken as (
    select entries.currency, 1 as sign, entries.merchant_funded_amount as funded,
        entries.commission_amount as commission, entries.institution_payout_amount as payout
    from ledger_entries as entries
    semi join reversed using (redemption_no)
    union all
    select currency, 1, merchant_funded_amount, commission_amount, institution_payout_amount
    from adjustments
    semi join reversed using (redemption_no)
    where refund_no is not null
    union all
    select currency, -1, merchant_funded_amount, commission_amount, institution_payout_amount
    from adjustments
    where run_no = $run_no
)
select
    taken.currency, sum(taken.sign * taken.funded) as merchant_funded_amount,
    sum(taken.sign * taken.commission) as commission_amount,
    sum(taken.sign * taken.payout) as institution_payout_amount
from taken
group by taken.currency
order by taken.currency;
