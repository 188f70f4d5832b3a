-- name: find
-- The account that an institution is paid to. Grain: one row per institution that has one.
select account, holder
from institution_accounts
where institution_id = $institution_id;

-- name: forget
-- Removes the account of an institution, if it has one.
delete from institution_accounts
where institution_id = $institution_id;

-- name: keep
-- Writes the account of an institution that has none.
insert into institution_accounts (institution_id, account, holder, set_at)
values ($institution_id, $account, $holder, $now);

-- name: audit
-- Writes the change of an account to the audit log, both masked.
insert into audit_log (
    audit_no, run_no, happened_at, actor, institution_id, subject, subject_id, field, old_value,
    new_value
)
select
    coalesce(max(audit_log.audit_no), 0) + 1, $run_no, $now, $actor, $institution_id,
    'institution', $slug, $field, $old_value, $new_value
from audit_log;
