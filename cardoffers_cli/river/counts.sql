-- name: purchases
-- Writes purchase_counts: the purchases that were not counted yet. Nothing where there are none.
insert into purchase_counts (institution_id, purchases, amount, last_purchase_at)
select purchases.institution_id, count(*), sum(purchases.amount), max(purchases.transacted_at)
from purchases
where purchases.purchase_no > counted_purchase_no()
group by purchases.institution_id;

-- name: changes
-- makes: changes(institution_id, run_no, created_at, offer_no, merchant_id, currency, status,
--     purchased_on, redemptions, merchant_funded_amount, commission_amount,
--     institution_payout_amount, purchase_amount)
-- Makes changes: what was not counted yet of redemptions and their states. Grain: one row per match,
-- institution, offer with its merchant, currency, state and day of the purchase.
create temp table changes as
select
    uncounted.institution_id, uncounted.run_no, uncounted.created_at, uncounted.offer_no,
    uncounted.merchant_id, uncounted.currency, uncounted.status, uncounted.purchased_on,
    sum(uncounted.sign) as redemptions,
    sum(uncounted.merchant_funded_amount) as merchant_funded_amount,
    sum(uncounted.commission_amount) as commission_amount,
    sum(uncounted.institution_payout_amount) as institution_payout_amount,
    sum(uncounted.purchase_amount) as purchase_amount
from uncounted_redemptions as uncounted
group by all;

-- name: redemptions
-- reads: changes(institution_id, run_no, created_at, offer_no, merchant_id, currency, status,
--     redemptions, merchant_funded_amount, commission_amount, institution_payout_amount,
--     purchase_amount)
-- Writes redemption_counts.
insert into redemption_counts (
    institution_id, run_no, created_at, offer_no, merchant_id, currency, status, redemptions,
    merchant_funded_amount, commission_amount, institution_payout_amount, purchase_amount
)
select
    changes.institution_id, changes.run_no, changes.created_at, changes.offer_no,
    changes.merchant_id, changes.currency, changes.status, sum(changes.redemptions),
    sum(changes.merchant_funded_amount), sum(changes.commission_amount),
    sum(changes.institution_payout_amount), sum(changes.purchase_amount)
from changes
group by
    changes.institution_id, changes.run_no, changes.created_at, changes.offer_no,
    changes.merchant_id, changes.currency, changes.status;

-- name: purchase_days
-- reads: changes(institution_id, created_at, currency, status, purchased_on, redemptions,
--     institution_payout_amount)
-- Writes purchase_day_counts.
insert into purchase_day_counts (
    institution_id, created_at, currency, status, purchased_on, redemptions,
    institution_payout_amount
)
select
    changes.institution_id, changes.created_at, changes.currency, changes.status,
    changes.purchased_on, sum(changes.redemptions), sum(changes.institution_payout_amount)
from changes
where changes.purchased_on is not null
group by
    changes.institution_id, changes.created_at, changes.currency, changes.status,
    changes.purchased_on;

-- name: offers
-- makes: offers_by_now(institution_id, offer_no, links, redemptions, merchant_funded_amount)
-- Makes offers_by_now: what offer_counts is to be. Grain: that of offer_totals.
create temp table offers_by_now as
select
    offer_totals.institution_id, offer_totals.offer_no, offer_totals.links,
    offer_totals.redemptions, offer_totals.merchant_funded_amount
from offer_totals;

-- name: forget
-- for each: purchase_counts, redemption_counts, purchase_day_counts, offer_counts, counted_up_to
-- Empties {table}; what fills it again follows in the same transaction.
delete from {table};

-- name: keep_offers
-- reads: offers_by_now(institution_id, offer_no, links, redemptions, merchant_funded_amount)
-- Writes offer_counts.
insert into offer_counts (
    institution_id, offer_no, links, redemptions, merchant_funded_amount
)
select
    offers_by_now.institution_id, offers_by_now.offer_no, offers_by_now.links,
    offers_by_now.redemptions, offers_by_now.merchant_funded_amount
from offers_by_now;

-- name: up_to
-- Writes counted_up_to: the newest of what is there, which is counted by now; of runs those that
-- links and changes of state know. No row where nothing is newer.
insert into counted_up_to (purchase_no, redemption_no, run_no)
with newest as (
    select
        (
            select max(purchases.purchase_no)
            from purchases
            where purchases.purchase_no > counted_purchase_no()
        ) as purchase_no,
        (select max(ledger_entries.redemption_no) from ledger_entries) as redemption_no,
        greatest(
            (
                select max(ledger_moves.run_no)
                from ledger_moves
                where ledger_moves.run_no > counted_run_no()
            ),
            (select max(links.run_no) from links where links.run_no > counted_run_no())
        ) as run_no
)
select
    greatest(newest.purchase_no, counted_purchase_no()),
    greatest(newest.redemption_no, counted_redemption_no()),
    greatest(newest.run_no, counted_run_no())
from newest
where newest.purchase_no > counted_purchase_no()
    or newest.redemption_no > counted_redemption_no()
    or newest.run_no > counted_run_no();
