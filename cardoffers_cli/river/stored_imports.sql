-- name: next_no
-- The number of the next import: behind all there were, those of withdrawn files too.
select
    greatest(
        (select coalesce(max(imports.import_no), 0) from imports),
        (select max(withdrawn_imports.import_no) from withdrawn_imports)
    ) + 1 as import_no;

-- name: earlier
-- The first import of the same bytes into an institution.
select import_id, file_name, imported_at
from imports
where institution_id = $institution_id
    and file_sha256 = $file_sha256
order by import_no
limit 1;

-- name: held
-- The files of an institution that nights hold, or of all; with a name, those that were dropped or are
-- kept under it, with the institution before it or without. The newest first. Grain: one row per file.
select night_no, file_no, taken_bytes, taken_sha256
from night_files
where state = 'held'
    and ($institution is null or institution = $institution)
    and (
        $name is null
        or $name in (file_name, taken_as)
        or $name in (institution || '/' || file_name, institution || '/' || taken_as)
    )
order by night_no desc, file_no desc;

-- name: others
-- How many institutions there are beside one.
select count(*) - 1 as others
from institutions;

-- name: drawn
-- for each: purchase_refs, refunds, credits
-- reads: staged(line, hash_of_text), staged_tokens(cardholder_token)
-- Whether another institution may have a file, by its bytes, by the references (in {table}) and the
-- tokens of one in so many (`every`) that $drawn are left: how many of how many another one has.
-- Grain: one row.
with every_of as (
    select
        greatest((select count(*) from staged) // $drawn, 1) as of_rows,
        greatest((select count(*) from staged_tokens) // $drawn, 1) as of_tokens
),
others as (
    select
        institutions.institution_id,
        hash_of_institution(0, institutions.institution_id) as hash_of_it
    from institutions
    where institutions.institution_id <> $institution_id
),
asked_rows as (
    select staged.hash_of_text
    from staged
    where hash(staged.line) % cast((select every_of.of_rows from every_of) as ubigint) = 0
),
asked_tokens as (
    select distinct staged_tokens.cardholder_token
    from staged_tokens
    where staged_tokens.cardholder_token is not null
        and hash(staged_tokens.cardholder_token)
        % cast((select every_of.of_tokens from every_of) as ubigint) = 0
),
rows_of as (
    select others.institution_id, count(*) as alike
    from asked_rows
    cross join others
    inner join {table} on {table}.ref_hash = xor(asked_rows.hash_of_text, others.hash_of_it)
    group by others.institution_id
),
tokens_of as (
    select cardholders.institution_id, count(*) as alike
    from asked_tokens
    inner join cardholders on cardholders.cardholder_token = asked_tokens.cardholder_token
    where cardholders.institution_id <> $institution_id
    group by cardholders.institution_id
)
select
    exists (
        select 1
        from imports
        where imports.file_sha256 = $file_sha256
            and imports.institution_id <> $institution_id
    ) as is_known,
    (select every_of.of_rows from every_of) as rows_every,
    (select every_of.of_tokens from every_of) as tokens_every,
    coalesce((select max(rows_of.alike) from rows_of), 0) as rows_alike,
    (select count(*) from asked_rows) as rows_among,
    coalesce((select max(tokens_of.alike) from tokens_of), 0) as tokens_alike,
    (select count(*) from asked_tokens) as tokens_among;

-- name: digest_elsewhere
-- The first institution that took the same bytes, where the given one did not.
-- Grain: one row, or none.
select imports.institution_id, institutions.slug as institution, 1 as alike, 1 as among
from imports
inner join institutions on institutions.institution_id = imports.institution_id
anti join imports as own
    on own.file_sha256 = $file_sha256
    and own.institution_id = $institution_id
where imports.file_sha256 = $file_sha256
order by imports.import_no
limit 1;

-- name: asked_rows
-- reads: staged(line, amount, transacted_at, hash_of_text)
-- makes: asked_for(item, amount, transacted_at, hash_of_text)
-- Makes asked_for: one in $every of the staged rows, drawn by their lines. Grain: one row per row.
create temp table asked_for as
select staged.line as item, staged.amount, staged.transacted_at, staged.hash_of_text
from staged
where hash(staged.line) % cast($every as ubigint) = 0;

-- name: asked_tokens
-- reads: staged_tokens(cardholder_token)
-- makes: asked_for(item, amount, transacted_at, hash_of_text)
-- Makes asked_for: one in $every of the staged cardholder tokens; of these nothing else is asked.
-- Grain: one row per token.
create temp table asked_for as
select distinct
    staged_tokens.cardholder_token as item, cast(null as decimal(18, 4)) as amount,
    cast(null as timestamp) as transacted_at, cast(null as ubigint) as hash_of_text
from staged_tokens
where staged_tokens.cardholder_token is not null
    and hash(staged_tokens.cardholder_token) % cast($every as ubigint) = 0;

-- name: known_purchases
-- reads: asked_for(item, amount, transacted_at, hash_of_text)
-- makes: known_by(item, institution_id)
-- Makes known_by: who has a purchase of the same reference, amount and time. References are compared
-- by their hashes, which is enough beside the other two. Grain: one row per row and institution.
create temp table known_by as
with hashed as (
    select
        asked_for.item, asked_for.amount, asked_for.transacted_at, institutions.institution_id,
        hash_of_institution(asked_for.hash_of_text, institutions.institution_id) as ref_hash
    from asked_for
    cross join institutions
),
found as materialized (
    select
        hashed.item, hashed.amount, hashed.transacted_at, hashed.institution_id,
        purchase_refs.purchase_no
    from hashed
    inner join purchase_refs on purchase_refs.ref_hash = hashed.ref_hash
)
select found.item, found.institution_id
from found
inner join purchases using (purchase_no, institution_id, amount, transacted_at);

-- name: known
-- for each: refunds.refunded_at, credits.credited_at
-- reads: asked_for(item, amount, transacted_at, hash_of_text)
-- makes: known_by(item, institution_id)
-- Makes known_by of {table}, as known_purchases. Grain: one row per row and institution.
create temp table known_by as
select asked_for.item, institutions.institution_id
from asked_for
cross join institutions
inner join {table}
    on {table}.ref_hash = hash_of_institution(asked_for.hash_of_text, institutions.institution_id)
    and {table}.institution_id = institutions.institution_id
    and {table}.amount = asked_for.amount
    and {table}.{column} = asked_for.transacted_at;

-- name: known_tokens
-- reads: asked_for(item)
-- makes: known_by(item, institution_id)
-- Makes known_by: who knows a cardholder token of 10 characters or more, but for those who share
-- their tokens with the given one. Who is known by a withdrawn file alone is not known. Grain: one row
-- per token and institution.
create temp table known_by as
with gone as (
    select distinct withdrawn_purchases.cardholder_no
    from withdrawn_purchases
),
here as (
    select purchases.cardholder_no
    from purchases
    where purchases.cardholder_no in (select gone.cardholder_no from gone)
    union all
    select links.cardholder_no
    from links
    where links.cardholder_no in (select gone.cardholder_no from gone)
)
select asked_for.item, cardholders.institution_id
from asked_for
inner join cardholders on cardholders.cardholder_token = asked_for.item
where length(asked_for.item) >= 10
    and cardholders.institution_id not in (
        select institutions.institution_id
        from institutions
        cross join institutions as given
        where given.institution_id = $institution_id
            and (
                list_contains(string_split(given.shares_tokens_with, '|'), institutions.slug)
                or list_contains(string_split(institutions.shares_tokens_with, '|'), given.slug)
            )
    )
    and (
        cardholders.cardholder_no not in (select gone.cardholder_no from gone)
        or cardholders.cardholder_no in (select here.cardholder_no from here)
    );

-- name: most
-- reads: asked_for(item), known_by(item, institution_id)
-- The institution that has most of what is asked, and the given one has not; how many of how many.
-- Grain: one row, or none.
select
    known_by.institution_id, institutions.slug as institution,
    count(distinct known_by.item) as alike, (select count(*) from asked_for) as among
from known_by
inner join institutions on institutions.institution_id = known_by.institution_id
where known_by.institution_id <> $institution_id
    and known_by.item not in (
        select own.item
        from known_by as own
        where own.institution_id = $institution_id
    )
group by known_by.institution_id, institutions.slug
order by alike desc, institutions.slug
limit 1;

-- name: like
-- How many of the last 12 files of an institution with rows of a kind, of which any was taken, and the
-- fewest rows that one of them had.
select count(*) as files, min(taken.received) as fewest_rows
from (
    select imports.received
    from imports
    where imports.institution_id = $institution_id
        and imports.kind_of_rows = $kind_of_rows
        and imports.file_kind <> 'call'
        and imports.accepted > 0
    order by imports.import_no desc
    limit 12
) as taken;

-- name: record
-- Writes the record of one import, in the transaction that took its rows.
insert into imports (
    import_no, import_id, institution_id, run_no, file_name, file_kind, file_sha256, size_bytes,
    received, accepted, duplicates, conflicts, invalid, blank_lines, amount_accepted, currency,
    options, imported_at, kind_of_rows
)
values (
    $import_no, $import_id, $institution_id, $run_no, $file_name, $file_kind, $file_sha256,
    $size_bytes, $received, $accepted, $duplicates, $conflicts, $invalid, $blank_lines,
    $amount_accepted, $currency, $options, $imported_at, $kind_of_rows
);

-- name: record_calls
-- reads: staged_calls(call_no, call_id, body_sha256, size_bytes, received, options, accepted,
--     duplicates, conflicts, invalid, amount_accepted)
-- Writes the records of the calls in staged_calls, in the transaction that took their events. Their
-- numbers begin at $import_no, in the order of the calls.
insert into imports (
    import_no, import_id, institution_id, run_no, file_name, file_kind, file_sha256, size_bytes,
    received, accepted, duplicates, conflicts, invalid, blank_lines, amount_accepted, currency,
    options, imported_at
)
select
    $import_no + staged_calls.call_no, staged_calls.call_id, $institution_id, $run_no,
    cast(staged_calls.call_id as varchar), 'call', staged_calls.body_sha256,
    staged_calls.size_bytes, staged_calls.received, staged_calls.accepted, staged_calls.duplicates,
    staged_calls.conflicts, staged_calls.invalid, 0, staged_calls.amount_accepted, $currency,
    staged_calls.options, $imported_at
from staged_calls;

-- name: rejects_by_code
-- Why rows of imported files were not accepted, the most frequent reason of each institution first;
-- nulls in the parameters filter nothing. Grain: one row per institution and code.
select
    institutions.slug as institution, rejects.code, count(*) as errors,
    count(distinct (rejects.import_no, rejects.line)) as rows,
    count(distinct rejects.import_no) as files
from rejects
inner join imports using (import_no, institution_id)
inner join institutions on institutions.institution_id = rejects.institution_id
where ($institution_id is null or rejects.institution_id = $institution_id)
    and ($from_at is null or imports.imported_at >= $from_at)
    and ($to_at is null or imports.imported_at < $to_at)
    and ($after_run_no is null or imports.run_no > $after_run_no)
    and ($to_run_no is null or imports.run_no <= $to_run_no)
group by institutions.slug, rejects.code
order by institutions.slug, errors desc, rejects.code;
