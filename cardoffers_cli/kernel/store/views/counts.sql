-- What is counted without reading all there is: the kept counts (`river/counts` writes them), and
-- on top what came after them. Purchases and redemptions are numbered in the order in which they are
-- written, and a change of state, as a link, is known by its run: so what came after is read alone.

-- name: counted_purchase_no
-- The last purchase that the kept counts know.
create or replace macro counted_purchase_no() as (
    select coalesce(max(counted_up_to.purchase_no), -1)
    from counted_up_to
);

-- name: counted_redemption_no
-- The last redemption that the kept counts know.
create or replace macro counted_redemption_no() as (
    select coalesce(max(counted_up_to.redemption_no), -1)
    from counted_up_to
);

-- name: counted_run_no
-- The last run of which the kept counts know the links and the changes of state.
create or replace macro counted_run_no() as (
    select coalesce(max(counted_up_to.run_no), -1)
    from counted_up_to
);

-- name: first_whole_day
-- The beginning of the first day (UTC) that begins at a moment or after it.
create or replace macro first_whole_day(moment) as date_trunc(
    'day', cast(moment as timestamp) + interval 1 day - interval 1 microsecond
);

-- name: purchase_totals
-- Purchases and what they come to. Grain: one row per institution with any.
create or replace view purchase_totals as
with parts as (
    select
        purchase_counts.institution_id, purchase_counts.purchases, purchase_counts.amount,
        purchase_counts.last_purchase_at
    from purchase_counts
    union all
    select purchases.institution_id, count(*), sum(purchases.amount), max(purchases.transacted_at)
    from purchases
    where purchases.purchase_no > counted_purchase_no()
    group by purchases.institution_id
)
select
    parts.institution_id, cast(sum(parts.purchases) as bigint) as purchases,
    cast(sum(parts.amount) as decimal(38, 4)) as amount,
    max(parts.last_purchase_at) as last_purchase_at
from parts
group by parts.institution_id;

-- name: uncounted_entries
-- Ledger entries that the kept counts do not know, or not in the state they are in: `sign` is 1 for
-- the state that an entry is in now, and -1 for the one that it was counted in. A settle run or a
-- reversal writes its moves in the transaction that numbers it, so a later run is a later number.
-- Grain: one row per entry and state.
create or replace view uncounted_entries as
with moved as (
    select ledger_moves.redemption_no, bool_or(ledger_moves.status = 'settled') as was_pending
    from ledger_moves
    where ledger_moves.run_no > counted_run_no()
        and ledger_moves.redemption_no <= counted_redemption_no()
        and ledger_moves.status <> 'pending'
    group by ledger_moves.redemption_no
),
changed as (
    select
        ledger_entries.redemption_no, ledger_entries.institution_id, ledger_entries.created_at,
        ledger_entries.offer_no, ledger_entries.merchant_id, ledger_entries.currency,
        ledger_entries.status, cast(null as varchar) as counted_status,
        ledger_entries.merchant_funded_amount, ledger_entries.commission_amount,
        ledger_entries.institution_payout_amount
    from ledger_entries
    where ledger_entries.redemption_no > counted_redemption_no()
    union all
    select
        ledger_entries.redemption_no, ledger_entries.institution_id, ledger_entries.created_at,
        ledger_entries.offer_no, ledger_entries.merchant_id, ledger_entries.currency,
        ledger_entries.status,
        case
            when moved.was_pending or ledger_entries.settled_at is null then 'pending'
            else 'settled'
        end,
        ledger_entries.merchant_funded_amount, ledger_entries.commission_amount,
        ledger_entries.institution_payout_amount
    from moved
    inner join ledger_entries on ledger_entries.redemption_no = moved.redemption_no
),
signs as (
    select 1 as sign
    union all
    select -1
)
select
    changed.redemption_no, changed.institution_id, changed.created_at, changed.offer_no,
    changed.merchant_id, changed.currency, signs.sign,
    case when signs.sign = 1 then changed.status else changed.counted_status end as status,
    signs.sign * changed.merchant_funded_amount as merchant_funded_amount,
    signs.sign * changed.commission_amount as commission_amount,
    signs.sign * changed.institution_payout_amount as institution_payout_amount
