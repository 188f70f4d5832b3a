-- name: acts_are_of_their_rows
-- Acts whose rows are gone or other than they were, and rows that no act tells of (rules.md#acts). Of
-- what was done more than once to a subject the last act says how it is. Acts of kinds without rows
-- have no digest. Grain: one row per kind, institution and subject.
with newest as (
    select kind, institution_id, subject, max_by(row_sha256, act_no) as row_sha256
    from acts
    where row_sha256 is not null
    group by kind, institution_id, subject
)
select
    coalesce(newest.kind, act_rows.kind) as kind,
    coalesce(newest.subject, act_rows.subject) as subject,
    case
        when act_rows.kind is null then 'an act without its row'
        when newest.kind is null then 'a row without its act'
        else 'another row'
    end as fault
from newest
full join act_rows
    on act_rows.kind = newest.kind
    and act_rows.subject = newest.subject
    and act_rows.institution_id is not distinct from newest.institution_id
where act_rows.row_sha256 is distinct from newest.row_sha256
order by kind, subject;
