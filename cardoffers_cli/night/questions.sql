-- name: columns_of_a_night
-- A night by its number, or with null the newest one.
select
    nights.night_no, nights.run_id, nights.run_no, nights.as_of, nights.number, nights.drop_folder,
    nights.processed_folder, nights.after_run_no, nights.to_run_no, nights.began_at,
    nights.ended_at, nights.last_run_no
from nights
where $night_no is null or nights.night_no = $night_no
order by nights.night_no desc
limit 1;

-- name: unfinished
-- The nights that have not ended, the oldest first. Grain: one row per night.
select nights.night_no
from nights
where nights.ended_at is null
order by nights.night_no;

-- name: newest_finished
-- The finished night of the latest clock, and the newest run of the store.
select
    max_by(nights.night_no, (nights.as_of, nights.number)) as night_no,
    max(nights.as_of) as as_of,
    (select coalesce(max(runs.run_no), 0) from runs) as newest_run_no
from nights
where nights.ended_at is not null;

-- name: find
-- A night by its run.
select nights.night_no
from nights
where nights.run_id = try_cast($run_id as uuid);

-- name: next
-- What the next night of a date is called: its numbers, its id, derived from the store and the date,
-- and the last run that the reports of the nights before cover.
with earlier as (
    select
        coalesce(max(nights.night_no), 0) as night_no,
        count(*) filter (where cast(nights.as_of as date) = cast($as_of as date)) as of_date,
        coalesce(max(nights.to_run_no), 0) as to_run_no
    from nights
),
store as (
    select min(schema_versions.applied_at) as made_at
    from schema_versions
)
select
    earlier.night_no + 1 as night_no, cast(earlier.of_date + 1 as integer) as number,
    earlier.to_run_no as after_run_no,
    derived_id(
        'night' || chr(31) || cast($store as varchar) || chr(31) || cast(store.made_at as varchar)
        || chr(31) || cast(cast($as_of as date) as varchar)
        || chr(31) || cast(earlier.of_date + 1 as varchar)
    ) as run_id
from earlier
cross join store;

-- name: begin
-- Writes nights, one row.
insert into nights (
    night_no, run_id, run_no, as_of, number, drop_folder, processed_folder, after_run_no, began_at
)
values (
    $night_no, $run_id, $run_no, $as_of, $number, $drop_folder, $processed_folder, $after_run_no,
    $began_at
);

-- name: cover
-- Fixes the last run that the reports of a night cover; done again it stays what it was.
update nights
set to_run_no = (select max(runs.run_no) from runs)
where night_no = $night_no
    and to_run_no is null;

-- name: end
-- Ends a night; done again it stays what it was.
update nights
set ended_at = $ended_at, last_run_no = (select max(runs.run_no) from runs)
where night_no = $night_no
    and ended_at is null;

-- name: record_step
-- Writes night_steps, one row; a step that is there is not written again.
insert into night_steps (
    night_no, position, name, status, began_at, ended_at, counts, findings
)
select
    cast($night_no as bigint), cast($position as integer), cast($name as varchar),
    cast($status as varchar), cast($began_at as timestamp), cast($ended_at as timestamp),
    cast($counts as varchar), cast($findings as varchar)
where not exists (
    select 1
    from night_steps
    where night_steps.night_no = $night_no
        and night_steps.name = $name
);

-- name: steps
-- The steps of a night that are done, in their order; only those that nobody was told of, if asked.
-- Grain: one row per step.
select name, status, began_at, ended_at, counts, findings
from night_steps
where night_no = $night_no
    and not ($is_untold and is_told)
order by position;

-- name: untold
-- The nights that have ended with steps of which no command has told, the oldest first.
-- Grain: one row per night.
select distinct nights.night_no
from nights
inner join night_steps on night_steps.night_no = nights.night_no
where nights.ended_at is not null
    and not night_steps.is_told
order by nights.night_no;

-- name: tell
-- Writes that the steps of nights are told.
update night_steps
set is_told = true
where night_no in (select unnest(cast($night_nos as bigint[])))
    and not is_told;

-- name: record_file
-- Writes night_files, one row: a file that a night found, waiting.
insert into night_files (
    night_no, file_no, institution, file_name, stamp, taken_as, state, is_moved
)
values (
    $night_no, $file_no, $institution, $file_name, $stamp, $taken_as, 'waiting', false
);

-- name: files
-- The files of a night, in their order. Grain: one row per file.
select file_no, institution, file_name, stamp, taken_as, state, report, is_moved
from night_files
where night_no = $night_no
order by file_no;

