-- Purchases and what was decided of them. The first four are what every reader reads: a store that
-- has a history shows more by these names, for as long as it is open (`archive/archive.py`).
--
-- What is counted without reading all there is: the kept counts (`river/counts` writes them), and
-- on top what came after them. Purchases and redemptions are numbered in the order in which they are
-- written, and a change of state, as a link, is known by its run: so what came after is read alone.

-- name: purchases
-- Grain: one row per accepted transaction event.
create or replace view purchases as
select
    recent_purchases.purchase_no, recent_purchases.institution_id, recent_purchases.transaction_ref,
    recent_purchases.cardholder_no, recent_purchases.instrument_no, recent_purchases.identifier_no,
    recent_purchases.merchant_id, recent_purchases.amount, recent_purchases.currency,
    recent_purchases.transacted_at, recent_purchases.received_at, recent_purchases.import_no,
    recent_purchases.line
from recent_purchases;

-- name: purchase_details
-- Grain: one row per purchase that carried any of the optional fields.
create or replace view purchase_details as
select
    recent_purchase_details.purchase_no, recent_purchase_details.institution_id,
    recent_purchase_details.instrument_type, recent_purchase_details.mcc,
    recent_purchase_details.merchant_descriptor, recent_purchase_details.network
from recent_purchase_details;

-- name: decisions
-- Grain: one row per purchase and run that decided it; the newest counts.
create or replace view decisions as
select
    recent_decisions.purchase_no, recent_decisions.run_no, recent_decisions.outcome,
    recent_decisions.merchant_no
from recent_decisions;

-- name: outcomes
-- Grain: one row per decided purchase and offer of its merchant that its cardholder had a link to.
create or replace view outcomes as
select
    recent_outcomes.purchase_no, recent_outcomes.offer_no, recent_outcomes.run_no,
    recent_outcomes.outcome
from recent_outcomes;

-- name: identified_purchases
-- Purchases with the merchant that they were made at: the one of the merchant_id that came with
-- them, if that is known, else their identifier's (rules.md#resolving); null while nobody knows it.
-- Grain: one row per purchase.
create or replace view identified_purchases as
select
    purchases.purchase_no, purchases.institution_id, purchases.transaction_ref,
    purchases.cardholder_no, purchases.instrument_no, purchases.identifier_no,
    purchases.merchant_id as sent_merchant_id, purchases.amount, purchases.currency,
    purchases.transacted_at, purchases.received_at, purchases.import_no, purchases.line,
    identifiers.merchant_identifier_type, identifiers.merchant_identifier, merchants.merchant_id,
    merchants.merchant_no, merchants.name as merchant_name, merchants.category
from purchases
left join identifiers on identifiers.identifier_no = purchases.identifier_no
left join merchants as named on named.merchant_id = purchases.merchant_id
left join merchants
    on merchants.merchant_id = coalesce(named.merchant_id, identifiers.merchant_id);

-- name: last_purchase
-- The number behind which new purchases are numbered: the highest there is, and none that a match
-- looked at, or that was withdrawn, whatever became of its row. Grain: one row.
create or replace view last_purchase as
select
    greatest(
        (select coalesce(max(purchases.purchase_no), 0) from purchases),
        (select max(match_watermark.purchase_no) from match_watermark),
        (select max(withdrawn_imports.last_purchase_no) from withdrawn_imports)
    ) as purchase_no;

