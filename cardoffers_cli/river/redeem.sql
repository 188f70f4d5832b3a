-- name: this_run
-- makes: this_run(run_no, redemption_left_out)
-- Makes this_run: the number that a plan cannot be given, and the redemption of $purchase_no, if one
-- is named, which holds nothing then. Grain: one row.
create temp table this_run as
select cast($run_no as bigint) as run_no, max(redemptions.redemption_no) as redemption_left_out
from redemptions
where redemptions.purchase_no = cast($purchase_no as bigint);

-- name: reserved
-- reads: this_run(redemption_left_out)
-- makes: reserved(offer_no, merchant_funded_amount)
-- Makes reserved: what earlier redemptions hold of each budget. Grain: one row per offer.
create temp view reserved as
with left_out as (
    select
        ledger_entries.offer_no,
        any_value(ledger_entries.merchant_funded_amount)
        + coalesce(sum(adjustments.merchant_funded_amount), 0) as merchant_funded_amount
    from ledger_entries
    inner join this_run on this_run.redemption_left_out = ledger_entries.redemption_no
    left join adjustments on adjustments.redemption_no = ledger_entries.redemption_no
    where ledger_entries.status <> 'reversed'
    group by ledger_entries.offer_no
)
select
    offer_budgets.offer_no,
    offer_budgets.reserved_amount - coalesce(left_out.merchant_funded_amount, 0)
        as merchant_funded_amount
from offer_budgets
left join left_out on left_out.offer_no = offer_budgets.offer_no;

-- name: uses
-- reads: this_run(redemption_left_out), candidates(offer_no, cardholder_no),
--     ranked_terms(offer_no, max_redemptions_per_cardholder)
-- makes: uses(offer_no, cardholder_no, used)
-- Makes uses: how often each link redeemed and was not reversed, of the links that are asked for,
-- and whose offer limits it. Grain: one row per link used.
create temp table uses as
with asked as (
    select distinct candidates.offer_no, candidates.cardholder_no
    from candidates
    where candidates.offer_no in (
        select ranked_terms.offer_no
        from ranked_terms
        where ranked_terms.max_redemptions_per_cardholder is not null
    )
)
select ledger_entries.offer_no, ledger_entries.cardholder_no, count(*) as used
from ledger_entries
inner join asked using (offer_no, cardholder_no)
where ledger_entries.status <> 'reversed'
    and ledger_entries.redemption_no is distinct from (select this_run.redemption_left_out from this_run)
group by ledger_entries.offer_no, ledger_entries.cardholder_no;

-- name: all_uses
-- makes: uses(offer_no, cardholder_no, used)
-- Makes uses for an engine, which computes elsewhere what is asked for: of all links whose offer
-- limits it. Grain: one row per link used.
create temp view uses as
select ledger_entries.offer_no, ledger_entries.cardholder_no, count(*) as used
from ledger_entries
where ledger_entries.status <> 'reversed'
    and ledger_entries.offer_no in (
        select terms_in_force.offer_no
        from terms_in_force
        where terms_in_force.max_redemptions_per_cardholder is not null
    )
group by ledger_entries.offer_no, ledger_entries.cardholder_no;

