-- name: watermark
-- makes: watermark(purchase_no)
-- Makes watermark: the last purchase that a match looked at; null, behind which nothing lies, where
-- that was lost, as to look again would decide twice. Grain: one row.
create temp table watermark as
select max(match_watermark.purchase_no) as purchase_no
from match_watermark;

-- name: known_now
-- makes: known_now(purchase_no, cardholder_no, identifier_no, merchant_id, amount, transacted_at)
-- Makes known_now: the purchases that no match found a merchant for, and whose merchant is known by
-- now, be it by the merchant_id that they were sent with or by their identifier, which is looked for
-- first as that is quicker. Those of erased cardholders earn nothing any more (rules.md#erasure).
-- Grain: one row per purchase.
create temp table known_now as
with known as (
    select unresolved_purchases.purchase_no
    from unresolved_purchases
    where unresolved_purchases.identifier_no in (
        select identifiers.identifier_no
        from identifiers
        inner join merchants on merchants.merchant_id = identifiers.merchant_id
    )
    union
    select unresolved_purchases.purchase_no
    from unresolved_purchases
    where unresolved_purchases.merchant_id in (select merchants.merchant_id from merchants)
)
select
    unresolved_purchases.purchase_no, unresolved_purchases.cardholder_no,
    unresolved_purchases.identifier_no, unresolved_purchases.merchant_id,
    unresolved_purchases.amount, unresolved_purchases.transacted_at
from known
inner join unresolved_purchases on unresolved_purchases.purchase_no = known.purchase_no
anti join erasures using (institution_id, cardholder_no);

-- name: still_unknown
-- reads: known_now(purchase_no)
-- How many purchases go on waiting for their merchant, whatever is decided of the others.
select
    (select count(*) from unresolved_purchases) - count(known_now.purchase_no) as still_unknown
from known_now;

-- name: refunded
-- makes: refunded(purchase_no, amount)
-- Makes refunded: what came back of purchases so far, for a match that decides by what is left.
-- Grain: one row per purchase with refunds.
create temp view refunded as
select refunded_purchases.purchase_no, refunded_purchases.amount
from refunded_purchases;

-- name: none_refunded
-- makes: refunded(purchase_no, amount)
-- Makes an empty refunded, for purchases that have only just come. Grain: one row per purchase.
create temp table refunded as
select cast(null as bigint) as purchase_no, cast(null as decimal(18, 4)) as amount
where 1 = 0;

-- name: none_said
-- makes: said_unknown(purchase_no)
-- Makes an empty said_unknown, for purchases that are looked at out of their turn.
create temp table said_unknown as
select cast(null as bigint) as purchase_no
where 1 = 0;

-- name: all_waiting
-- makes: undecided(purchase_no, cardholder_no, identifier_no, merchant_id, amount, transacted_at)
-- Makes undecided of all that waits, be its merchant known or not. Grain: one row per purchase.
create temp view undecided as
select
    waiting_purchases.purchase_no, waiting_purchases.cardholder_no, waiting_purchases.identifier_no,
    waiting_purchases.merchant_id, waiting_purchases.amount, waiting_purchases.transacted_at
from waiting_purchases;

-- name: leave
-- Takes out of what waits the purchases whose merchant a run found. Where it took up none that had
-- waited, the first number says so, and nothing is read; nor where it decided nothing. Idempotent.
delete from unresolved_purchases
where unresolved_purchases.purchase_no >= (
        select coalesce(min(decisions.purchase_no), 9223372036854775807)
        from decisions
        where decisions.run_no = $run_no
            and decisions.outcome <> 'merchant_unresolved'
    )
    and unresolved_purchases.purchase_no in (
        select decisions.purchase_no
        from decisions
        where decisions.run_no = $run_no
            and decisions.outcome <> 'merchant_unresolved'
    );

-- name: wait
-- Writes the purchases that a run found no merchant for, each of which it says once. The engine reads
-- of purchases what lies between the first and the last of them.
insert into unresolved_purchases (
    purchase_no, institution_id, cardholder_no, identifier_no, merchant_id, amount, currency,
    transacted_at
)
select
    purchases.purchase_no, purchases.institution_id, purchases.cardholder_no,
    purchases.identifier_no, purchases.merchant_id, purchases.amount, purchases.currency,
    purchases.transacted_at
from decisions
inner join purchases on purchases.purchase_no = decisions.purchase_no
where decisions.run_no = $run_no
    and decisions.outcome = 'merchant_unresolved';

-- name: advance
-- Writes up to which purchase runs have looked, this one included. Idempotent.
update match_watermark
set purchase_no = greatest(
    match_watermark.purchase_no,
    (
        select coalesce(max(decisions.purchase_no), 0)
        from decisions
        where decisions.run_no = $run_no
    )
);

-- name: import_looked_at
-- makes: import_looked_at(import_no)
-- Makes import_looked_at: the number that a plan cannot be given. Grain: one row.
create temp table import_looked_at as
select cast($import_no as bigint) as import_no;

-- name: of_import
-- makes: undecided(purchase_no, cardholder_no, identifier_no, merchant_id, amount, transacted_at)
-- Makes undecided of one import: its purchases, whatever else waits. Grain: one row per purchase.
create temp table undecided as
select
    purchases.purchase_no, purchases.cardholder_no, purchases.identifier_no,
    purchases.merchant_id, purchases.amount, purchases.transacted_at
from purchases
where purchases.import_no = $import_no;

-- name: of_purchase
-- makes: undecided(purchase_no, cardholder_no, identifier_no, merchant_id, amount, transacted_at)
-- Makes undecided of one purchase, whatever was decided of it. Grain: one row.
create temp table undecided as
select
    purchases.purchase_no, purchases.cardholder_no, purchases.identifier_no,
    purchases.merchant_id, purchases.amount, purchases.transacted_at
from purchases
where purchases.purchase_no = $purchase_no;

-- name: terms_depend_on_purchases
-- Whether the reward or the commission of any version of an offer depends on the purchase.
select count(*) > 0 as is_so
from offer_versions
where offer_versions.reward_type is not null
    or offer_versions.commission_basis is not null;
