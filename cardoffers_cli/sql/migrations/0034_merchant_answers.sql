-- A person's answers to suggestions are kept, so that none is asked for twice.

-- name: merchant_answers
-- Grain: one row per answer of a person to whose an identifier is; the newest of an identifier and a
-- merchant counts. Append only.
create table merchant_answers (
    answer_no bigint not null primary key,
    identifier_no bigint not null,
    merchant_id uuid not null,
    answer varchar not null,
    reason varchar not null,
    actor varchar not null,
    run_no bigint not null,
    answered_at timestamp not null
);
