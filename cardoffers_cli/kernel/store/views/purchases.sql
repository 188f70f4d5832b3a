-- Purchases and what was decided of them. The first four are what every reader reads: a store that
-- has a history shows more by these names, for as long as it is open (`archive/archive.py`).

-- name: purchases
-- Grain: one row per accepted transaction event.
create or replace view purchases as
select
    recent_purchases.purchase_no,
    recent_purchases.institution_id,
    recent_purchases.transaction_ref,
    recent_purchases.cardholder_no,
    recent_purchases.instrument_no,
    recent_purchases.identifier_no,
    recent_purchases.merchant_id,
    recent_purchases.amount,
    recent_purchases.currency,
    recent_purchases.transacted_at,
    recent_purchases.received_at,
    recent_purchases.import_no,
    recent_purchases.line
from recent_purchases;

-- name: purchase_details
-- Grain: one row per purchase that carried any of the optional fields.
create or replace view purchase_details as
select
    recent_purchase_details.purchase_no,
    recent_purchase_details.institution_id,
    recent_purchase_details.instrument_type,
    recent_purchase_details.mcc,
    recent_purchase_details.merchant_descriptor,
    recent_purchase_details.network
from recent_purchase_details;

-- name: decisions
-- Grain: one row per purchase and run that decided it; the newest counts.
create or replace view decisions as
select
    recent_decisions.purchase_no,
    recent_decisions.run_no,
    recent_decisions.outcome,
    recent_decisions.merchant_no
from recent_decisions;

-- name: outcomes
-- Grain: one row per decided purchase and offer of its merchant that its cardholder had a link to.
create or replace view outcomes as
select
    recent_outcomes.purchase_no,
    recent_outcomes.offer_no,
    recent_outcomes.run_no,
    recent_outcomes.outcome
from recent_outcomes;

-- name: identified_purchases
-- Purchases with the merchant that they were made at: the one of the merchant_id that came with
-- them, if that is known, else their identifier's (rules.md#resolving); null while nobody knows it.
-- Grain: one row per purchase.
create or replace view identified_purchases as
select
    purchases.purchase_no,
    purchases.institution_id,
    purchases.transaction_ref,
    purchases.cardholder_no,
    purchases.instrument_no,
    purchases.identifier_no,
    purchases.merchant_id as sent_merchant_id,
    purchases.amount,
    purchases.currency,
    purchases.transacted_at,
    purchases.received_at,
    purchases.import_no,
    purchases.line,
    identifiers.merchant_identifier_type,
    identifiers.merchant_identifier,
    merchants.merchant_id,
    merchants.merchant_no,
    merchants.name as merchant_name,
    merchants.category
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
    purchases.purchase_no,
    purchases.institution_id,
    purchases.cardholder_no,
    purchases.identifier_no,
    purchases.merchant_id,
    purchases.amount,
    purchases.currency,
    purchases.transacted_at
from purchases
where purchases.purchase_no > (select max(match_watermark.purchase_no) from match_watermark)
union all
select
    unresolved_purchases.purchase_no,
    unresolved_purchases.institution_id,
    unresolved_purchases.cardholder_no,
    unresolved_purchases.identifier_no,
    unresolved_purchases.merchant_id,
    unresolved_purchases.amount,
    unresolved_purchases.currency,
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
where not exists (
        select 1
        from identifiers
        inner join merchants on merchants.merchant_id = identifiers.merchant_id
        where identifiers.identifier_no = waiting.identifier_no
    )
    and not exists (
        select 1
        from merchants
        where merchants.merchant_id = waiting.merchant_id
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
