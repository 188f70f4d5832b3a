-- What the bank says becomes verdicts and findings of the reconciliation, and a statement whose
-- payment came back is paid again.

-- name: bank_entries_numbers
-- By which a verdict names an entry.
alter table bank_entries add column entry_no bigint;

-- name: bank_entries_numbered
-- Fills in the numbers of what is there, in the order it came.
update bank_entries
set entry_no = numbered.entry_no
from (
    select
        bank_entries.entry_id,
        row_number() over (order by bank_entries.bank_file_no, bank_entries.entry_id) as entry_no
    from bank_entries
) as numbered
where numbered.entry_id = bank_entries.entry_id;

-- name: reconciliation_verdicts_bank_code
-- The code that the bank gave, of a verdict of its side.
alter table reconciliation_verdicts add column bank_code varchar;

-- name: reconciliation_verdicts_credited_amount
-- What a bank booked may be more than any cashback.
alter table reconciliation_verdicts alter column credited_amount type decimal(38, 4);

-- name: reconciliation_verdicts_moved_amount
-- So do its returns. Whoever runs it again changes no type.
alter table reconciliation_verdicts alter column moved_amount type decimal(38, 4);

-- name: reconciliations_statements
-- How many statements are to be paid; zero in runs of before.
alter table reconciliations add column statements bigint default 0;

-- name: reconciliations_bank_entries
-- How many entries of banks there are, as statements.
alter table reconciliations add column bank_entries bigint default 0;

-- name: reconciliation_totals_statements
-- How many of the verdicts are of statements.
alter table reconciliation_totals add column statements bigint default 0;

-- name: reconciliation_totals_bank_entries
-- How many entries of banks the verdicts tell of.
alter table reconciliation_totals add column bank_entries bigint default 0;

-- name: payouts_of_before
-- One statement may have several payments now, which a constraint forbade.
alter table payouts rename to payouts_of_before;

-- name: payouts
-- The payments of statements, as they were written for the bank: whoever asks again gets the same
-- bytes. Another payment of a statement is made where the one before came back. Append only.
-- Grain: one row per payment.
create table payouts (
    payout_no bigint not null primary key,
    institution_id uuid not null,
    number varchar not null,  -- of the statement
    attempt integer not null,  -- from 1 on, of a statement
    payment_id varchar not null unique,  -- the end-to-end id
    trace varchar,  -- the trace number, of NACHA
    amount decimal(38, 4) not null,
    currency varchar not null,
    form varchar not null,  -- pain.001, nacha or csv
    account varchar not null,  -- that is paid, masked
    content varchar not null,  -- the file
    sha256 varchar not null,
    due_on date not null,
    exported_at timestamp not null,
    run_no bigint not null,
    actor varchar not null,
    reason varchar,  -- why it is paid again
    unique (number, attempt)
);

-- name: payouts_with_their_attempt
-- Each is the first of its statement.
insert into payouts (
    payout_no, institution_id, number, attempt, payment_id, trace, amount, currency, form, account,
    content, sha256, due_on, exported_at, run_no, actor
)
select
    before.payout_no, before.institution_id, before.number, 1, before.payment_id, before.trace,
    before.amount, before.currency, before.form, before.account, before.content, before.sha256,
    before.due_on, before.exported_at, before.run_no, before.actor
from payouts_of_before as before
order by before.payout_no;

-- name: payouts_moved
-- All of them are in payouts by now.
drop table payouts_of_before;
