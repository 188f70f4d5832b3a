-- name: decided
-- reads: resolutions(purchase_no, merchant_no), said_unknown(purchase_no), this_run(run_no),
--     redeemed(purchase_no)
-- makes: decided(purchase_no, run_no, outcome, merchant_no)
-- What was decided of every undecided purchase; that a merchant is unknown is said once.
-- Grain: one row per purchase.
select
    resolutions.purchase_no,
    this_run.run_no,
    case
        when resolutions.merchant_no is null then 'merchant_unresolved'
        when redeemed.purchase_no is not null then 'redeemed'
        else 'not_redeemed'
    end as outcome,
    resolutions.merchant_no
from resolutions
cross join this_run
left join redeemed on redeemed.purchase_no = resolutions.purchase_no
where resolutions.merchant_no is not null
    or not exists (
        select 1
        from said_unknown
        where said_unknown.purchase_no = resolutions.purchase_no
    );

-- name: outcomes_found
-- reads: enrolled(purchase_no, offer_no, outcome), outcomes_of_choices(purchase_no, offer_no,
--     outcome), this_run(run_no)
-- makes: outcomes_found(purchase_no, offer_no, run_no, outcome)
-- The outcome of every purchase with every offer of its merchant that its cardholder had a link to.
-- Grain: one row per purchase and offer.
with final as (
    select enrolled.purchase_no, enrolled.offer_no, enrolled.outcome
    from enrolled
    where enrolled.outcome <> 'eligible'
    union all
    select
        outcomes_of_choices.purchase_no, outcomes_of_choices.offer_no, outcomes_of_choices.outcome
    from outcomes_of_choices
)
select final.purchase_no, final.offer_no, this_run.run_no, final.outcome
from final
cross join this_run;

-- name: redeemed_purchases
-- reads: redeemed(purchase_no, offer_no, preference_no, cardholder_no), ranked_terms(version_no,
--     preference_no)
-- makes: redeemed_purchases(purchase_no, institution_id, transaction_ref, cardholder_no, offer_no,
--     version_no, purchase_amount, purchased_at)
-- The purchases that redeem an offer, with what their redemptions are made from: of all purchases
-- only these leave the engine. Grain: one row per purchase.
select
    redeemed.purchase_no, purchases.institution_id, purchases.transaction_ref,
    redeemed.cardholder_no, redeemed.offer_no, ranked_terms.version_no,
    purchases.amount as purchase_amount, purchases.transacted_at as purchased_at
from redeemed
inner join purchases on purchases.purchase_no = redeemed.purchase_no
inner join ranked_terms on ranked_terms.preference_no = redeemed.preference_no;

-- name: unresolved
-- reads: resolutions(purchase_no, merchant_no)
-- makes: unresolved(purchase_no)
-- The purchases whose merchant nobody knows. Grain: one row per purchase.
select resolutions.purchase_no
from resolutions
where resolutions.merchant_no is null;