-- name: judge_file
-- Writes what became of a file that waited, or was held; done again it stays what it was.
update night_files
set
    state = $state,
    report = $report,
    taken_bytes = $taken_bytes,
    taken_sha256 = $taken_sha256
where night_no = $night_no
    and file_no = $file_no
    and state in ('waiting', 'held');

-- name: files_moved
-- Writes that the files of a night are out of the way; done again it changes nothing.
update night_files
set is_moved = true
where night_no = $night_no;

-- name: sent
-- What became of the attempts of the senders that ran since a night began.
select
    count(*) as attempted, count(*) filter (where attempts.error is null) as delivered,
    count(*) filter (where attempts.error is not null and attempts.next_attempt_at is not null)
        as failed,
    count(*) filter (where attempts.error is not null and attempts.next_attempt_at is null)
        as exhausted
from attempts
where attempts.run_no > $run_no
    and not attempts.is_manual;

-- name: unsent
-- Whose webhooks failed since a night began, and why the newest of them did. Grain: one row per
-- institution and whether an event is tried again.
select
    institutions.slug as institution, attempts.next_attempt_at is not null as is_tried_again,
    count(*) as failures, max_by(attempts.error, (attempts.started_at, attempts.event_no))
        as error
from attempts
inner join institutions on institutions.institution_id = attempts.institution_id
where attempts.run_no > $run_no
    and attempts.error is not null
    and not attempts.is_manual
group by institutions.slug, is_tried_again
order by institutions.slug, is_tried_again;

-- name: events
-- How many redemptions of the runs up to now are announced by an event, and how many are not.
select
    count(outbox.redemption_no) as events,
    count(*) filter (where outbox.redemption_no is null) as missing
from redemptions
left join outbox
    on outbox.redemption_no = redemptions.redemption_no
    and is_announcement(outbox.kind)
    and outbox.institution_id = redemptions.institution_id
where redemptions.run_no > $after_run_no;

-- name: came_in
-- What the runs of a night took in and what it became; rows and amounts are of purchases. Grain: one
-- row per institution and currency.
with imported as (
    select
        imports.institution_id, imports.currency, count(*) as imports,
        sum(imports.received) filter (where imports.kind_of_rows = 'purchases') as received,
        sum(imports.accepted) filter (where imports.kind_of_rows = 'purchases') as accepted,
        sum(imports.duplicates) filter (where imports.kind_of_rows = 'purchases') as duplicates,
        sum(imports.invalid) filter (where imports.kind_of_rows = 'purchases') as invalid,
        sum(imports.amount_accepted) filter (where imports.kind_of_rows = 'purchases')
            as amount_accepted
    from imports
    where imports.run_no > $after_run_no
        and ($to_run_no is null or imports.run_no <= $to_run_no)
    group by imports.institution_id, imports.currency
),
redeemed as (
    select
        entries.institution_id, entries.currency, sum(entries.redemptions) as redeemed,
        sum(entries.merchant_funded_amount) as merchant_funded_amount,
        sum(entries.commission_amount) as commission_amount,
        sum(entries.institution_payout_amount) as institution_payout_amount
    from redemption_totals as entries
    where entries.run_no > $after_run_no
        and ($to_run_no is null or entries.run_no <= $to_run_no)
    group by entries.institution_id, entries.currency
),
settled as (
    select
        settlements.institution_id, settlements.currency, sum(settlements.entries) as settled,
        sum(settlements.adjustments) as adjustments,
        sum(settlements.merchant_funded_amount) as settled_merchant_funded_amount,
        sum(settlements.commission_amount) as settled_commission_amount,
        sum(settlements.institution_payout_amount) as settled_institution_payout_amount
    from settlements
    where settlements.run_no > $after_run_no
        and ($to_run_no is null or settlements.run_no <= $to_run_no)
    group by settlements.institution_id, settlements.currency
)
select
    institutions.slug as institution, currency,
    cast(coalesce(imported.imports, 0) as bigint) as imports,
    cast(coalesce(imported.received, 0) as bigint) as received,
    cast(coalesce(imported.accepted, 0) as bigint) as accepted,
    cast(coalesce(imported.duplicates, 0) as bigint) as duplicates,
    cast(coalesce(imported.invalid, 0) as bigint) as invalid,
    coalesce(imported.amount_accepted, 0) as amount_accepted,
    cast(coalesce(redeemed.redeemed, 0) as bigint) as redeemed,
    coalesce(redeemed.merchant_funded_amount, 0) as merchant_funded_amount,
    coalesce(redeemed.commission_amount, 0) as commission_amount,
    coalesce(redeemed.institution_payout_amount, 0) as institution_payout_amount,
    cast(coalesce(settled.settled, 0) as bigint) as settled,
    cast(coalesce(settled.adjustments, 0) as bigint) as adjustments,
    coalesce(settled.settled_merchant_funded_amount, 0) as settled_merchant_funded_amount,
    coalesce(settled.settled_commission_amount, 0) as settled_commission_amount,
    coalesce(settled.settled_institution_payout_amount, 0) as settled_institution_payout_amount
