-- name: due
-- The notices that are owed and were not given: 14 days and 3 days before the day (UTC) a key ends,
-- and on the day, from midnight on; where several are late, only the latest of them. Not owed is one
-- that is older than one given, one whose day began before the end of the key was set, any of a
-- revoked key, and any of a replaced key that has ended. Grain: one row per key.
with kinds as (
    select kinds.notice, kinds.days
    from (values ('14_days', 14), ('3_days', 3), ('day_of', 0)) as kinds (notice, days)
),
ending as (
    select
        key_id, institution_id, name, prefix, replaced_by,
        key_ends_at(expires_at, retires_at) as ends_at,
        case
            when retires_at < coalesce(expires_at, 'infinity') then rotated_at
            else created_at
        end as end_set_at
    from api_keys
    where revoked_at is null
),
owed as (
    select
        ending.key_id, ending.institution_id, ending.name, ending.prefix, ending.replaced_by,
        ending.ends_at, ending.end_set_at, kinds.notice, kinds.days,
        cast(cast(ending.ends_at as date) as timestamp) - to_days(kinds.days) as due_at
    from ending
    cross join kinds
),
latest as (
    select
        owed.key_id, owed.institution_id, owed.name, owed.prefix, owed.replaced_by, owed.ends_at,
        max_by(owed.notice, owed.due_at) as notice, min(owed.days) as days
    from owed
    where owed.due_at <= $now
        and owed.due_at >= owed.end_set_at
        and (owed.replaced_by is null or owed.ends_at > $now)
    group by all
)
select
    latest.key_id, latest.institution_id, institutions.slug as institution, latest.name,
    latest.prefix, latest.replaced_by, latest.ends_at, latest.notice
from latest
inner join institutions on institutions.institution_id = latest.institution_id
where not exists (
    select 1
    from key_notices
    inner join kinds on kinds.notice = key_notices.notice
    where key_notices.key_id = latest.key_id
        and key_notices.ends_at = latest.ends_at
        and kinds.days <= latest.days
)
order by latest.ends_at, latest.key_id;

-- name: give
-- Writes down that a notice was given; its key keeps it from being written again.
insert into key_notices (key_id, ends_at, notice, given_at)
values ($key_id, $ends_at, $notice, $given_at);
