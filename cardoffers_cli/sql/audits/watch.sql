-- name: watch_findings_are_whole
-- Findings of the watch whose id is not that of what they are about, which are of no institution or
-- run, whose figures cannot be read, or that say too much or too little of how they ended. Grain: one
-- row per finding.
select watch_findings.finding_id, watch_findings.code, watch_findings.state
from watch_findings
left join institutions on institutions.institution_id = watch_findings.institution_id
left join runs on runs.run_no = watch_findings.run_no
where institutions.institution_id is null
    or runs.run_no is null
    or not json_valid(watch_findings.figures)
    or watch_findings.state not in ('open', 'accepted', 'resolved')
    or (watch_findings.state = 'open') <> (watch_findings.closed_at is null)
    or (watch_findings.closed_at is null) <> (watch_findings.closed_by is null)
    or (watch_findings.closed_at is null) <> (watch_findings.reason is null)
    or watch_findings.finding_id <> derived_id(
        'watch' || chr(31) || cast(watch_findings.institution_id as varchar) || chr(31)
        || watch_findings.code || chr(31) || watch_findings.subject || chr(31)
        || cast(watch_findings.about_on as varchar)
    )
order by watch_findings.finding_id;
