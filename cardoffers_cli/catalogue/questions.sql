-- name: findings
-- makes: catalogue_findings(kind, line, field, code, level, message)
-- What was found in the files of one import. Grain: one row per finding.
create temp table catalogue_findings (
    kind varchar not null,
    line ubigint,
    field varchar,
    code varchar not null,
    level varchar not null,
    message varchar not null
);

-- name: changes
-- makes: catalogue_changes(line, institution_id, subject_id, field, old_value, new_value)
-- What the rows of one file change. Grain: one row per known record and field whose value differs.
create temp table catalogue_changes (
    line ubigint not null,
    institution_id uuid,
    subject_id varchar not null,
    field varchar not null,
    old_value varchar,
    new_value varchar
);

-- name: add_findings
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads frame (line, column, code, level, message); writes catalogue_findings.
insert into catalogue_findings (kind, line, field, code, level, message)
select $kind, frame.line, frame.column, frame.code, frame.level, frame.message
from frame;

-- name: rejected
-- reads: catalogue_findings(kind, line, level)
-- How many rows of a file were rejected, for whatever number of reasons.
select count(distinct line) as rejected
from catalogue_findings
where kind = $kind and level = 'error';

-- name: summary
-- reads: catalogue_findings(kind, line, code, level, message)
-- The findings of a file by code, errors first. Grain: one row per code, its first 20 lines, and 20
-- of what it says.
select
    code, level, count(distinct line) as rows,
    list_slice(list_sort(list_distinct(list(line))), 1, 20) as lines,
    list_slice(list_sort(list_distinct(list(message))), 1, 20) as messages
from catalogue_findings
where kind = $kind
group by code, level
order by level, code;

-- name: report
-- reads: catalogue_findings(kind, line, field, code, level, message)
-- The findings of a file in the order of its lines. Grain: one row per finding.
select line, field, code, level, message
from catalogue_findings
where kind = $kind
order by line nulls first, field, code;

-- name: list_changes
-- reads: catalogue_changes(line, subject_id, field, old_value, new_value)
-- The changes of a file in the order of its lines. Grain: one row per changed value.
select subject_id, field, old_value, new_value
from catalogue_changes
order by line, field;

-- name: audit
-- reads: catalogue_changes(line, institution_id, subject_id, field, old_value, new_value)
-- Reads catalogue_changes; writes audit_log, one row per changed value.
insert into audit_log (
    audit_no, run_no, happened_at, actor, institution_id,
    subject, subject_id, field, old_value, new_value
)
with highest as (
    select coalesce(max(audit_no), 0) as audit_no
    from audit_log
)

select
    highest.audit_no
    + row_number() over (order by catalogue_changes.line, catalogue_changes.field) as audit_no,
    $run_no, $now, $actor, catalogue_changes.institution_id, $subject,
    catalogue_changes.subject_id, catalogue_changes.field, catalogue_changes.old_value,
    catalogue_changes.new_value
from catalogue_changes
cross join highest;
