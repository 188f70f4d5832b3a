-- name: of_import
-- What became of every purchase of an import, in the order of the file; the newest decision counts.
-- Grain: one row per purchase.
select
    purchases.line, purchases.purchase_no, purchases.transaction_ref, purchases.currency,
    decisions.outcome, merchants.merchant_id, offers.offer_id, entries.merchant_funded_amount,
    entries.commission_amount, entries.institution_payout_amount
from purchases
left join latest_decisions as decisions on decisions.purchase_no = purchases.purchase_no
left join merchants on merchants.merchant_no = decisions.merchant_no
left join redemption_entries as entries
    on entries.purchase_no = purchases.purchase_no
    and entries.institution_id = purchases.institution_id
left join offers on offers.offer_no = entries.offer_no
where purchases.import_no = $import_no
    and purchases.institution_id = $institution_id
order by purchases.line;

-- name: evaluations_of_import
-- Every check of every purchase of an import against the offers of its merchant, with what was
-- expected and what was there: those that the cardholder has a link to, and the others of the
-- institution's program, as what other programs hold is not its business. The terms are those in
-- force at the purchase, dates and budget those that were the newest before the run. While nobody
-- knows the merchant, these are the offers that the cardholder has links to.
-- Grain: one row per purchase and offer.
with bought as (
    select
        purchases.purchase_no, purchases.line, purchases.amount, purchases.transacted_at,
        purchases.cardholder_no, purchases.institution_id, merchants.merchant_id, decisions.run_no
    from purchases
    inner join decisions on decisions.purchase_no = purchases.purchase_no
    inner join merchants on merchants.merchant_no = decisions.merchant_no
    where purchases.import_no = $import_no
        and purchases.institution_id = $institution_id
),
versions as (
    select
        bought.purchase_no, offer_versions.offer_no,
        version_judged_by(offer_versions.offer_no, bought.transacted_at, bought.run_no)
            as version_no,
        max(offer_versions.run_no) as newest_no
    from bought
    inner join offer_versions
        on offer_versions.merchant_id = bought.merchant_id
        and offer_versions.run_no < bought.run_no
    group by
        bought.purchase_no, offer_versions.offer_no, bought.transacted_at, bought.run_no
),
final as (
    select
        bought.line, bought.purchase_no, offers.offer_id, offers.currency,
        coalesce(outcomes.outcome, 'not_enrolled') as outcome, bought.amount, bought.transacted_at,
        judged_by.min_spend, newest.starts_at, newest.expires_at, newest.budget_amount,
        judged_by.max_redemptions_per_cardholder, link_starts.counts_from as added_at,
        judged_by.cashback_percent, judged_by.max_cashback_amount as cashback_amount
    from versions
    inner join bought on bought.purchase_no = versions.purchase_no
    inner join offer_versions as judged_by
        on judged_by.offer_no = versions.offer_no
        and judged_by.run_no = versions.version_no
    inner join offer_versions as newest
        on newest.offer_no = versions.offer_no
        and newest.run_no = versions.newest_no
    inner join offers on offers.offer_no = versions.offer_no
    left join outcomes
        on outcomes.purchase_no = versions.purchase_no
        and outcomes.offer_no = versions.offer_no
        and outcomes.run_no = bought.run_no
    left join link_starts
        on link_starts.offer_no = versions.offer_no
        and link_starts.cardholder_no = bought.cardholder_no
        and link_starts.institution_id = bought.institution_id
    where link_starts.offer_no is not null
        or exists (
            select 1
            from program_offers
            where program_offers.institution_id = bought.institution_id
                and program_offers.offer_id = offers.offer_id
        )
    union all
    select
        purchases.line, purchases.purchase_no, offers.offer_id, offers.currency, decisions.outcome,
        purchases.amount, purchases.transacted_at, offers.min_spend, offers.starts_at,
        offers.expires_at, offers.budget_amount, offers.max_redemptions_per_cardholder,
        link_starts.counts_from, offers.cashback_percent, offers.max_cashback_amount
    from purchases
    inner join decisions
        on decisions.purchase_no = purchases.purchase_no
        and decisions.outcome = 'merchant_unresolved'
    inner join link_starts using (cardholder_no, institution_id)
    inner join offers on offers.offer_no = link_starts.offer_no
    anti join bought on bought.purchase_no = purchases.purchase_no
    where purchases.import_no = $import_no
        and purchases.institution_id = $institution_id
)
select
    line, purchase_no, offer_id, currency, outcome, amount, transacted_at, min_spend, starts_at,
    expires_at, budget_amount, max_redemptions_per_cardholder, added_at, cashback_percent,
    cashback_amount
from final
order by line, offer_id;