from (select institution_id, currency from institutions) as own
full join imported using (institution_id, currency)
full join redeemed using (institution_id, currency)
full join settled using (institution_id, currency)
inner join (select institution_id, slug from institutions) as institutions using (institution_id)
order by institutions.slug, currency;

-- name: list
-- Nights, the newest first. Grain: one row per night.
with files as (
    select
        night_files.night_no, count(*) as files,
        count(*) filter (where night_files.state = 'failed') as failed_files
    from night_files
    group by night_files.night_no
),
steps as (
    select
        night_steps.night_no, count(*) as steps,
        max_by(night_steps.name, night_steps.position) as last_step
    from night_steps
    group by night_steps.night_no
)
select
    nights.run_id, nights.as_of, nights.number,
    case when nights.ended_at is null then 'unfinished' else 'finished' end as status,
    nights.began_at, nights.ended_at, coalesce(steps.steps, 0) as steps, steps.last_step,
    coalesce(files.files, 0) as files, coalesce(files.failed_files, 0) as failed_files
from nights
left join files on files.night_no = nights.night_no
left join steps on steps.night_no = nights.night_no
order by nights.night_no desc
limit $limit;

-- name: find_run
-- One run of any kind.
select run_id, kind, as_of, actor, counts
from runs
where run_id = try_cast($run_id as uuid);

-- name: runs
-- Runs of any kind, the newest first. Grain: one row per run.
select run_id, kind, as_of, actor, counts
from runs
order by run_no desc
limit $limit;

-- name: waiting
-- What waits for something when a night's reports are written. Grain: one row per kind.
select 'purchases of unknown merchants' as waits, count(*) as count
from unresolved_purchases
union all
select 'ledger entries on hold', count(*)
from ledger_entries
where ledger_entries.status = 'pending'
    and ledger_entries.settles_at > $now
union all
select 'requests for an approval', count(*)
from approvals
where approval_state(approvals.answer, approvals.used_at, approvals.expires_at, $now) = 'pending';

-- name: came_back
-- What the runs of a night made of refunds: how many they linked to their purchases and refused, and
-- how many wait now. Grain: one row.
with linked as (
    select count(*) as refunds
    from refund_links
    where refund_links.run_no > $after_run_no
        and ($to_run_no is null or refund_links.run_no <= $to_run_no)
),

states as (
    select
        count(*) filter (where refund_states.state = 'waiting') as waiting,
        count(*) filter (
            where refund_states.state = 'refused'
                and refund_states.found_by_run_no > $after_run_no
                and ($to_run_no is null or refund_states.found_by_run_no <= $to_run_no)
        ) as refused
    from refund_states
)
select linked.refunds as linked, states.refused, states.waiting
from linked
cross join states;

-- name: taken_back
-- The payouts of the redemptions that refunds took back in the runs of a night, and by how much they
-- reduced others. Grain: one row per currency.
select
    redemption_entries.currency,
    sum(
        case refund_outcomes.outcome
            when 'reduced' then -reduced.institution_payout_amount
            else redemption_entries.institution_payout_amount + coalesce((
                select sum(adjustments.institution_payout_amount)
                from adjustments
                where adjustments.redemption_no = redemption_entries.redemption_no
                    and adjustments.refund_no is not null
            ), 0)
        end
    ) as institution_payout_amount
from refund_outcomes
inner join redemption_entries using (redemption_no, institution_id)
left join adjustments as reduced on reduced.refund_no = refund_outcomes.refund_no
where refund_outcomes.run_no > $after_run_no
    and ($to_run_no is null or refund_outcomes.run_no <= $to_run_no)
    and refund_outcomes.outcome in ('reversed', 'reduced')
group by redemption_entries.currency
order by redemption_entries.currency;