-- name: waiting_purchases
-- All purchases that wait for a match: those that none has looked at, and those whose merchant it
-- did not know (rules.md#standing-decisions). Grain: one row per purchase.
create or replace view waiting_purchases as
select
    purchases.purchase_no, purchases.institution_id, purchases.cardholder_no,
    purchases.identifier_no, purchases.merchant_id, purchases.amount, purchases.currency,
    purchases.transacted_at
from purchases
where purchases.purchase_no > (select max(match_watermark.purchase_no) from match_watermark)
union all
select
    unresolved_purchases.purchase_no, unresolved_purchases.institution_id,
    unresolved_purchases.cardholder_no, unresolved_purchases.identifier_no,
    unresolved_purchases.merchant_id, unresolved_purchases.amount, unresolved_purchases.currency,
    unresolved_purchases.transacted_at
from unresolved_purchases;

-- name: unknown_purchases
-- The waiting purchases of a window whose merchant nobody knows as things are now: a decided one has
-- a merchant, and merchants never go. They are counted first, as they name few merchants, and only
-- those are looked up. No institution means all, and no moment no end of the window. Grain: one row
-- per institution, identifier (or merchant_id sent), currency and cardholder.
create or replace macro unknown_purchases(of_institution_id, from_at, to_at) as table
with waiting as (
    select
        waiting_purchases.institution_id,
        waiting_purchases.identifier_no,
        waiting_purchases.merchant_id,
        waiting_purchases.currency,
        waiting_purchases.cardholder_no,
        count(*) as purchases,
        sum(waiting_purchases.amount) as amount,
        min(waiting_purchases.transacted_at) as first_seen_at,
        max(waiting_purchases.transacted_at) as last_seen_at
    from waiting_purchases
    where (of_institution_id is null or waiting_purchases.institution_id = of_institution_id)
        and (from_at is null or waiting_purchases.transacted_at >= from_at)
        and (to_at is null or waiting_purchases.transacted_at < to_at)
    group by
        waiting_purchases.institution_id, waiting_purchases.identifier_no,
        waiting_purchases.merchant_id, waiting_purchases.currency, waiting_purchases.cardholder_no
)
select waiting.*
from waiting
anti join merchants on merchants.merchant_id = waiting.merchant_id
where not exists (
        select 1
        from identifiers
        inner join merchants on merchants.merchant_id = identifiers.merchant_id
        where identifiers.identifier_no = waiting.identifier_no
    );

-- name: purchase_turn
-- The turn of a purchase among others (rules.md#redeeming): turns are compared as they are.
-- `river/plan/redeem.sql` says the same in the form that every engine knows.
create or replace macro purchase_turn(transacted_at, institution_id, transaction_ref) as row(
    transacted_at, cast(institution_id as varchar), transaction_ref
);

-- name: look_of
-- A number that purchases with the same instrument, amount and second have in common, and hardly any
-- others. It is stored (purchase_looks), so it must never change.
create or replace macro look_of(instrument_no, amount, transacted_at) as xor(
    instrument_no * 4294967296 + epoch_ms(date_trunc('second', transacted_at)) // 1000,
    cast(cast(amount as decimal(28, 4)) * 10000 as bigint) % 2147483648 * 2147483648
);

-- name: masks_of
-- References that look like card numbers, and what is kept in their place, of a list of structs.
create or replace macro masks_of(masks) as table
select unnest(cast(masks as struct(transaction_ref varchar, masked varchar)[]), recursive := true);

-- name: latest_decisions
-- What counts of each decided purchase: the newest decision. It is for many of them: all decisions
-- are put in groups first, even where few are asked for. Grain: one row per decided purchase.
create or replace view latest_decisions as
select
    decisions.purchase_no,
    max(decisions.run_no) as run_no,
    max_by(decisions.outcome, decisions.run_no) as outcome,
    arg_max_null(decisions.merchant_no, decisions.run_no) as merchant_no
from decisions
group by decisions.purchase_no;

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
left join redemptions using (redemption_no, institution_id);

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

-- name: redemption_totals_within
-- Those of an institution, a state and a span of time, each of which may be null: any. Grain as there.
create or replace macro redemption_totals_within(of_institution_id, of_status, from_at, to_at)
as table
select redemption_totals.*
from redemption_totals
where (of_institution_id is null or redemption_totals.institution_id = of_institution_id)
    and (of_status is null or redemption_totals.status = of_status)
    and (from_at is null or redemption_totals.created_at >= from_at)
    and (to_at is null or redemption_totals.created_at < to_at);

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
    select entries.institution_id, entries.offer_no, 0, entries.sign, entries.merchant_funded_amount
    from uncounted_entries as entries
    where entries.status <> 'reversed'
)
select
    parts.institution_id, parts.offer_no, cast(sum(parts.links) as bigint) as links,
    cast(sum(parts.redemptions) as bigint) as redemptions,
    cast(sum(parts.merchant_funded_amount) as decimal(38, 4)) as merchant_funded_amount
from parts
group by parts.institution_id, parts.offer_no;

-- name: redemption_entries
-- Redemptions with the money and the state of their ledger entry, which is written with them: it is
-- as old, and of the same cardholder and offer, which an audit holds. Grain: one row per redemption.
create or replace view redemption_entries as
select
    redemptions.*, ledger_entries.entry_id, ledger_entries.merchant_id, ledger_entries.currency,
    ledger_entries.merchant_funded_amount, ledger_entries.commission_amount,
    ledger_entries.institution_payout_amount, ledger_entries.status, ledger_entries.settles_at,
    ledger_entries.settled_at, ledger_entries.reversed_at, ledger_entries.reversal_reason,
    ledger_entries.settlement_no
from redemptions
inner join ledger_entries using (redemption_no, institution_id);

-- name: open_adjustments
-- Adjustments that a settlement is to take: of what was reversed before it settled, it takes none.
-- Grain: one row per adjustment.
create or replace view open_adjustments as
select adjustments.*
from adjustments
anti join ledger_entries
    on ledger_entries.redemption_no = adjustments.redemption_no
    and ledger_entries.status = 'reversed'
    and ledger_entries.settlement_no is null
where adjustments.settlement_no is null;

-- name: redemption_facts
-- Redemptions with their ledger entry, and what people know them by: the offer, the merchant, the
-- settlement. Of their purchase they say themselves what they are told with. Titles are not here: a
-- page of a report looks up those of its own rows only.
-- Grain: one row per redemption.
create or replace view redemption_facts as
select
    redemption_entries.*, institutions.slug as institution, institutions.languages, offers.offer_id,
    merchants.name as merchant_name, settlements.settlement_id,
    settlements.run_no as settled_by_run_no
from redemption_entries
inner join institutions on institutions.institution_id = redemption_entries.institution_id
inner join offers on offers.offer_no = redemption_entries.offer_no
left join merchants on merchants.merchant_id = redemption_entries.merchant_id
left join settlements
    on settlements.settlement_no = redemption_entries.settlement_no
    and settlements.institution_id = redemption_entries.institution_id;

-- name: last_redemption
-- The number behind which new redemptions are numbered, those of withdrawn files included.
-- Grain: one row.
create or replace view last_redemption as
select
    greatest(
        (select coalesce(max(redemptions.redemption_no), 0) from redemptions),
        (select max(withdrawn_imports.last_redemption_no) from withdrawn_imports)
    ) as redemption_no;
