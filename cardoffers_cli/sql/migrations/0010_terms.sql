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

-- name: commission_of
-- The commission on one redemption: the one place of the formula in SQL (decisions, Money). Widened
-- to 38 digits before the multiplication.
create macro commission_of(cashback_amount, commission_rate, minor_unit) as round_to_minor_unit(
    cast(cashback_amount as decimal(28, 4)) * commission_rate, minor_unit
);

-- name: offer_terms
-- What an offer is now, and what a redemption by these terms costs its merchant.
-- Grain: one row per offer.
create or replace view offer_terms as
with costed as (
    select
        offers.*,
        commission_of(offers.cashback_amount, offers.commission_rate, currencies.minor_unit)
            as commission_amount
    from offers
    inner join currencies on currencies.currency = offers.currency
)
select
    costed.*,
    cast(costed.cashback_amount + costed.commission_amount as decimal(18, 4))
        as merchant_funded_amount,
    merchants.merchant_no
from costed
inner join merchants on merchants.merchant_id = costed.merchant_id;

-- name: terms_in_force
-- The terms that a purchase is judged by: those of the newest version known at its moment, which is
-- in [known_from, known_until), and the first version's where none was known; merchant, dates and
-- budget are those of the offer now. A version that a later one was back-dated over holds never, and
-- is left out. Grain: one row per offer and version.
create view terms_in_force as
with numbered as (
    select
        offer_versions.offer_no,
        offer_versions.run_no as version_no,
        offer_versions.known_at,
        offer_versions.min_spend,
        offer_versions.cashback_amount,
        offer_versions.commission_rate,
        offer_versions.max_redemptions_per_cardholder,
        row_number() over (
            partition by offer_versions.offer_no
            order by offer_versions.run_no
        ) = 1 as is_first,
        min(offer_versions.known_at) over (
            partition by offer_versions.offer_no
            order by offer_versions.run_no
            rows between 1 following and unbounded following
        ) as overtaken_at
    from offer_versions
),
costed as (
    select
        offers.offer_no,
        offers.offer_id,
        merchants.merchant_no,
        numbered.version_no,
        case when numbered.is_first then timestamp '0001-01-01' else numbered.known_at end
            as known_from,
        coalesce(numbered.overtaken_at, timestamp '9999-12-31') as known_until,
        numbered.min_spend,
        numbered.cashback_amount,
        numbered.max_redemptions_per_cardholder,
        commission_of(numbered.cashback_amount, numbered.commission_rate, currencies.minor_unit)
            as commission_amount,
        offers.budget_amount,
        offers.starts_at,
        offers.expires_at
    from numbered
    inner join offers on offers.offer_no = numbered.offer_no
    inner join currencies on currencies.currency = offers.currency
    inner join merchants on merchants.merchant_id = offers.merchant_id
)
select
    costed.offer_no,
    costed.offer_id,
    costed.merchant_no,
    costed.version_no,
    costed.known_from,
    costed.known_until,
    costed.min_spend,
    costed.cashback_amount,
    costed.commission_amount,
    cast(costed.cashback_amount + costed.commission_amount as decimal(18, 4))
        as merchant_funded_amount,
    costed.max_redemptions_per_cardholder,
    costed.budget_amount,
    costed.starts_at,
    costed.expires_at
from costed
where costed.known_from < costed.known_until;

-- name: version_judged_by
-- The version (its run) of an offer that a run judges a purchase by, from what the run knew.
create macro version_judged_by(of_offer_no, bought_at, in_run_no) as (
    select
        coalesce(
            max(offer_versions.run_no) filter (
                where offer_versions.known_at <= bought_at
                    or in_run_no <= (
                        select terms_of_purchases.after_run_no
                        from terms_of_purchases
                    )
            ),
            min(offer_versions.run_no)
        )
    from offer_versions
    where offer_versions.offer_no = of_offer_no
        and offer_versions.run_no < in_run_no
);

-- name: link_starts
-- Since when a link counts: from the beginning of the second in which it was added, because the
-- records of purchases know no smaller unit. Grain: one row per link.
create view link_starts as
select
    links.institution_id,
    links.cardholder_no,
    links.offer_no,
    date_trunc('second', links.added_at) as counts_from,
    links.run_no
from links;

-- name: held_back
-- Whether an event from before its webhook was set is not to be sent, because somebody said so.
alter table outbox add column is_held_back boolean;

-- name: deliveries
-- How far the event of each redemption is. What still waits is `stopped` where it is held back, or
-- where the redemption was reversed. Grain: one row per event.
create or replace view deliveries as
with joined as (
    select
        outbox.redemption_no,
        outbox.redemption_id,
        outbox.institution_id,
        institutions.slug as institution,
        institutions.webhook_url,
        ledger_entries.offer_no,
        outbox.occurred_at,
        outbox.state,
        outbox.state in ('due', 'failed') as is_waiting,
        coalesce(outbox.is_held_back, false) or ledger_entries.status = 'reversed' as is_stopped,
        outbox.attempts,
        outbox.failures,
        outbox.next_attempt_at,
        outbox.claimed_at
    from outbox
    inner join institutions on institutions.institution_id = outbox.institution_id
    inner join ledger_entries
        on ledger_entries.redemption_no = outbox.redemption_no
        and ledger_entries.institution_id = outbox.institution_id
)
select
    joined.redemption_no,
    joined.redemption_id,
    joined.institution_id,
    joined.institution,
    joined.webhook_url,
    joined.offer_no,
    joined.occurred_at,
    case when joined.is_waiting and joined.is_stopped then 'stopped' else joined.state end as state,
    joined.attempts,
    joined.failures,
    case when not joined.is_stopped then joined.next_attempt_at end as next_attempt_at,
    joined.claimed_at
from joined;

-- name: stops_of_before
-- A receiver that answers 410 stops nothing any more: what it stopped is due as its schedule says.
drop table webhook_stops;
