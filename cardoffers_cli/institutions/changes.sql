-- name: list
-- The changes of catalogue rows and settings, the newest first, filtered as asked; nulls filter
-- nothing. Of an institution these are its own, and those of the offers of its program. The currency
-- is that of an offer's amounts. Grain: one row per changed value.
select
    audit_log.audit_no, audit_log.happened_at, audit_log.actor, runs.kind as by_run, runs.run_id,
    institutions.slug as institution, audit_log.subject, audit_log.subject_id, audit_log.field,
    audit_log.old_value, audit_log.new_value, offers.currency
from audit_log
left join runs on runs.run_no = audit_log.run_no
left join institutions on institutions.institution_id = audit_log.institution_id
left join offers
    on audit_log.subject = 'offer'
    and offers.offer_id = audit_log.subject_id
where ($subject is null or audit_log.subject = $subject)
    and ($subject_id is null or audit_log.subject_id = $subject_id)
    and ($field is null or audit_log.field = $field)
    and ($from_at is null or audit_log.happened_at >= $from_at)
    and ($to_at is null or audit_log.happened_at < $to_at)
    and (
        $institution_id is null
        or audit_log.institution_id = $institution_id
        or exists (
            select 1
            from program_offers
            where program_offers.institution_id = $institution_id
                and program_offers.offer_id = offers.offer_id
        )
    )
order by audit_log.audit_no desc
limit $limit;

-- name: record
-- Writes the change of a setting of an institution to the audit log.
insert into audit_log (
    audit_no, run_no, happened_at, actor, institution_id, subject, subject_id, field, old_value,
    new_value
)
select
    coalesce(max(audit_log.audit_no), 0) + 1, $run_no, $now, $actor, $institution_id,
    'institution', $subject_id, $field, $old_value, $new_value
from audit_log;

-- name: set
-- Writes the settings of an institution that the security log is told of.
update institutions
set
    refund_window_days = $refund_window_days, refund_auto_link = $refund_auto_link,
    clawback_days = $clawback_days, hold_short = $hold_short, time_zone = $time_zone,
    numbers = $numbers, shares_tokens_with = $shares_tokens_with, approvals = $approvals,
    approval_limit = $approval_limit
where institution_id = $institution_id;

-- name: unwatch
-- Ends the watch of an institution, if it is on. Idempotent.
delete from watched_institutions
where institution_id = $institution_id;

-- name: watch
-- Begins the watch of an institution that is not watched.
insert into watched_institutions (institution_id, since_at)
values ($institution_id, $now);
