-- name: institutions
-- What came in and what became of it, by the kept counts and what came after. Grain: one row per institution.
with imported as (
    select imports.institution_id, count(*) as imports, max(imports.imported_at) as last_import_at
    from imports
    group by imports.institution_id
),
enrolled as (
    select offer_totals.institution_id, sum(offer_totals.links) as links
    from offer_totals
    group by offer_totals.institution_id
),
owed as (
    select
        entries.institution_id,
        sum(entries.redemptions) filter (where entries.status = 'pending') as pending,
        sum(entries.redemptions) filter (where entries.status = 'settled') as settled,
        sum(entries.redemptions) filter (where entries.status = 'reversed') as reversed,
        sum(entries.institution_payout_amount)
            filter (where entries.status = 'pending') as pending_payout_amount,
        sum(entries.institution_payout_amount)
            filter (where entries.status = 'settled') as settled_payout_amount
    from redemption_totals as entries
    group by entries.institution_id
)
select
    institutions.slug as institution, institutions.plan, institutions.currency,
    coalesce(imported.imports, 0) as imports, coalesce(purchased.purchases, 0) as purchases,
    coalesce(purchased.amount, 0) as amount,
    cast(coalesce(enrolled.links, 0) as bigint) as links,
    cast(coalesce(owed.pending, 0) as bigint) as pending,
    cast(coalesce(owed.settled, 0) as bigint) as settled,
    cast(coalesce(owed.reversed, 0) as bigint) as reversed,
    coalesce(owed.pending_payout_amount, 0) as pending_payout_amount,
    coalesce(owed.settled_payout_amount, 0) as settled_payout_amount,
    imported.last_import_at, purchased.last_purchase_at
from institutions
left join purchase_totals as purchased using (institution_id)
left join imported on imported.institution_id = institutions.institution_id
left join enrolled on enrolled.institution_id = institutions.institution_id
left join owed on owed.institution_id = institutions.institution_id
order by institutions.slug;

-- name: totals
-- How much of everything there is, and what waits for something: purchases behind the watermark wait
-- for a match, those it knew no merchant of for that.
select
    (select count(*) from merchants) as merchants,
    (select count(*) from offers) as offers,
    (select count(*) from cardholders) as cardholders,
    (select count(*) from links) as links,
    (
        select count(*)
        from purchases
        where purchases.purchase_no > (select match_watermark.purchase_no from match_watermark)
    ) as not_matched_yet,
    (select count(*) from unresolved_purchases) as merchant_unresolved,
    (select count(*) from open_adjustments) as open_adjustments,
    (select count(*) from refunds)
    - (select count(*) from refund_links)
    - (select count(*) from refund_dismissals)
    - (
        select count(*)
        from refund_outcomes
        where refund_outcomes.net_after is not null
            and refund_outcomes.refund_no not in (select refund_links.refund_no from refund_links)
    ) as refunds_waiting;

-- name: due
-- How many ledger entries a settle run would settle now, and when the first of the others is due.
select
    count(*) filter (where ledger_entries.settles_at <= $now) as due,
    min(ledger_entries.settles_at)
        filter (where ledger_entries.settles_at > $now) as next_settles_at
from ledger_entries
where ledger_entries.status = 'pending';

-- name: webhooks
-- How many redemption events are in which state, and what can be sent now or later: for the first
-- time, or again after a failure. The errors are the commonest causes of the last attempts that
-- failed.
with tried as (
    select deliveries.state, attempts.error, count(*) as times
    from deliveries
    inner join attempts
        on attempts.event_no = deliveries.event_no
        and attempts.institution_id = deliveries.institution_id
        and attempts.number = deliveries.attempts
    where deliveries.state in ('due', 'failed', 'exhausted')
        and attempts.error is not null
    group by deliveries.state, attempts.error
),

counted as (
    select
        count(*) filter (where deliveries.state = 'delivered') as webhooks_delivered,
        count(*) filter (where deliveries.state = 'exhausted') as webhooks_exhausted,
        count(*) filter (where deliveries.state = 'stopped') as webhooks_stopped,
        count(*) filter (
            where deliveries.state in ('due', 'failed') and signing.secret_no is null
        ) as webhooks_unset,
        count(*) filter (
            where signing.secret_no is not null
                and deliveries.state in ('due', 'failed')
                and deliveries.next_attempt_at <= $now
        ) as webhooks_due,
        count(*) filter (
            where signing.secret_no is not null
                and deliveries.state in ('due', 'failed')
                and deliveries.attempts > 0
        ) as webhooks_failed,
        count(*) filter (
            where signing.secret_no is not null
                and deliveries.state in ('due', 'failed')
                and deliveries.attempts > 0
                and deliveries.next_attempt_at <= $now
        ) as webhooks_failed_due,
        min(deliveries.next_attempt_at) filter (
            where signing.secret_no is not null
                and deliveries.state in ('due', 'failed')
        ) as webhooks_next_attempt_at,
        count(*) filter (
            where signing.secret_no is not null
                and deliveries.state in ('due', 'failed')
                and deliveries.next_attempt_at > $now
        ) as webhooks_later
    from deliveries
    left join signing_secrets($now) as signing
        on signing.institution_id = deliveries.institution_id
        and deliveries.webhook_url is not null
)
select
    counted.webhooks_delivered, counted.webhooks_due, counted.webhooks_later,
    counted.webhooks_exhausted, counted.webhooks_stopped, counted.webhooks_unset,
    counted.webhooks_failed, counted.webhooks_failed_due, counted.webhooks_next_attempt_at,
    (
        select max_by(tried.error, (tried.times, tried.error))
        from tried
        where tried.state <> 'exhausted'
    ) as webhooks_failed_error,
    (
        select max_by(tried.error, (tried.times, tried.error))
        from tried
        where tried.state = 'exhausted'
    ) as webhooks_exhausted_error
from counted;

-- name: last_runs
-- The newest run of each kind. Grain: one row per kind.
select kind, max(run_no) as run_no, max_by(run_id, run_no) as run_id, max_by(as_of, run_no) as as_of
from runs
group by kind
order by run_no desc;

-- name: redemptions_by_day
-- How many redemptions each of the 30 days (UTC) up to now saw, the oldest first.
-- Grain: one row per institution.
with days as (
    select unnest(
        range(
            date_trunc('day', cast($now as timestamp)) - interval 29 day,
            cast($now as timestamp) + interval 1 microsecond, interval 1 day
        )
    ) as day
),

counted as (
    select institution_id, date_trunc('day', created_at) as day, sum(redemptions) as redemptions
    from redemption_totals
    where created_at <= $now
        and created_at >= date_trunc('day', cast($now as timestamp)) - interval 29 day
    group by institution_id, date_trunc('day', created_at)
)

select
    institutions.slug as institution,
    list(cast(coalesce(counted.redemptions, 0) as bigint) order by days.day) as redemptions
from institutions
cross join days
left join counted using (institution_id, day)
group by institutions.slug
order by institutions.slug;
