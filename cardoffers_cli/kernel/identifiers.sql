-- name: redemption
-- The ids of redemptions between two ids, of one institution or of all; nulls bound nothing.
-- Grain: one row per redemption, the newest first.
select redemption_id as id
from redemptions
where ($institution_id is null or institution_id = $institution_id)
    and ($first is null or redemption_id between $first and $last)
order by redemption_no desc
limit $most;

-- name: redemption_of_ref
-- The redemptions of the purchases with a reference. Grain: one row per institution that has one.
select institutions.slug, redemptions.redemption_id as id
from purchases
inner join redemptions using (purchase_no, institution_id)
inner join institutions on institutions.institution_id = purchases.institution_id
where purchases.purchase_no in (select unnest(cast($purchase_nos as bigint[])))
order by institutions.slug;

-- name: subject
-- The id of what an event is of, other than a redemption, by what people call it; of a kind that is
-- named also the latest. Grain: one row, or none.
select outbox.subject_id as id
from outbox
where outbox.redemption_no is null
    and ($event is null or outbox.kind = $event)
    and (lower(outbox.subject) = lower($given) or ($given = 'latest' and $event is not null))
order by outbox.event_no desc
limit 1;

-- name: key
-- As redemption, of API keys.
select key_id as id
from api_keys
where ($institution_id is null or institution_id = $institution_id)
    and ($first is null or key_id between $first and $last)
order by created_at desc, key_id
limit $most;

-- name: approval
-- As redemption, of requests for approvals.
select approval_id as id
from approvals
where ($institution_id is null or institution_id = $institution_id)
    and ($first is null or approval_id between $first and $last)
order by requested_at desc, approval_id
limit $most;

-- name: import
-- As redemption, of imports of files, those that were withdrawn among them.
with files as (
    select import_id, institution_id, import_no
    from imports
    where file_kind <> 'call'
    union all
    select import_id, institution_id, import_no
    from withdrawn_imports
)
select import_id as id
from files
where ($institution_id is null or institution_id = $institution_id)
    and ($first is null or import_id between $first and $last)
order by import_no desc
limit $most;

-- name: run
-- As redemption, of runs of every kind, which are no institution's; the newest is the newest night
-- where there is one.
select runs.run_id as id
from runs
left join nights on nights.run_id = runs.run_id
where $institution_id is null
    and ($first is null or runs.run_id between $first and $last)
order by nights.night_no desc nulls last, runs.run_no desc
limit $most;

-- name: unfinished_night
-- As redemption, of the nights that have not ended.
select run_id as id
from nights
where $institution_id is null
    and ended_at is null
    and ($first is null or run_id between $first and $last)
order by night_no desc
limit $most;

-- name: message
-- As redemption, of the messages of an institution's inbox.
select message_id as id
from inbox_messages
where ($institution_id is null or institution_id = $institution_id)
    and ($first is null or message_id between $first and $last)
order by created_at desc, message_id
limit $most;

-- name: told
-- As redemption, of whatever an institution's timeline can begin with and has its id written down.
with told as (
    select redemption_id as id, created_at as told_at, redemption_no as number
    from redemptions
    where institution_id = $institution_id
        and ($first is null or redemption_id between $first and $last)
    union all
    select entry_id, created_at, redemption_no
    from ledger_entries
    where institution_id = $institution_id
        and entry_id between $first and $last
    union all
    select settlement_id, settled_at, settlement_no
    from settlements
    where institution_id = $institution_id
        and settlement_id between $first and $last
    union all
    select import_id, imported_at, import_no
    from imports
    where institution_id = $institution_id
        and import_id between $first and $last
)
select id
from told
order by told_at desc, number desc, id
limit $most;

-- name: offer
-- The ids of offers with a beginning; an offer of just that id comes first. Grain: one row per
-- offer, the newest first.
select offer_id as id
from offers
where starts_with(offer_id, $beginning)
order by offer_id = $beginning desc, offer_no desc
limit $most;

-- name: merchant
-- As redemption, of merchants, which are no institution's.
select merchant_id as id
from merchants
where $institution_id is null
    and ($first is null or merchant_id between $first and $last)
order by merchant_no desc
limit $most;

-- name: finding
-- As redemption, of findings of reconciliation.
select finding_id as id
from reconciliation_findings
where ($institution_id is null or institution_id = $institution_id)
    and ($first is null or finding_id between $first and $last)
order by newest_run_no desc, subject desc, subject_no desc, finding_id
limit $most;

-- name: watch_finding
-- As redemption, of findings of the watch.
select finding_id as id
from watch_findings
where ($institution_id is null or institution_id = $institution_id)
    and ($first is null or finding_id between $first and $last)
order by found_at desc, run_no desc, finding_id
limit $most;