-- name: count
-- How many nights there were, those that have not ended too.
select count(*) as nights
from nights;

-- name: newest
-- Nights up to one, the newest first: files, rows and what they became, by the runs that the night's
-- reports cover, or by its own until they do. Findings and seconds are of its steps; the seconds are
-- of the real clock. Grain: one row per night.
with chosen as (
    select
        night_no, run_id, as_of, number, ended_at,
        case when to_run_no is null then run_no else after_run_no end as after_run_no, to_run_no
    from nights
    where $night_no is null or night_no <= $night_no
    order by night_no desc
    limit $limit
),

files as (
    select
        night_no, count(*) as files,
        count(*) filter (where state = 'imported') as imported_files,
        count(*) filter (where state = 'failed') as failed_files
    from night_files
    where night_no in (select chosen.night_no from chosen)
    group by night_no
),

imported as (
    select
        chosen.night_no, sum(imports.received) as received, sum(imports.accepted) as accepted,
        sum(imports.invalid) as invalid
    from chosen
    inner join imports
        on imports.run_no > chosen.after_run_no
        and (chosen.to_run_no is null or imports.run_no <= chosen.to_run_no)
    where imports.kind_of_rows = 'purchases'
    group by chosen.night_no
),

stepped as (
    select
        night_no, sum(epoch(ended_at) - epoch(began_at)) as seconds,
        list(findings order by position) as findings
    from night_steps
    where night_no in (select chosen.night_no from chosen)
    group by night_no
)

select
    chosen.night_no, chosen.run_id, chosen.as_of, chosen.number,
    chosen.ended_at is not null as has_ended, coalesce(files.files, 0) as files,
    coalesce(files.imported_files, 0) as imported_files,
    coalesce(files.failed_files, 0) as failed_files,
    cast(coalesce(imported.received, 0) as bigint) as received,
    cast(coalesce(imported.accepted, 0) as bigint) as accepted,
    cast(coalesce(imported.invalid, 0) as bigint) as invalid,
    coalesce(stepped.seconds, 0) as seconds, coalesce(stepped.findings, []) as findings
from chosen
left join files on files.night_no = chosen.night_no
left join imported on imported.night_no = chosen.night_no
left join stepped on stepped.night_no = chosen.night_no
order by chosen.night_no desc;

-- name: newest_money
-- What the nights of `newest` redeemed and settled. Grain: one row per night and currency with any.
with chosen as (
    select
        night_no,
        case when to_run_no is null then run_no else after_run_no end as after_run_no, to_run_no
    from nights
    where $night_no is null or night_no <= $night_no
    order by night_no desc
    limit $limit
),

redeemed_by_run as (
    select
        run_no, currency, sum(redemptions) as redeemed,
        sum(institution_payout_amount) as institution_payout_amount
    from redemption_totals
    where run_no > (select min(after_run_no) from chosen)
    group by run_no, currency
),

happened as (
    select
        run_no, currency, redeemed, institution_payout_amount, 0 as settled,
        0 as settled_payout_amount
    from redeemed_by_run
    union all
    select run_no, currency, 0, 0, entries, institution_payout_amount
    from settlements
)

select
    chosen.night_no, happened.currency, cast(sum(happened.redeemed) as bigint) as redeemed,
    sum(happened.institution_payout_amount) as institution_payout_amount,
    cast(sum(happened.settled) as bigint) as settled,
    sum(happened.settled_payout_amount) as settled_payout_amount
from chosen
inner join happened
    on happened.run_no > chosen.after_run_no
    and (chosen.to_run_no is null or happened.run_no <= chosen.to_run_no)
group by chosen.night_no, happened.currency
order by chosen.night_no desc, happened.currency;

-- name: audits_before
-- The audits of nights before one, the newest first. Grain: one row per night that has them.
select nights.as_of, night_steps.counts
from night_steps
inner join nights on nights.night_no = night_steps.night_no
where night_steps.name = 'audits'
    and night_steps.night_no < $night_no
order by night_steps.night_no desc;

-- name: audited_up_to
-- The last run whose rows are all there: the one before the first that has not ended. A run that a
-- crash left so counts no more after two days, and the night's own writes nothing by itself.
select
    coalesce(
        min(runs.run_no) filter (
            where runs.counts is null
                and runs.run_no <> $run_no
                and runs.as_of > cast($now as timestamp) - interval 2 days
        ) - 1,
        max(runs.run_no)
    ) as run_no
from runs;