-- name: redemptions
-- reads: redeemed_purchases(purchase_no, institution_id, transaction_ref, cardholder_no, offer_no,
--     version_no, purchase_amount, purchased_at)
-- Writes one redemption per purchase of redeemed_purchases. Its id is derived from institution, ref and
-- offer (rules.md#ids). Idempotent: a purchase that redeemed is never undecided again.
insert into redemptions (
    redemption_no, redemption_id, institution_id, purchase_no, cardholder_no, offer_no, version_no,
    run_no, created_at, purchase_amount, purchased_at, transaction_ref
)
select
    last_redemption.redemption_no + row_number() over (order by redeemed_purchases.purchase_no),
    derived_id(
        cast(redeemed_purchases.institution_id as varchar)
        || chr(31) || redeemed_purchases.transaction_ref
        || chr(31) || offers.offer_id
    ),
    redeemed_purchases.institution_id,
    redeemed_purchases.purchase_no,
    redeemed_purchases.cardholder_no,
    redeemed_purchases.offer_no,
    redeemed_purchases.version_no,
    $run_no,
    $created_at,
    redeemed_purchases.purchase_amount,
    redeemed_purchases.purchased_at,
    redeemed_purchases.transaction_ref
from redeemed_purchases
cross join last_redemption
inner join offers on offers.offer_no = redeemed_purchases.offer_no;

-- name: ledger_entries
-- Writes the pending ledger entry of every redemption of this run, by the terms of its version and by
-- what refunds had left of its purchase (rules.md#ledger-amounts).
insert into ledger_entries (
    redemption_no, entry_id, institution_id, cardholder_no, offer_no, merchant_id, currency,
    merchant_funded_amount, commission_amount, institution_payout_amount, status, created_at,
    settles_at
)
with refunded as (
    select refund_links.purchase_no, sum(refund_links.amount) as amount
    from refund_links
    where refund_links.run_no < $run_no
        and refund_links.purchase_no in (
            select redemptions.purchase_no
            from redemptions
            where redemptions.run_no = $run_no
        )
    group by refund_links.purchase_no
),
amounts as (
    select
        redemptions.redemption_no,
        redemptions.purchase_amount - coalesce(refunded.amount, 0) as spent,
        reward_of(spent, terms.cashback_amount, terms.cashback_percent, terms.minor_unit)
            as reward,
        case
            when terms.cashback_percent is null and terms.commission_basis is null
                then terms.commission_amount
            else commission_on(
                spent, reward, terms.commission_rate, terms.commission_basis,
                terms.max_commission_amount, terms.minor_unit
            )
        end as commission
    from redemptions
    inner join terms_in_force as terms
        on terms.offer_no = redemptions.offer_no
        and terms.version_no = redemptions.version_no
    left join refunded on refunded.purchase_no = redemptions.purchase_no
    where redemptions.run_no = $run_no
)
select
    redemptions.redemption_no,
    derived_id('ledger entry' || chr(31) || cast(redemptions.redemption_id as varchar)),
    redemptions.institution_id,
    redemptions.cardholder_no,
    redemptions.offer_no,
    offers.merchant_id,
    offers.currency,
    amounts.reward + amounts.commission,
    amounts.commission,
    amounts.reward,
    'pending',
    redemptions.created_at,
    redemptions.created_at + to_days(institutions.settlement_hold_days)
from amounts
inner join redemptions on redemptions.redemption_no = amounts.redemption_no
inner join offers on offers.offer_no = redemptions.offer_no
inner join institutions on institutions.institution_id = redemptions.institution_id;

-- name: ledger_moves
-- Writes the first move, into pending, of every ledger entry of this run.
insert into ledger_moves (redemption_no, run_no, status, moved_at, actor, reason)
select redemptions.redemption_no, $run_no, 'pending', redemptions.created_at, $actor, 'matched'
from redemptions
where redemptions.run_no = $run_no;

-- name: decisions
-- reads: decided(purchase_no, run_no, outcome, merchant_no)
-- Writes what was decided of every undecided purchase.
insert into recent_decisions (purchase_no, run_no, outcome, merchant_no)
select decided.purchase_no, decided.run_no, decided.outcome, decided.merchant_no
from decided;

-- name: outcomes
-- reads: outcomes_found(purchase_no, offer_no, run_no, outcome)
-- Writes the outcome of every purchase with every offer its cardholder had a link to.
insert into recent_outcomes (purchase_no, offer_no, run_no, outcome)
select
    outcomes_found.purchase_no, outcomes_found.offer_no, outcomes_found.run_no,
    outcomes_found.outcome
from outcomes_found;

-- name: funded
-- The money of the redemptions of this run. Grain: one row per currency.
select
    ledger_entries.currency,
    count(*) as redeemed,
    sum(ledger_entries.merchant_funded_amount) as merchant_funded_amount,
    sum(ledger_entries.commission_amount) as commission_amount,
    sum(ledger_entries.institution_payout_amount) as institution_payout_amount
from ledger_entries
inner join redemptions on redemptions.redemption_no = ledger_entries.redemption_no
where redemptions.run_no = $run_no
group by ledger_entries.currency
order by ledger_entries.currency;

-- name: fetched_redemptions
-- makes: redeemed_purchases(purchase_no, institution_id, transaction_ref, cardholder_no, offer_no,
--     version_no, purchase_amount, purchased_at)
-- Reads frame (redeemed_purchases, computed elsewhere) and makes redeemed_purchases of it. Grain: one
-- row per purchase.
create temp table redeemed_purchases as
select
    frame.purchase_no, cast(frame.institution_id as uuid) as institution_id, frame.transaction_ref,
    frame.cardholder_no, frame.offer_no, frame.version_no, frame.purchase_amount, frame.purchased_at
from frame;

-- name: fetched_decisions
-- Reads frame (decided, computed elsewhere) and writes it into the store.
insert into recent_decisions (purchase_no, run_no, outcome, merchant_no)
select frame.purchase_no, frame.run_no, frame.outcome, frame.merchant_no
from frame;

-- name: fetched_outcomes
-- Reads frame (outcomes_found, computed elsewhere) and writes it into the store.
insert into recent_outcomes (purchase_no, offer_no, run_no, outcome)
select frame.purchase_no, frame.offer_no, frame.run_no, frame.outcome
from frame;
