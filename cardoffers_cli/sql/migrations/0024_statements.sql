-- Statements: what an institution is owed for a month, closed and numbered. Nothing of all this is
-- ever changed: rows are added. No settlement of before is on a statement; the first one of an
-- institution takes them.

-- name: statements
-- Grain: one row per institution and period that was closed. Append only.
create table statements (
    statement_no bigint not null primary key,
    institution_id uuid not null,
    number varchar not null unique,
    series varchar not null,
    year integer not null,
    place integer not null,
    from_at timestamp not null,
    to_at timestamp not null,
    currency varchar not null,
    entry_count bigint not null,
    adjustment_count bigint not null,
    carried_in decimal(38, 4) not null,
    entries decimal(38, 4) not null,
    adjustments decimal(38, 4) not null,
    carried_out decimal(38, 4) not null,
    payable decimal(38, 4) not null,
    pending_count bigint not null,
    pending decimal(38, 4) not null,
    sha256 varchar not null,
    previous_number varchar,
    previous_sha256 varchar,
    closed_at timestamp not null,
    run_no bigint not null,
    actor varchar not null
);

-- name: statement_settlements
-- Grain: one row per settlement that a statement took: it is on that one for ever. Append only.
create table statement_settlements (
    settlement_no bigint not null primary key,
    institution_id uuid not null,
    statement_no bigint not null
);
