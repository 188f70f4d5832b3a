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

-- name: shapes_fit_their_import
-- What was kept of files that is of no import, of that of another institution, or does not fit what
-- it took. Grain: one row per import.
select import_shapes.import_no
from import_shapes
left join imports using (import_no, institution_id)
where imports.import_no is null
    or (import_shapes.median_amount is null) <> (imports.accepted = 0)
    or import_shapes.unknown_merchants not between 0 and imports.accepted
    or import_shapes.cardholders not between 0 and imports.accepted
    or import_shapes.new_cardholders not between 0 and import_shapes.cardholders
    or import_shapes.redeemed not between 0 and imports.accepted
order by import_shapes.import_no;

-- name: merchants_of_files_fit_their_shape
-- Merchants of files that are there twice, of no file whose shape is kept, or have fewer than
-- three purchases, or together more than their file. Grain: one row per import.
select import_merchants.import_no
from import_merchants
left join import_shapes using (import_no, institution_id)
left join imports using (import_no, institution_id)
group by import_merchants.import_no
having bool_or(import_shapes.import_no is null)
    or count(*) > count(distinct import_merchants.merchant_id)
    or min(import_merchants.purchases) < 3
    or sum(import_merchants.purchases) > max(imports.accepted - import_shapes.unknown_merchants)
order by import_merchants.import_no;

-- name: looks_are_of_runs
-- Looks of the watch at no institution, of no run, or that went further than numbers were given.
-- Grain: one row per institution and run.
select watch_looks.institution_id, watch_looks.run_no
from watch_looks
left join institutions on institutions.institution_id = watch_looks.institution_id
left join runs on runs.run_no = watch_looks.run_no
where institutions.institution_id is null
    or runs.run_no is null
    or watch_looks.redemption_no not between 0
    and (select last_redemption.redemption_no from last_redemption)
    or watch_looks.instrument_no not between 0
    and (select coalesce(max(instruments.instrument_no), 0) from instruments)
order by watch_looks.institution_id, watch_looks.run_no;
