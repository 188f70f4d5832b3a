-- name: reserved
-- Makes reserved: what earlier redemptions hold of each budget. Grain: one row per offer.
create or replace temp view reserved as
select
    ledger_entries.offer_no,
    sum(ledger_entries.merchant_funded_amount) as merchant_funded_amount
from ledger_entries
where ledger_entries.status <> 'reversed'
group by ledger_entries.offer_no;

-- name: uses
-- Makes uses: how often each link redeemed and was not reversed. Grain: one row per link used.
create or replace temp view uses as
select ledger_entries.offer_no, ledger_entries.cardholder_no, count(*) as used
from ledger_entries
where ledger_entries.status <> 'reversed'
group by ledger_entries.offer_no, ledger_entries.cardholder_no;

-- name: redemptions
-- Writes one redemption per purchase of redeemed. Its id is derived from institution, ref and
-- offer. Idempotent: a purchase that redeemed is never undecided again.
insert into redemptions (
    redemption_no, redemption_id, institution_id, purchase_no, cardholder_no, offer_no, run_no,
    created_at
)
with highest as (
    select coalesce(max(redemptions.redemption_no), 0) as redemption_no
    from redemptions
)
select
    highest.redemption_no + row_number() over (order by redeemed.purchase_no),
    derived_id(
        cast(purchases.institution_id as varchar) || chr(31) || purchases.transaction_ref
        || chr(31) || offers.offer_id
    ),
    purchases.institution_id,
    redeemed.purchase_no,
    redeemed.cardholder_no,
    redeemed.offer_no,
    $run_no,
    $created_at
from redeemed
cross join highest
inner join purchases on purchases.purchase_no = redeemed.purchase_no
inner join offers on offers.offer_no = redeemed.offer_no;

-- name: ledger_entries
-- Writes the pending ledger entry of every redemption of this run (decisions, Money).
insert into ledger_entries (
    redemption_no, entry_id, institution_id, cardholder_no, offer_no, merchant_id, currency,
    merchant_funded_amount, commission_amount, institution_payout_amount, status, created_at,
    settles_at
)
select
    redemptions.redemption_no,
    derived_id('ledger entry' || chr(31) || cast(redemptions.redemption_id as varchar)),
    redemptions.institution_id,
    redemptions.cardholder_no,
    redemptions.offer_no,
    offer_terms.merchant_id,
    offer_terms.currency,
    offer_terms.merchant_funded_amount,
    offer_terms.commission_amount,
    offer_terms.cashback_amount,
    'pending',
    redemptions.created_at,
    redemptions.created_at + to_days(institutions.settlement_hold_days)
from redemptions
inner join offer_terms on offer_terms.offer_no = redemptions.offer_no
inner join institutions on institutions.institution_id = redemptions.institution_id
where redemptions.run_no = $run_no;

-- name: ledger_moves
-- Writes the first move, into pending, of every ledger entry of this run.
insert into ledger_moves (redemption_no, run_no, status, moved_at, actor, reason)
select redemptions.redemption_no, $run_no, 'pending', redemptions.created_at, $actor, 'matched'
from redemptions
where redemptions.run_no = $run_no;

-- name: decisions
-- Writes what was decided of every undecided purchase; that a merchant is unknown is written once.
insert into recent_decisions (purchase_no, run_no, outcome, merchant_no)
select
    resolutions.purchase_no,
    $run_no,
    case
        when resolutions.merchant_no is null then 'merchant_unresolved'
        when redeemed.purchase_no is not null then 'redeemed'
        else 'not_redeemed'
    end,
    resolutions.merchant_no
from resolutions
left join redeemed on redeemed.purchase_no = resolutions.purchase_no
where resolutions.merchant_no is not null
    or not exists (
        select 1
        from decisions
        where decisions.purchase_no = resolutions.purchase_no
            and decisions.outcome = 'merchant_unresolved'
    );

-- name: outcomes
-- Writes the outcome of every purchase with every offer its cardholder had a link to.
insert into recent_outcomes (purchase_no, offer_no, run_no, outcome)
select enrolled.purchase_no, enrolled.offer_no, $run_no, enrolled.outcome
from enrolled
where enrolled.outcome <> 'eligible'
union all
select
    outcomes_of_choices.purchase_no, outcomes_of_choices.offer_no, $run_no,
    outcomes_of_choices.outcome
from outcomes_of_choices;

-- name: counts
-- What this run considered and what became of it.
select
    count(*) as considered,
    count(*) filter (where merchant_no is null) as merchant_unresolved
from resolutions;

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
