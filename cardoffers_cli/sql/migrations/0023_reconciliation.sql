-- Which redemption each credited row is of, what was found of each, what a person accepted of that,
-- and what each run came to. Nothing of all this is ever changed: rows are added.

-- name: credit_links
-- Grain: one row per credited row whose redemption is known. Append only: a link is for ever.
create table credit_links (
    credit_no bigint not null,
    institution_id uuid not null,
    redemption_no bigint not null,
    status varchar not null,
    amount decimal(18, 4) not null,
    credited_at timestamp not null,
    run_no bigint not null
);

-- name: reconciliation_verdicts
-- Grain: one row per subject and run that found of it what the run before had not; the newest counts.
-- Append only.
create table reconciliation_verdicts (
    institution_id uuid not null,
    subject varchar not null,
    subject_no bigint not null,
    run_no bigint not null,
    code varchar not null,
    finding_id uuid,
    currency varchar not null,
    amount decimal(18, 4),
    credited_amount decimal(18, 4) not null,
    moved_amount decimal(18, 4) not null,
    credited_rows bigint not null,
    since_at timestamp not null
);

-- name: finding_acceptances
-- Grain: one row per finding and person who accepted it. Append only.
create table finding_acceptances (
    finding_id uuid not null,
    institution_id uuid not null,
    actor varchar not null,
    reason varchar not null,
    run_no bigint not null,
    accepted_at timestamp not null
);

-- name: reconciliations
-- Grain: one row per institution and run. Append only.
create table reconciliations (
    institution_id uuid not null,
    run_no bigint not null,
    redemptions bigint not null,
    credited_rows bigint not null,
    verdicts bigint not null,
    last_redemption_no bigint not null,
    last_credit_no bigint not null
);

-- name: reconciliation_totals
-- Grain: one row per institution, run, verdict and currency. Append only.
create table reconciliation_totals (
    institution_id uuid not null,
    run_no bigint not null,
    code varchar not null,
    currency varchar not null,
    verdicts bigint not null,
    redemptions bigint not null,
    credited_rows bigint not null,
    amount decimal(38, 4) not null,
    credited_amount decimal(38, 4) not null,
    moved_amount decimal(38, 4) not null
);
