-- name: clocks
-- When the newest run was recorded, if that is over a minute later than now, and how many acts were
-- recorded over so many hours from their own time (rules.md#acts); of a rehearsal neither. Grain: one row.
select
    max(runs.machine_at) filter (runs.machine_at - interval 1 minute > $moment)
        as clock_went_back_from,
    count(acts.act_no) filter (
        abs(epoch(acts.happened_at) - epoch(runs.machine_at)) > 3600 * cast($hours as bigint)
    ) as misdated_acts
from runs
left join acts using (run_no)
where not exists (from rehearsal);

-- name: queues
-- What waits and is to become less, how much of it and since when the oldest of it: purchases since
-- they were made, events and ledger entries since their redemption. Reads all institutions, for who
-- operates the service. Grain: one row per queue.
select 'purchases_to_match' as queue, count(*) as length, min(purchases.transacted_at) as oldest_at
from purchases
where purchases.purchase_no > (select match_watermark.purchase_no from match_watermark)
union all
select 'purchases_of_unknown_merchants', count(*), min(unresolved_purchases.transacted_at)
from unresolved_purchases
union all
select 'webhooks', count(*), min(deliveries.occurred_at)
from deliveries
where deliveries.state in ('due', 'failed')
union all
select 'ledger_entries_pending', count(*), min(ledger_entries.created_at)
from ledger_entries
where ledger_entries.status = 'pending'
union all
select 'approvals', count(*), min(approvals.requested_at)
from approvals
where approval_state(approvals.answer, approvals.used_at, approvals.expires_at, $now) = 'pending';