from changed
cross join signs
where signs.sign = 1
    or changed.counted_status is not null;

-- name: uncounted_redemptions
-- The same, with what is counted of their redemptions and of what these say of their purchases; of a
-- lost one there is nothing.
-- Grain: that of uncounted_entries.
create or replace view uncounted_redemptions as
select
    entries.institution_id, redemptions.run_no, entries.created_at, entries.offer_no,
    entries.merchant_id, entries.currency, entries.status, entries.sign,
    entries.merchant_funded_amount, entries.commission_amount, entries.institution_payout_amount,
    coalesce(entries.sign * redemptions.purchase_amount, 0) as purchase_amount,
    cast(redemptions.purchased_at as date) as purchased_on
from uncounted_entries as entries
left join redemptions
    on redemptions.redemption_no = entries.redemption_no
    and redemptions.institution_id = entries.institution_id;

-- name: redemption_totals
-- Redemptions by the match that made them, by offer and by state; all redemptions of a match have
-- its moment. Grain: rows to be summed.
create or replace view redemption_totals as
select
    redemption_counts.institution_id, redemption_counts.run_no, redemption_counts.created_at,
    redemption_counts.offer_no, redemption_counts.merchant_id, redemption_counts.currency,
    redemption_counts.status, redemption_counts.redemptions,
    redemption_counts.merchant_funded_amount, redemption_counts.commission_amount,
    redemption_counts.institution_payout_amount, redemption_counts.purchase_amount
from redemption_counts
union all
select
    uncounted.institution_id, uncounted.run_no, uncounted.created_at, uncounted.offer_no,
    uncounted.merchant_id, uncounted.currency, uncounted.status, uncounted.sign,
    uncounted.merchant_funded_amount, uncounted.commission_amount,
    uncounted.institution_payout_amount, uncounted.purchase_amount
from uncounted_redemptions as uncounted;

-- name: purchase_day_totals
-- Redemptions by their moment, by state and by the day of their purchase, those of a lost purchase
-- left out. Grain: rows to be summed.
create or replace view purchase_day_totals as
select
    purchase_day_counts.institution_id, purchase_day_counts.created_at,
    purchase_day_counts.currency, purchase_day_counts.status, purchase_day_counts.purchased_on,
    purchase_day_counts.redemptions, purchase_day_counts.institution_payout_amount
from purchase_day_counts
union all
select
    uncounted.institution_id, uncounted.created_at, uncounted.currency, uncounted.status,
    uncounted.purchased_on, uncounted.sign, uncounted.institution_payout_amount
from uncounted_redemptions as uncounted
where uncounted.purchased_on is not null;

-- name: offer_totals
-- Links to an offer, and what its redemptions hold of its budget, which a reversal gives back.
-- Grain: one row per institution and offer with any.
create or replace view offer_totals as
with parts as (
    select
        offer_counts.institution_id, offer_counts.offer_no, offer_counts.links,
        offer_counts.redemptions, offer_counts.merchant_funded_amount
    from offer_counts
    union all
    select links.institution_id, links.offer_no, 1, 0, 0
    from links
    where links.run_no > counted_run_no()
    union all
    select
        entries.institution_id, entries.offer_no, 0, entries.sign, entries.merchant_funded_amount
    from uncounted_entries as entries
    where entries.status <> 'reversed'
)
select
    parts.institution_id, parts.offer_no, cast(sum(parts.links) as bigint) as links,
    cast(sum(parts.redemptions) as bigint) as redemptions,
    cast(sum(parts.merchant_funded_amount) as decimal(38, 4)) as merchant_funded_amount
from parts
group by parts.institution_id, parts.offer_no;
