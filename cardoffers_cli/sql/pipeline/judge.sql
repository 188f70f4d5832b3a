-- name: no_history
-- Makes an empty known_refs, for a check without a store.
create or replace temp table known_refs (transaction_ref varchar, content ubigint);

-- name: known_refs
-- Makes known_refs: the refs of this file that the institution has purchases of, with the
-- fingerprint of what was said then. Grain: one row per such ref.
create or replace temp table known_refs as
select
    purchases.transaction_ref,
    purchase_content(
        cardholders.cardholder_token, instruments.instrument_token, purchases.merchant_id,
        identifiers.merchant_identifier_type, identifiers.merchant_identifier,
        purchases.amount, purchases.transacted_at
    ) as content
from purchases
inner join cardholders
    on cardholders.cardholder_no = purchases.cardholder_no
    and cardholders.institution_id = purchases.institution_id
inner join instruments
    on instruments.instrument_no = purchases.instrument_no
    and instruments.institution_id = purchases.institution_id
left join identifiers on identifiers.identifier_no = purchases.identifier_no
where purchases.institution_id = $institution_id
    and exists (
        select 1
        from staged
        where staged.transaction_ref = purchases.transaction_ref
    );

-- name: staged_duplicates
-- Makes staged_duplicates: every staged row whose ref is known already, or stands in an earlier
-- line (decisions, Duplicates: the first one wins). Grain: one row per such row.
create or replace temp table staged_duplicates as
with repeated as (
    select staged.transaction_ref
    from staged
    group by staged.transaction_ref
    having count(*) > 1
),
ranked as (
    select
        staged.line,
        staged.transaction_ref,
        staged.content,
        row_number() over refs as turn,
        first_value(staged.content) over refs as first_content
    from staged
    inner join repeated on repeated.transaction_ref = staged.transaction_ref
    window refs as (partition by staged.transaction_ref order by staged.line)
),
final as (
    select staged.line, staged.transaction_ref, staged.content <> known_refs.content as is_conflict
    from staged
    inner join known_refs on known_refs.transaction_ref = staged.transaction_ref
    union all
    select ranked.line, ranked.transaction_ref, ranked.content <> ranked.first_content
    from ranked
    where ranked.turn > 1
        and not exists (
            select 1
            from known_refs
            where known_refs.transaction_ref = ranked.transaction_ref
        )
)
select line, transaction_ref, is_conflict
from final;

-- name: duplicate_findings
-- Appends a finding for every duplicate, or for every conflict.
insert into staged_findings
select
    staged_duplicates.line, staged_duplicates.transaction_ref, 'transaction_ref',
    $code, $level, $message
from staged_duplicates
where staged_duplicates.is_conflict = $is_conflict;

-- name: counts
-- Duplicates and conflicts among the staged rows.
select
    count(*) as duplicates,
    count(*) filter (where is_conflict) as conflicts
from staged_duplicates;

-- name: tokens_once
-- How many cardholder tokens the staged rows have, and how many of them occur once.
with tokens as (
    select count(*) as uses
    from staged
    group by staged.cardholder
)
select count(*) as tokens, count(*) filter (where uses = 1) as once
from tokens;

-- name: summary
-- Findings by code. Grain: one row per code; lines holds the first 20.
select
    code,
    level,
    count(distinct line) as row_count,
    list_slice(list_sort(list_distinct(min(line, 20))), 1, 20) as lines
from staged_findings
group by code, level
order by level, row_count desc, code;

-- name: findings
-- The findings of a stretch of lines, in the order of the file. Grain: one row per finding.
select line, transaction_ref, field, code, level, message
from staged_findings
where line >= $first_line
    and line < $end_line
order by line, field nulls first, code;

-- name: first_findings
-- The first findings in the order of the file. Grain: one row per finding.
select line, transaction_ref, field, code, level, message
from staged_findings
order by line, field nulls first, code
limit $limit;

-- name: last_line
-- The last line that has a finding; null where none has.
select max(line) as last_line
from staged_findings;

-- name: rejected_lines
-- The lines that are not taken: rows with an error, and duplicates. Grain: one row per line.
with final as (
    select staged_findings.line
    from staged_findings
    where staged_findings.level = 'error'
    union
    select staged_duplicates.line
    from staged_duplicates
)
select line
from final
order by line;
