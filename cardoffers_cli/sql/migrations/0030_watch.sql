-- The watch: which institutions are watched, what was found, and what each of their files looked like.

-- name: watched_institutions
-- Grain: one row per institution that is watched.
create table watched_institutions (
    institution_id uuid not null primary key,
    since_at timestamp not null
);

-- name: watch_findings
-- What the watch found. Grain: one row per institution, code, subject and day.
create table watch_findings (
    finding_id uuid not null primary key,  -- derived from these four
    institution_id uuid not null,
    code varchar not null,
    subject varchar not null,  -- a file's name, or what has a number or an id; never a token
    about_on date not null,
    figures varchar not null,  -- JSON of exact numbers
    found_at timestamp not null,
    run_no bigint not null,
    state varchar not null,  -- open, accepted or resolved
    closed_at timestamp,
    closed_by varchar,
    reason varchar
);

-- name: import_shapes
-- What a file looked like, beside what `imports` counts. Grain: one row per import of a file of an
-- institution that was watched then.
create table import_shapes (
    import_no bigint not null primary key,
    institution_id uuid not null,
    about_on date not null,  -- that the middle one of its accepted rows is of
    median_amount decimal(18, 4),  -- of its accepted rows; null where there is none
    unknown_merchants bigint not null,  -- accepted purchases of them
    cardholders bigint not null,  -- of its accepted purchases
    new_cardholders bigint not null,  -- of these, known by no row or link before
    redeemed bigint  -- of its purchases, at the first look behind a match; null before
);

-- name: import_merchants
-- How many purchases a file had of its largest merchants. Grain: one row per import and merchant.
create table import_merchants (
    import_no bigint not null,
    institution_id uuid not null,
    merchant_id uuid not null,
    purchases bigint not null
);

-- name: watch_looks
-- How far a look at what came in has gone. Grain: one row per institution and run that looked.
create table watch_looks (
    institution_id uuid not null,
    run_no bigint not null,
    redemption_no bigint not null,
    instrument_no bigint not null
);
