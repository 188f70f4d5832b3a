-- Payouts: to which account an institution is paid, what was written for the bank, what it said.

-- name: institution_accounts
-- The account that an institution is paid to. Grain: one row per institution that has one.
create table institution_accounts (
    institution_id uuid not null primary key,
    account varchar not null,  -- IBAN, IBAN/BIC or ROUTING/NUMBER
    holder varchar not null,
    set_at timestamp not null
);

-- name: payouts
-- The one payment of a statement, as it was written for the bank: whoever asks again gets the same
-- bytes. Grain: one row per statement that was exported. Append only.
create table payouts (
    payout_no bigint not null primary key,
    institution_id uuid not null,
    number varchar not null unique,  -- of the statement
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
    actor varchar not null
);

-- name: bank_files
-- Grain: one row per file of a bank that was taken in, each time. Append only.
create table bank_files (
    bank_file_no bigint not null primary key,
    file_name varchar not null,
    form varchar not null,  -- xml, nacha or csv
    sha256 varchar not null,
    received_at timestamp not null,
    run_no bigint not null
);

-- name: bank_entries
-- What a bank said of payments, whichever files say it: the same entry is here once. Whose payment
-- it is, view payout_entries tells. Grain: one row per entry. Append only.
create table bank_entries (
    entry_id uuid not null,  -- derived from what it says
    bank_file_no bigint not null,  -- the first file that had it
    place varchar not null,  -- in that file
    status varchar not null,  -- booked, returned, rejected, accepted, pending or notice
    direction varchar not null,  -- credit or debit, of the service's own account
    payment_id varchar,
    trace varchar,
    amount decimal(38, 4),
    currency varchar,
    booked_at timestamp,
    code varchar,  -- as the bank gave it
    bank_ref varchar
);
