-- Approvals of a second person: which institutions want them, what was asked for, and the answers.

-- name: institutions_approvals
-- Whether some actions need the approval of a second person: on or off.
alter table institutions add column approvals varchar default 'off';

-- name: institutions_approval_limit
-- Up to which amount, in the currency of the program, actions that have a limit need none; null: all
-- of them do.
alter table institutions add column approval_limit decimal(18, 4);

-- name: approvals
-- Grain: one row per request for an approval. What was asked for is never changed; the answer and
-- the use are written once.
create table approvals (
    approval_id uuid not null primary key,
    institution_id uuid not null,
    number integer not null,
    action varchar not null,
    subject varchar not null,
    amount decimal(38, 4),
    currency varchar,
    details varchar not null,
    digest varchar not null,
    maker varchar not null,
    requested_at timestamp not null,
    expires_at timestamp not null,
    answer varchar,
    answered_by varchar,
    answered_at timestamp,
    reason varchar,
    used_by varchar,
    used_at timestamp,
    used_run_no bigint
);
