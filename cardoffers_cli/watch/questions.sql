-- name: record
-- Writes findings of an institution. Idempotent through their ids, which are derived from what each
-- is about: one that is there already stays as it is.
insert into watch_findings (
    finding_id, institution_id, code, subject, about_on, figures, found_at, run_no, state
)
with given as (
    select
        unnest(cast($codes as varchar[])) as code, unnest(cast($subjects as varchar[])) as subject,
        unnest(cast($days as date[])) as about_on, unnest(cast($figures as varchar[])) as figures
),
named as (
    select
        derived_id(
            'watch' || chr(31) || cast($institution_id as varchar) || chr(31) || given.code
            || chr(31) || given.subject || chr(31) || cast(given.about_on as varchar)
        ) as finding_id,
        given.code, given.subject, given.about_on, min(given.figures) as figures
    from given
    group by given.code, given.subject, given.about_on
)
select
    named.finding_id, $institution_id, named.code, named.subject, named.about_on, named.figures,
    $now, $run_no, 'open'
from named
anti join watch_findings on watch_findings.finding_id = named.finding_id;

-- name: resolve
-- Resolves the open findings of a subject of an institution, of a day or, where that is null, of all.
-- Idempotent: what is not open stays as it is.
update watch_findings
set state = 'resolved', closed_at = $now, closed_by = $actor, reason = $reason
where institution_id = $institution_id
    and code = $code
    and subject = $subject
    and ($about_on is null or about_on = $about_on)
    and state = 'open';

-- name: accept
-- Writes that a person accepted a finding. The first answer counts.
update watch_findings
set state = 'accepted', closed_at = $now, closed_by = $actor, reason = $reason
where finding_id = $finding_id
    and state = 'open';

-- name: findings
-- The findings of an institution, or of all, with a code, in a state, with an id, or whatever where
-- that is null; the open ones first, then the newest; `findings` says how many there are. What a
-- subject is known by, a token only masked, is looked up for the rows that are shown. Grain: one row
-- per finding.
with page as materialized (
    select
        watch_findings.*, count(*) over () as findings,
        case watch_findings.state when 'open' then 1 when 'accepted' then 2 else 3 end as state_no
    from watch_findings
    where ($institution_id is null or watch_findings.institution_id = $institution_id)
        and ($code is null or watch_findings.code = $code)
        and ($state is null or watch_findings.state = $state)
        and ($finding_id is null or watch_findings.finding_id = try_cast($finding_id as uuid))
    order by
        state_no, watch_findings.about_on desc, watch_findings.code, watch_findings.subject,
        watch_findings.finding_id
    limit $limit
)
select
    page.finding_id, page.institution_id, institutions.slug as institution, page.code, page.subject,
    (
        select arg_max(imports.import_id, imports.import_no)
        from imports
        where imports.institution_id = page.institution_id
            and imports.file_name = page.subject
            and imports.run_no <= page.run_no
    ) as import_id,
    coalesce(
        'cardholder ' || masked(cardholders.cardholder_token),
        'instrument ' || masked(instruments.instrument_token), merchants.name, page.subject
    ) as about,
    page.about_on, page.figures, page.found_at, page.state, page.closed_at,
    page.closed_by, page.reason, page.findings
from page
inner join institutions on institutions.institution_id = page.institution_id
left join cardholders
    on page.code in ('cardholder_busy', 'refund_after_settlement')
    and cardholders.institution_id = page.institution_id
    and cardholders.cardholder_no = try_cast(split_part(page.subject, ' ', 2) as bigint)
left join instruments
    on page.code = 'instrument_shared'
    and instruments.institution_id = page.institution_id
    and instruments.instrument_no = try_cast(split_part(page.subject, ' ', 2) as bigint)
left join merchants
    on page.code in ('merchant_silent', 'merchant_concentrated')
    and merchants.merchant_id = try_cast(page.subject as uuid)
order by page.state_no, page.about_on desc, page.code, page.subject, page.finding_id;

-- name: open_findings
-- The open findings of an institution, or of all, and the newest of them, a merchant by its name.
-- Grain: one row per institution and code.
with open as (
    select
        watch_findings.institution_id, watch_findings.code, count(*) as findings,
        max_by(
            watch_findings,
            (watch_findings.about_on, watch_findings.found_at, watch_findings.finding_id)
        ) as newest
    from watch_findings
    where ($institution_id is null or watch_findings.institution_id = $institution_id)
        and watch_findings.state = 'open'
    group by watch_findings.institution_id, watch_findings.code
)
select
    institutions.slug as institution, open.code, open.findings,
    open.newest.finding_id as newest_id, coalesce(merchants.name, open.newest.subject) as about,
    open.newest.figures, open.newest.found_at
from open
inner join institutions on institutions.institution_id = open.institution_id
left join merchants
    on open.code = 'merchant_silent'
    and merchants.merchant_id = try_cast(open.newest.subject as uuid)
order by institutions.slug, open.code;
