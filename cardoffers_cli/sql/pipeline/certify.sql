-- name: none_shown
-- makes: shown_rows(file_no, kind, line, reference, content, cardholder, payer, transacted_at)
-- Makes an empty shown_rows, to which the rows of each file are added. Grain: one row per valid row.
create temp table shown_rows as
select
    cast(null as integer) as file_no,
    cast(null as varchar) as kind,
    cast(null as ubigint) as line,
    cast(null as ubigint) as reference,
    cast(null as ubigint) as content,
    cast(null as ubigint) as cardholder,
    cast(null as ubigint) as payer,
    cast(null as timestamp) as transacted_at
where 1 = 0;

-- name: show
-- reads: staged(line, reference, content, cardholder, payer, transacted_at)
-- changes: shown_rows(file_no, kind, line, reference, content, cardholder, payer, transacted_at)
-- Adds the staged rows of a file, the $file_no-th of those that are compared, whose rows are of a
-- $kind. References of several kinds are never the same.
insert into shown_rows
select
    $file_no, $kind, staged.line, staged.reference, staged.content, staged.cardholder, staged.payer,
    staged.transacted_at
from staged;

-- name: no_merchants
-- makes: shown_merchants(merchant_identifier_type, merchant_identifier, merchant_id, row_count)
-- Makes an empty shown_merchants, to which the merchants of each file are added.
create temp table shown_merchants as
select
    cast(null as varchar) as merchant_identifier_type,
    cast(null as varchar) as merchant_identifier,
    cast(null as varchar) as merchant_id,
    cast(null as bigint) as row_count
where 1 = 0;

-- name: show_merchants
-- reads: staged(merchant_identifier_type, merchant_identifier, merchant_id)
-- changes: shown_merchants(merchant_identifier_type, merchant_identifier, merchant_id, row_count)
-- Adds the merchants of a file as its rows name them, each with how many rows do.
insert into shown_merchants
select
    staged.merchant_identifier_type, staged.merchant_identifier, staged.merchant_id, count(*)
from staged
group by staged.merchant_identifier_type, staged.merchant_identifier, staged.merchant_id;

-- name: files
-- reads: shown_rows(file_no, kind, line, reference, content, transacted_at)
-- What each file adds to those before it: its rows, how many of them an earlier file has with the
-- same content or with another, and its first and last day (UTC). Grain: one row per file with rows.
with firsts as (
    select
        shown_rows.kind,
        shown_rows.reference,
        min(shown_rows.file_no) as file_no,
        arg_min(shown_rows.content, (shown_rows.file_no, shown_rows.line)) as content
    from shown_rows
    group by shown_rows.kind, shown_rows.reference
)
select
    shown_rows.file_no,
    count(*) as row_count,
    count(*) filter (
        where firsts.file_no < shown_rows.file_no and firsts.content = shown_rows.content
    ) as repeated,
    count(*) filter (
        where firsts.file_no < shown_rows.file_no and firsts.content <> shown_rows.content
    ) as differing,
    cast(min(shown_rows.transacted_at) as date) as first_on,
    cast(max(shown_rows.transacted_at) as date) as last_on
from shown_rows
inner join firsts
    on firsts.kind = shown_rows.kind
    and firsts.reference = shown_rows.reference
group by shown_rows.file_no
order by shown_rows.file_no;

-- name: tokens
-- reads: shown_rows(file_no, kind, reference, cardholder, payer)
-- How many cardholder tokens the rows have that no earlier file had, if they name one, how many of them
-- are in several files, and in how many files such rows are. One row.
with firsts as (
    select shown_rows.kind, shown_rows.reference, min(shown_rows.file_no) as file_no
    from shown_rows
    where shown_rows.payer is not null
    group by shown_rows.kind, shown_rows.reference
),
tokens as (
    select
        shown_rows.cardholder,
        min(firsts.file_no) as first_file,
        max(firsts.file_no) as last_file
    from shown_rows
    inner join firsts
        on firsts.kind = shown_rows.kind
        and firsts.reference = shown_rows.reference
        and firsts.file_no = shown_rows.file_no
    where shown_rows.payer is not null
    group by shown_rows.cardholder
)
select
    count(*) as tokens,
    count(*) filter (where tokens.first_file < tokens.last_file) as shared,
    (select count(distinct firsts.file_no) from firsts) as files
from tokens;

-- name: cards
-- reads: shown_rows(cardholder, payer)
-- How many card or instrument tokens there are, and how many come with several cardholder tokens.
with cards as (
    select xor(shown_rows.payer, shown_rows.cardholder) as card
    from shown_rows
    group by card
    having min(shown_rows.cardholder) < max(shown_rows.cardholder)
)
select
    (select count(distinct xor(shown_rows.payer, shown_rows.cardholder)) from shown_rows) as cards,
    (select count(*) from cards) as changing;

-- name: merchants
-- reads: shown_merchants(merchant_identifier_type, merchant_identifier, merchant_id, row_count)
-- The merchants of all files as rows name them. Grain: one row per way to name one.
select
    shown_merchants.merchant_identifier_type, shown_merchants.merchant_identifier,
    shown_merchants.merchant_id, cast(sum(shown_merchants.row_count) as bigint) as row_count
from shown_merchants
group by
    shown_merchants.merchant_identifier_type, shown_merchants.merchant_identifier,
    shown_merchants.merchant_id;
