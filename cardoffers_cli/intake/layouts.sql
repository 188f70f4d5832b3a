-- name: find
-- The layout profile of an institution, or of each that has one, by slug, where that is null.
-- Grain: one row per institution.
select
    institutions.slug as institution, institution_profiles.toml, institution_profiles.digest,
    institution_profiles.set_at
from institution_profiles
inner join institutions on institutions.institution_id = institution_profiles.institution_id
where $institution_id is null
    or institution_profiles.institution_id = $institution_id
order by institutions.slug;

-- name: forget
-- Removes the profile of an institution, if it has one.
delete from institution_profiles
where institution_id = $institution_id;

-- name: keep
-- Writes the profile of an institution that has none.
insert into institution_profiles (institution_id, toml, digest, set_at)
values ($institution_id, $toml, $digest, $set_at);

-- name: audit
-- Writes the change of a profile to the audit log, by its digests.
insert into audit_log (
    audit_no, run_no, happened_at, actor, institution_id,
    subject, subject_id, field, old_value, new_value
)
select
    coalesce(max(audit_no), 0) + 1, $run_no, $happened_at, $actor, $institution_id, 'institution',
    $slug, 'profile', $old_digest, $new_digest
from audit_log;
