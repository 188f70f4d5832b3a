-- name: versions_known
-- The versions of offers with the moment from which each counts, to take the place of
-- offer_versions.
create table versions_known (
    offer_no integer not null,
    run_no bigint not null,
    known_at timestamp not null,
    merchant_id uuid not null,
    min_spend decimal(18, 4) not null,
    cashback_amount decimal(18, 4) not null,
    commission_rate decimal(9, 6) not null,
    budget_amount decimal(18, 4),
    starts_at timestamp not null,
    expires_at timestamp not null,
    max_redemptions_per_cardholder integer
);

-- name: versions_of_before
-- Reads offer_versions and runs; writes versions_known. A version of before counts from the clock of
-- the import that brought it.
insert into versions_known
select
    offer_versions.offer_no,
    offer_versions.run_no,
    coalesce(runs.as_of, offer_versions.starts_at),
    offer_versions.merchant_id,
    offer_versions.min_spend,
    offer_versions.cashback_amount,
    offer_versions.commission_rate,
    offer_versions.budget_amount,
    offer_versions.starts_at,
    offer_versions.expires_at,
    offer_versions.max_redemptions_per_cardholder
from offer_versions
left join runs on runs.run_no = offer_versions.run_no;

-- name: versions_without
-- Makes room for the table that takes its name.
drop table offer_versions;

-- name: offer_versions
-- Grain: one row per offer and run that changed it, or since when its terms count. `known_at` is the
-- clock of the import, or the `effective_at` that it gave; the first version counts from the
-- beginning, whatever its `known_at`. A purchase is judged by cashback, minimum, commission and
-- limit of the newest version known at its moment, and by dates, merchant and budget of the newest
-- of all. Append only.
alter table versions_known rename to offer_versions;

-- name: terms_of_purchases
-- Grain: one row. Runs up to this one decided by the terms that were newest at the run; later ones
-- by the terms in force at each purchase.
create table terms_of_purchases (
    after_run_no bigint not null
);

-- name: runs_of_before
-- Writes terms_of_purchases: all that was decided by now stands as it was decided.
insert into terms_of_purchases (after_run_no)
select coalesce(max(runs.run_no), 0)
from runs;

-- name: version_of_redemption
-- The version (its run) whose terms a redemption was given.
alter table redemptions add column version_no bigint;

-- name: versions_of_redemptions
-- Writes the versions of earlier redemptions: the newest before the run that decided them.
update redemptions
set version_no = found.version_no
from (
    select redemptions.redemption_no, max(offer_versions.run_no) as version_no
    from redemptions
    inner join offer_versions
        on offer_versions.offer_no = redemptions.offer_no
        and offer_versions.run_no < redemptions.run_no
    group by redemptions.redemption_no
) as found
where found.redemption_no = redemptions.redemption_no;

-- name: held_back
-- Whether an event from before its webhook was set is not to be sent, because somebody said so.
alter table outbox add column is_held_back boolean;

-- name: stops_of_before
-- A receiver that answers 410 stops nothing any more: what it stopped is due as its schedule says.
drop table webhook_stops;
