-- The tables of a new store, and its first rows; `views.sql` of slices has what is read of them. This
-- is schema 1: a later one is a file in `kernel/store/migrations/`, and the same change here. All
-- moments are UTC. Amounts are in the currency beside them.

-- What ran, and what it changed

-- name: schema_versions
-- Grain: one row per schema that this store was brought to. Stores from before schema 1 do not have
-- this table, by which they are known.
create table schema_versions (
    version integer not null primary key,
    name varchar not null,
    digest varchar not null,  -- SHA-256 of its statements
    engine_version varchar not null,
    applied_at timestamp not null
);

-- name: store_views
-- Grain: one row, with the digest of the views and macros that this store has.
create table store_views (
    only_row boolean not null primary key,
    digest varchar not null  -- SHA-256 of their statements
);

-- name: runs
-- Grain: one row per job that wrote something. Run numbers only grow, and say what was known
-- when.
create table runs (
    run_no bigint not null primary key,
    run_id uuid not null,
    kind varchar not null,
    as_of timestamp not null,  -- the clock of the run
    machine_at timestamp not null,  -- the machine's when it began; of a rehearsal, as_of
    actor varchar not null,
    counts varchar  -- JSON; null until the run is finished
);

-- name: rehearsal
-- Grain: one row in a store that is a rehearsal for ever, else none.
create table rehearsal (only_row boolean not null primary key);

-- name: audit_log
-- Grain: one row per changed value of a catalogue row or a setting. Append only.
create table audit_log (
    audit_no bigint not null,
    run_no bigint not null,
    happened_at timestamp not null,
    actor varchar not null,
    institution_id uuid,
    subject varchar not null,  -- such as offer, institution
    subject_id varchar not null,
    field varchar not null,
    old_value varchar,
    new_value varchar
);

-- The catalogue

-- name: currencies
-- Grain: one row per ISO 4217 currency; filled from `kernel/words/money.py`.
create table currencies (
    currency varchar not null primary key,
    minor_unit tinyint not null  -- decimals of the currency: 0, 2, 3 or 4
);

-- name: institutions
-- Grain: one row per institution with its program.
create table institutions (
    institution_id uuid not null primary key,
    slug varchar not null unique,  -- the name in commands
    name varchar not null,
    plan varchar not null,
    currency varchar not null,
    languages varchar not null,  -- `en|es`, the first the default
    max_active_offers integer,  -- that a cardholder may hold; null for no limit
    widget_limit integer not null,  -- the most offers that a feed shows
    settlement_hold_days integer not null,  -- from redemption to settlement
    webhook_url varchar,
    require_marker boolean default false,  -- files need a marker or a manifest beside them
    refund_window_days integer default 180,  -- from a purchase to a refund without a reference
    refund_auto_link varchar default 'never',  -- such refunds link by themselves: or unique_exact
    hold_short varchar default 'both',  -- files with few rows are held: on, off, both: if cut off too
    clawback_days integer,  -- from settlement to the last refund that takes back; null for ever
    webhook_events varchar default 'completed',  -- the words of `kernel/words/events.toml`: what it is sent
    approvals varchar default 'off',  -- some actions need a second person: on or off
    approval_limit decimal(18, 4),  -- up to which those with a limit need none; null: all need one
    shares_tokens_with varchar,  -- `a|b`: others whose cardholders have the same tokens
    credit_days integer default 7,  -- from a redemption until it is expected to be credited
    tax_id varchar,  -- as its statements say it
    tax_note varchar,
    address varchar,  -- in one line
    country varchar,  -- ISO 3166 alpha-2
    time_zone varchar,  -- in which its months are cut; null for UTC
    numbers varchar,  -- lengths of its numbers that a person declared: `transaction_ref=13,16`
    accepts_percent boolean default false  -- its program may have percent offers
);

-- name: number_evidence
-- What an institution's numbers in an issuer's range were, over all it ever sent: how many different
-- ones, and how many with a right check digit (rules.md#card-numbers). Grain: one row per
-- institution, field, length and form.
create table number_evidence (
    institution_id uuid not null,
    field varchar not null,
    length integer not null,
    form varchar not null,  -- alone, or joined to letters
    issued bigint not null,
    "right" bigint not null,
    met blob not null,  -- a bit for each remainder that a number had
    is_taken boolean not null,  -- right ones were taken as references once
    primary key (institution_id, field, length, form)
);

-- name: institution_accounts
-- The account that an institution is paid to. Grain: one row per institution that has one.
create table institution_accounts (
    institution_id uuid not null primary key,
    account varchar not null,  -- IBAN, IBAN/BIC or ROUTING/NUMBER
    holder varchar not null,
    set_at timestamp not null,
    address varchar,  -- of the holder: town and country, as `London, GB`
    set_by varchar not null,
    usable_at timestamp not null  -- from when on it is paid
);

-- name: institution_profiles
-- The layout profile that an institution's own files are read by. Grain: one row per institution
-- that has one.
create table institution_profiles (
    institution_id uuid not null primary key,
    toml varchar not null,  -- as it was given, comments too
    digest varchar not null,  -- of what it says; imports keep it
    set_at timestamp not null
);

-- name: watched_institutions
-- Grain: one row per institution that is watched.
create table watched_institutions (
    institution_id uuid not null primary key,
    since_at timestamp not null
);

-- name: expectations
-- What is expected of an institution from a moment on, so that the past is judged by what held then.
-- Grain: one row per institution and change. Append only.
create table expectations (
    institution_id uuid not null,
    set_at timestamp not null,
    run_no bigint not null,
    expects varchar not null,  -- one a line; empty for none
    holidays varchar not null  -- a date and its name a line; empty for none
);

-- name: merchants
-- Grain: one row per merchant.
create table merchants (
    merchant_id uuid not null primary key,
    merchant_no integer not null,
    name varchar not null,
    category varchar,
    net_days integer,  -- within which it pays an invoice; null for 30
    tax_id varchar,  -- as its invoices say it
    tax_note varchar,
    address varchar,  -- in one line
    country varchar  -- ISO 3166 alpha-2
);

-- name: identifiers
-- Grain: one row per merchant identifier that a catalogue or a purchase ever carried.
create table identifiers (
    identifier_no bigint not null,
    merchant_identifier_type varchar not null,
    merchant_identifier varchar not null,
    merchant_id uuid  -- null until a catalogue says whose it is
);

-- name: merchant_answers
-- Grain: one row per answer of a person to whose an identifier is; the newest of an identifier and a
-- merchant counts. Append only.
create table merchant_answers (
    answer_no bigint not null primary key,
    identifier_no bigint not null,
    merchant_id uuid not null,
    answer varchar not null,  -- accepted, refused, new (a merchant was made of it) or unlinked
    reason varchar not null,
    actor varchar not null,
    run_no bigint not null,
    answered_at timestamp not null
);

-- name: offers
-- Grain: one row per offer, as the catalogue has it now.
create table offers (
    offer_no integer not null,
    offer_id varchar not null primary key,
    merchant_id uuid not null,
    min_spend decimal(18, 4) not null,
    cashback_amount decimal(18, 4),  -- null for a percent offer
    currency varchar not null,
    commission_rate decimal(9, 6) not null,
    budget_amount decimal(18, 4),  -- shared by all programs; null for no budget
    starts_at timestamp not null,
    expires_at timestamp not null,  -- the first moment after it
    segments varchar,  -- `a|b`; null for everybody
    max_redemptions_per_cardholder integer,  -- null for no limit
    is_paused boolean not null,
    reward_type varchar,  -- percent; null for a fixed amount, so that digests of older rows stay
    cashback_percent decimal(5, 2),  -- of a percent offer: of the purchase, and at most the next
    max_cashback_amount decimal(18, 4),
    commission_basis varchar,  -- what the rate is of: spend; null for the cashback
    max_commission_amount decimal(18, 4)  -- null for no limit
);

-- name: offer_texts
-- Grain: one row per offer and language.
create table offer_texts (
    offer_id varchar not null,
    language varchar not null,
    title varchar,
    description varchar,
    primary key (offer_id, language)
);

-- name: offer_versions
-- Grain: one row per offer and run that changed it, or since when its terms count. `known_at` is
-- the clock of the import, or the `effective_at` that it gave; the first version counts from the
-- beginning, whatever its `known_at`. A purchase is judged by reward, minimum, commission and
-- limit of the newest version known at its moment, and by dates, merchant and budget of the
-- newest of all. Append only.
create table offer_versions (
    offer_no integer not null,
    run_no bigint not null,  -- the run that brought it, and its number in version_no
    known_at timestamp not null,  -- from when its terms count
    merchant_id uuid not null,
    min_spend decimal(18, 4) not null,
    cashback_amount decimal(18, 4),
    commission_rate decimal(9, 6) not null,
    budget_amount decimal(18, 4),
    starts_at timestamp not null,
    expires_at timestamp not null,
    max_redemptions_per_cardholder integer,
    reward_type varchar,
    cashback_percent decimal(5, 2),
    max_cashback_amount decimal(18, 4),
    commission_basis varchar,
    max_commission_amount decimal(18, 4)
);

-- name: terms_of_purchases
-- Grain: one row. Runs up to this one decided by the terms that were newest at the run; later
-- ones by the terms in force at each purchase.
create table terms_of_purchases (
    after_run_no bigint not null
);

-- name: no_runs_of_before
-- Writes terms_of_purchases: no run of a new store decided otherwise.
insert into terms_of_purchases (after_run_no)
values (0);

-- name: program_offers
-- Grain: one row per offer in the program of an institution.
create table program_offers (
    institution_id uuid not null,
    offer_id varchar not null,
    position integer not null,  -- where a feed shows it
    primary key (institution_id, offer_id)
);

-- Cardholders, and what they saw and added

-- name: cardholders
-- Grain: one row per cardholder token of an institution. The only place of full tokens.
create table cardholders (
    cardholder_no bigint not null,
    institution_id uuid not null,
    cardholder_token varchar not null
);

-- name: instruments
-- Grain: one row per cardholder and instrument token (card, wallet or account).
create table instruments (
    instrument_no bigint not null,
    cardholder_no bigint not null,
    institution_id uuid not null,
    instrument_token varchar not null  -- of a card, wallet or account
);

-- name: links
-- Grain: one row per cardholder and offer (enrolment). Run numbers say since when it was known.
create table links (
    institution_id uuid not null,
    cardholder_no bigint not null,
    instrument_no bigint not null,
    offer_no integer not null,
    added_at timestamp not null,
    run_no bigint not null  -- since when the link was known
);

-- name: engagement
-- Grain: one row per widget view or offer impression, from feed reads and from engagement files.
-- Append only.
create table engagement (
    institution_id uuid not null,
    cardholder_no bigint not null,
    event varchar not null,  -- widget_view or offer_impression
    offer_no integer,  -- null for a widget view
    occurred_at timestamp not null,
    run_no bigint  -- null for a feed read
);

-- What institutions sent

-- name: imports
-- Grain: one row per transaction file, or call, taken in. received = accepted + duplicates +
-- invalid.
create table imports (
    import_no bigint not null primary key,
    import_id uuid not null,
    institution_id uuid not null,
    run_no bigint not null,
    file_name varchar not null,
    file_kind varchar not null,  -- csv, json, jsonl, call …
    file_sha256 varchar not null,
    size_bytes bigint not null,
    received bigint not null,
    accepted bigint not null,
    duplicates bigint not null,
    conflicts bigint not null,  -- duplicates with other content
    invalid bigint not null,
    blank_lines bigint not null,
    amount_accepted decimal(38, 4) not null,
    currency varchar not null,
    options varchar not null,  -- JSON
    imported_at timestamp not null,
    kind_of_rows varchar default 'purchases'  -- refunds or credits
);

-- name: recent_purchases
-- Grain: one row per accepted transaction event that is still in the store; with those of the
-- history it is the view `purchases`. (institution_id, transaction_ref) is unique, kept so by the
-- anti-join of `river/admit` and proven by an audit. Append only.
create table recent_purchases (
    purchase_no bigint not null,
    institution_id uuid not null,
    transaction_ref varchar not null,
    cardholder_no bigint not null,
    instrument_no bigint not null,
    identifier_no bigint,  -- what the merchant was named by, if anything
    merchant_id uuid,  -- as it was sent; it may be nobody's
    amount decimal(18, 4) not null,
    currency varchar not null,
    transacted_at timestamp not null,  -- when it was made; the offer is judged by this moment
    received_at timestamp not null,
    import_no bigint,
    line bigint  -- line of the file, or item of the call
);

-- name: purchase_refs
-- Grain: one row per purchase, wherever its row is: `ref_hash` of its institution and reference, which
-- is compared first. Two references may have one hash, so their texts decide. Append only.
create table purchase_refs (
    ref_hash ubigint not null,
    purchase_no bigint not null
);

-- name: purchase_looks
-- Grain: one row per purchase up to the last one here, wherever its row is: the `look` of instrument,
-- amount and second, which purchases that are alike have in common (rules.md#look-alikes). Others may
-- have it too, so what it is of decides. An import adds those that came since. Append only.
create table purchase_looks (
    look bigint not null,
    purchase_no bigint not null
);

-- name: recent_purchase_details
-- Grain: one row per recent purchase that carried any of these optional fields; matching uses
-- none of them. Read as `purchase_details`.
create table recent_purchase_details (
    purchase_no bigint not null,
    institution_id uuid not null,
    instrument_type varchar,
    mcc varchar,
    merchant_descriptor varchar,
    network varchar
);

-- name: refunds
-- Grain: one row per accepted refund, as it was sent. (institution_id, refund_ref) is unique, kept so
-- as that of purchases. Append only.
create table refunds (
    refund_no bigint not null,
    institution_id uuid not null,
    refund_ref varchar not null,
    ref_hash ubigint not null,  -- of institution and refund_ref, as in purchase_refs
    kind varchar not null,  -- refund, void or adjustment
    original_transaction_ref varchar,  -- of its purchase, if the institution named it
    cardholder_no bigint,
    instrument_no bigint,
    identifier_no bigint,  -- what the merchant was named by, if anything
    merchant_id uuid,  -- as it was sent; it may be nobody's
    amount decimal(18, 4) not null,  -- what came back, above zero
    currency varchar not null,
    refunded_at timestamp not null,
    received_at timestamp not null,
    import_no bigint,
    line bigint  -- line of the file, or item of its list
);

-- name: credits
-- Grain: one row per accepted row of a credited file, as it was sent. (institution_id, credit_ref) is
-- unique, kept so as that of purchases. Append only.
create table credits (
    credit_no bigint not null,
    institution_id uuid not null,
    credit_ref varchar not null,
    ref_hash ubigint not null,  -- of institution and credit_ref, as in purchase_refs
    redemption_id uuid,  -- what was credited; it may be nobody's, and null beside transaction_ref
    transaction_ref varchar,  -- of the purchase that redeemed, if that is what was named
    status varchar not null,  -- credited, failed or reversed
    failure_code varchar,  -- why it failed, in the institution's words
    amount decimal(18, 4) not null,  -- above zero, whatever the status
    currency varchar not null,
    credited_at timestamp not null,  -- when it was credited, failed or was reversed
    received_at timestamp not null,
    import_no bigint,
    line bigint  -- line of the file, or item of its list
);

-- name: rejects
-- Grain: one row per error of a row that was not accepted; never the row itself.
create table rejects (
    import_no bigint not null,
    institution_id uuid not null,
    line bigint not null,
    transaction_ref varchar,
    field varchar,  -- null where it is of the whole row
    code varchar not null,
    message varchar not null
);

-- name: duplicates
-- Grain: one row per line whose ref was known already.
create table duplicates (
    import_no bigint not null,
    institution_id uuid not null,
    line bigint not null,
    transaction_ref varchar not null,
    is_conflict boolean not null  -- its content differed
);

-- Files that were taken back

-- name: withdrawn_imports
-- Grain: one row per file that a person took back (rules.md#withdrawn-files). Its rows left the tables
-- that they were in; the highest numbers they had are not given again. Append only.
create table withdrawn_imports (
    import_no bigint not null primary key,
    import_id uuid not null,
    institution_id uuid not null,
    file_name varchar not null,
    file_sha256 varchar not null,
    kind_of_rows varchar not null,
    accepted bigint not null,
    amount_accepted decimal(38, 4) not null,
    currency varchar not null,
    imported_at timestamp not null,
    imported_by varchar not null,
    redeemed bigint not null,  -- redemptions that were reversed by it
    last_purchase_no bigint,  -- null where it had none, as the next
    last_redemption_no bigint,
    reason varchar not null,
    actor varchar not null,
    run_no bigint not null,
    withdrawn_at timestamp not null
);

-- name: withdrawn_purchases
-- Grain: one row per purchase of a withdrawn import, with its optional fields. Append only.
create table withdrawn_purchases (
    purchase_no bigint not null,
    institution_id uuid not null,
    transaction_ref varchar not null,
    cardholder_no bigint not null,
    instrument_no bigint not null,
    identifier_no bigint,
    merchant_id uuid,
    amount decimal(18, 4) not null,
    currency varchar not null,
    transacted_at timestamp not null,
    received_at timestamp not null,
    import_no bigint not null,
    line bigint,
    instrument_type varchar,
    mcc varchar,
    network varchar,
    merchant_descriptor varchar
);

-- name: withdrawn_rows
-- Grain: one row per row of any other table that left with a withdrawn import. Append only.
create table withdrawn_rows (
    import_no bigint not null,
    institution_id uuid not null,
    cardholder_no bigint,  -- null where it is of the file
    table_name varchar not null,
    content varchar not null  -- JSON: its columns, but references, reasons and names of files
);

-- What waits for a match

-- name: match_watermark
-- Grain: one row, the number of the last purchase that a run of match looked at. Numbers are handed
-- out in order, and a match looks at all there is, so every later purchase waits, and no earlier one
-- but those of unresolved_purchases.
create table match_watermark (
    purchase_no bigint not null
);

-- name: nothing_looked_at
-- Writes match_watermark: no match looked at anything in a new store.
insert into match_watermark (purchase_no)
values (0);

-- name: unresolved_purchases
-- Grain: one row per purchase that a match looked at and found no merchant for. It goes when a match
-- finds one. The columns are those of the purchase that a match, and who lists them, reads.
create table unresolved_purchases (
    purchase_no bigint not null,
    institution_id uuid not null,
    cardholder_no bigint not null,
    identifier_no bigint,
    merchant_id uuid,  -- as it was sent
    amount decimal(18, 4) not null,
    currency varchar not null,
    transacted_at timestamp not null
);

-- What was decided

-- name: recent_decisions
-- Grain: one row per purchase and run that decided it; the newest counts. Append only.
-- merchant_unresolved stands once, until a later run finds the merchant. Read as `decisions`.
create table recent_decisions (
    purchase_no bigint not null,
    run_no bigint not null,
    outcome varchar not null,
    merchant_no integer  -- null while nobody knows the merchant
);

-- name: recent_outcomes
-- Grain: one row per decided purchase and offer of its merchant that its cardholder had a link
-- to. Every other offer of the merchant was `not_enrolled`. Append only. Read as `outcomes`.
create table recent_outcomes (
    purchase_no bigint not null,
    offer_no integer not null,
    run_no bigint not null,
    outcome varchar not null
);

-- name: redemptions
-- Grain: one row per purchase that redeemed an offer. Append only.
create table redemptions (
    redemption_no bigint not null,
    redemption_id uuid not null,  -- derived from institution, reference and offer
    institution_id uuid not null,
    purchase_no bigint not null,
    cardholder_no bigint not null,
    offer_no integer not null,
    run_no bigint not null,
    created_at timestamp not null,
    version_no bigint,  -- the version (its run) whose terms it was given
    purchase_amount decimal(18, 4),  -- of its purchase, as the next two; null of one that was lost
    purchased_at timestamp,
    transaction_ref varchar
);

-- What came back

-- name: refund_links
-- Grain: one row per refund that was found to be of a purchase. Append only: a link is for ever.
create table refund_links (
    refund_no bigint not null,
    institution_id uuid not null,
    purchase_no bigint not null,
    amount decimal(18, 4) not null,  -- of the refund: it is no longer left of the purchase
    how varchar not null,  -- referenced, policy or person
    actor varchar not null,
    reason varchar,  -- what a person said
    run_no bigint not null,
    linked_at timestamp not null
);

-- name: refund_outcomes
-- Grain: one row per refund and run that found something of it; the newest counts. Append only.
create table refund_outcomes (
    refund_no bigint not null,
    institution_id uuid not null,
    run_no bigint not null,
    outcome varchar not null,
    purchase_no bigint,  -- null where none was found
    redemption_no bigint,  -- null where the purchase has none
    purchase_amount decimal(18, 4),
    refund_amount decimal(18, 4) not null,
    net_after decimal(18, 4)  -- what was left of the purchase after this refund
);

-- name: refund_dismissals
-- Grain: one row per refund that a person laid aside. Append only.
create table refund_dismissals (
    refund_no bigint not null,
    institution_id uuid not null,
    actor varchar not null,
    reason varchar not null,
    run_no bigint not null,
    dismissed_at timestamp not null
);

-- The money

-- name: ledger_entries
-- Grain: one row per redemption. Amounts are never edited; the state is also the redemption's.
create table ledger_entries (
    redemption_no bigint not null,
    entry_id uuid not null,
    institution_id uuid not null,
    cardholder_no bigint not null,
    offer_no integer not null,
    merchant_id uuid not null,  -- of the offer, when it was redeemed
    currency varchar not null,
    merchant_funded_amount decimal(18, 4) not null,  -- commission and payout together
    commission_amount decimal(18, 4) not null,
    institution_payout_amount decimal(18, 4) not null,  -- the cashback
    status varchar not null,  -- pending, settled or reversed: the redemption's too
    created_at timestamp not null,
    settles_at timestamp not null,  -- when the hold ends
    settled_at timestamp,
    reversed_at timestamp,
    reversal_reason varchar,
    settlement_no bigint  -- stays when a settled entry is reversed
);

-- name: ledger_moves
-- Grain: one row per change of state of a ledger entry, the first into pending. Append only.
create table ledger_moves (
    redemption_no bigint not null,
    run_no bigint not null,
    status varchar not null,
    moved_at timestamp not null,
    actor varchar not null,
    reason varchar
);

-- name: settlements
-- Grain: one row per institution, currency and settle run. Amounts are net of adjustments.
create table settlements (
    settlement_no bigint not null primary key,
    settlement_id uuid not null,
    institution_id uuid not null,
    run_no bigint not null,
    currency varchar not null,
    entries bigint not null,
    adjustments bigint not null,
    merchant_funded_amount decimal(38, 4) not null,  -- net of adjustments, as the next two
    commission_amount decimal(38, 4) not null,
    institution_payout_amount decimal(38, 4) not null,
    settled_at timestamp not null
);

-- name: adjustments
-- Grain: one row per reversal of a settled entry, and per refund that reduced a redemption; amounts
-- are negative.
create table adjustments (
    redemption_no bigint not null,
    institution_id uuid not null,
    currency varchar not null,
    merchant_funded_amount decimal(18, 4) not null,
    commission_amount decimal(18, 4) not null,
    institution_payout_amount decimal(18, 4) not null,
    created_at timestamp not null,
    settlement_no bigint,  -- null until the next settlement takes it
    refund_no bigint,  -- that reduced the redemption, in this run; null for a reversal
    run_no bigint,
    offer_no integer  -- whose budget a reduction gives back to, until the redemption is reversed
);

-- What was credited, held against what was redeemed

-- name: credit_links
-- Grain: one row per credited row whose redemption is known. Append only: a link is for ever.
create table credit_links (
    credit_no bigint not null,
    institution_id uuid not null,
    redemption_no bigint not null,
    status varchar not null,  -- of the credited row, as the next two
    amount decimal(18, 4) not null,
    credited_at timestamp not null,
    run_no bigint not null,
    is_of_other_ref boolean default false  -- it names another purchase than its redemption_id
);

-- name: reconciliation_verdicts
-- Grain: one row per subject and run that found of it what the run before had not; the newest counts.
-- Append only.
create table reconciliation_verdicts (
    institution_id uuid not null,
    subject varchar not null,  -- redemption, or credit: a credited row of no known redemption;
    -- of the bank's side statement, or entry: one of no payout, whose institution is all zeros
    subject_no bigint not null,  -- its redemption_no, credit_no, statement_no or entry_no
    run_no bigint not null,
    code varchar not null,  -- the verdict; `known_now` ends what was said of a credited row alone
    finding_id uuid,  -- derived from the subject and the code; null where nothing is wrong
    currency varchar not null,
    amount decimal(18, 4),  -- the cashback of the redemption, or what the statement pays; else null
    credited_amount decimal(38, 4) not null,  -- what stands as credited, or is paid
    moved_amount decimal(38, 4) not null,  -- credited less reversed, all of its rows
    credited_rows bigint not null,  -- of a statement, entries of banks
    since_at timestamp not null,  -- from when its age counts
    bank_code varchar  -- as the bank gave it, on its side
);

-- name: finding_acceptances
-- Grain: one row per finding and person who accepted it. Append only.
create table finding_acceptances (
    finding_id uuid not null,
    institution_id uuid not null,
    actor varchar not null,
    reason varchar not null,
    run_no bigint not null,  -- it holds as long as no later run finds anything new
    accepted_at timestamp not null
);

-- name: reconciliations
-- Grain: one row per institution and run. Append only.
create table reconciliations (
    institution_id uuid not null,
    run_no bigint not null,
    redemptions bigint not null,  -- of the institution, as the ledger has them
    credited_rows bigint not null,  -- of the institution, as they came
    verdicts bigint not null,  -- of redemptions and credited rows
    last_redemption_no bigint not null,  -- the next run looks at what came behind these two
    last_credit_no bigint not null,
    statements bigint default 0,  -- that pay anything
    bank_entries bigint default 0  -- of its payouts, or of none
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
    amount decimal(38, 4) not null,  -- the cashback of these redemptions, or what statements pay
    credited_amount decimal(38, 4) not null,
    moved_amount decimal(38, 4) not null,
    statements bigint default 0,
    bank_entries bigint default 0
);

-- name: statements
-- What an institution is owed for a period, closed for ever (rules.md#statements). `number` is that
-- of people, `place` that in its series and year, from 1 without a gap.
-- Grain: one row per institution and period that was closed. Append only.
create table statements (
    statement_no bigint not null primary key,
    institution_id uuid not null,
    number varchar not null unique,  -- `LARKMERE-2026-000010`
    series varchar not null,  -- the institution's slug in capitals
    year integer not null,  -- of the first day of the period
    place integer not null,
    from_at timestamp not null,
    to_at timestamp not null,  -- the first moment after it
    currency varchar not null,
    entry_count bigint not null,
    adjustment_count bigint not null,
    carried_in decimal(38, 4) not null,  -- zero or less, as carried_out
    entries decimal(38, 4) not null,  -- what its entries pay the institution
    adjustments decimal(38, 4) not null,  -- zero or less
    carried_out decimal(38, 4) not null,
    payable decimal(38, 4) not null,  -- zero or more
    pending_count bigint not null,  -- entries on hold when it was closed: for information
    pending decimal(38, 4) not null,
    sha256 varchar not null,  -- of its CSV file
    previous_number varchar,  -- null of the first of an institution
    previous_sha256 varchar,
    closed_at timestamp not null,
    run_no bigint not null,
    actor varchar not null,
    time_zone varchar,  -- in which its month was cut; null for UTC
    tax_id varchar,  -- of the institution, as it was then
    tax_note varchar,
    address varchar,
    country varchar,
    issuer varchar,  -- as the settings said then
    issuer_address varchar,
    issuer_tax_id varchar
);

-- name: invoice_periods
-- A month for which all merchants were invoiced. Grain: one row per period that was closed. Append only.
create table invoice_periods (
    period_no bigint not null primary key,
    from_at timestamp not null,
    to_at timestamp not null,  -- the first moment after it
    closed_at timestamp not null,
    run_no bigint not null,
    actor varchar not null
);

-- name: closed_settlements
-- Grain: one row per settlement that a statement took, and per one that a period of invoices took: it
-- is of that one for ever. Append only.
create table closed_settlements (
    document varchar not null,  -- statement, or invoice
    settlement_no bigint not null,
    institution_id uuid not null,
    closing_no bigint not null,  -- of the statement, or of the period of invoices
    primary key (document, settlement_no)
);

-- name: closed_offers
-- What offers and their merchants were called when a statement or a period of invoices was closed.
-- Grain: one row per closing, offer and merchant. Append only.
create table closed_offers (
    document varchar not null,  -- statement, or invoice
    closing_no bigint not null,
    offer_no integer not null,
    merchant_id uuid not null,
    merchant_name varchar not null,
    offer_title varchar  -- null where it has none in the institution's language, or in English
);

-- name: invoices
-- What a merchant is asked for a period, and credit notes on what was reversed later
-- (rules.md#invoices). Grain: one row per period, merchant and currency, and per invoice that a credit
-- note of these amends. Append only.
create table invoices (
    invoice_no bigint not null primary key,
    number varchar not null unique,  -- `INV-2026-000001`, `CN-2026-000001`
    series varchar not null,  -- INV, or CN of credit notes
    year integer not null,  -- of the first day of the period
    place integer not null,  -- in its series and year, from 1 without a gap
    period_no bigint not null,
    merchant_id uuid not null,
    merchant_name varchar not null,  -- as it was then
    currency varchar not null,
    amended_period_no bigint,  -- of the invoice that a credit note amends
    amends varchar,  -- the number of that invoice; null of an invoice
    line_count bigint not null,
    amount decimal(38, 4) not null,  -- what the merchant funds; zero or less of a credit note
    net_days integer not null,
    issued_on date not null,
    due_on date not null,
    sha256 varchar not null,  -- of its CSV file
    previous_number varchar,  -- the one before it in its series
    previous_sha256 varchar,
    tax_id varchar,  -- of the merchant, as it was then
    tax_note varchar,
    address varchar,
    country varchar,
    issuer varchar,  -- as the settings said then
    issuer_address varchar,
    issuer_tax_id varchar,
    pay_to varchar,  -- the account, null where none was set, and of a credit note
    time_zone varchar  -- in which its month was cut; null for UTC
);

-- name: legal_invoices
-- What the accounting system says of an invoice or credit note: the newest run of a number counts.
-- Grain: one row per run and number. Append only.
create table legal_invoices (
    run_no bigint not null,
    number varchar not null,
    legal_number varchar,
    tax decimal(38, 4)  -- zero or less of a credit note
);

-- How institutions are paid, and what the bank says

-- name: invoice_settlements
-- What was settled of an invoice otherwise than by a receipt. Grain: one row per run. Append only.
create table invoice_settlements (
    run_no bigint not null,
    number varchar not null,
    settled_as varchar not null,  -- set-off, write-off or dispute
    amount decimal(38, 4) not null,
    reason varchar not null
);

-- name: payment_files
-- The files that were written for the bank. Grain: one row per file. Append only.
create table payment_files (
    sha256 varchar not null primary key,
    content varchar not null
);

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
    sha256 varchar not null,  -- of the file that it is in
    due_on date not null,
    made_at timestamp not null,  -- when the file was made: at the request for its approval
    exported_at timestamp not null,
    run_no bigint not null,
    actor varchar not null,
    reason varchar,  -- why it is paid again
    withdrawn_at timestamp,  -- and who withdrew it why: then it is to be paid by another
    withdrawn_by varchar,
    withdrawn_reason varchar,
    withdrawn_run_no bigint,
    unique (number, attempt)
);

-- name: bank_files
-- Grain: one row per file of a bank that was taken in, each time. Append only.
create table bank_files (
    bank_file_no bigint not null primary key,
    file_name varchar not null,
    form varchar not null,  -- xml, nacha, csv, mt940 or bai2
    sha256 varchar not null,
    received_at timestamp not null,
    run_no bigint not null
);

-- name: bank_entries
-- What a bank said of payments: the same entry of one kind of message is here once. Whose payment it
-- is tells view told_entries, and which of them count view bank_bookings.
-- Grain: one row per entry and kind of message. Append only.
create table bank_entries (
    entry_id uuid not null,  -- derived from what it says
    bank_file_no bigint not null,  -- the first file that had it
    place varchar not null,  -- in that file
    status varchar not null,  -- booked, returned, rejected, accepted, pending, notice, unexplained
    direction varchar not null,  -- credit or debit, of the service's own account
    payment_id varchar,
    trace varchar,
    amount decimal(38, 4),
    currency varchar,
    booked_at timestamp,
    code varchar,  -- as the bank gave it
    bank_ref varchar,
    entry_no bigint,  -- in the order in which they came; verdicts name it
    message varchar,  -- camt.052 to camt.054, pain.002, nacha, csv, mt940 or bai2
    account varchar,  -- the end of the number of the service's own account, where it is told
    payer_id uuid,  -- the merchant whose name is in that of who paid, or in the text
    legal_match varchar  -- the invoice whose legal number is in it; `suspense` where it names several
);

-- name: bank_statements
-- What files of banks say of an account over some days. Grain: one row per statement of a file. Append
-- only.
create table bank_statements (
    bank_file_no bigint not null,
    message varchar not null,  -- camt.053, mt940 or bai2
    account varchar,  -- as bank_entries has it
    currency varchar,
    from_on date,  -- null, as all that follows, where there are no balances
    to_on date,
    opening decimal(38, 4),
    closing decimal(38, 4),
    is_proved boolean not null  -- its entries come to its balances
);

-- name: bank_allocations
-- Which invoices a receipt pays, as a person says: the newest run of an entry counts.
-- Grain: one row per run, entry and invoice. Append only.
create table bank_allocations (
    run_no bigint not null,
    entry_id uuid not null,
    number varchar not null,  -- of the invoice, or `suspense`
    amount decimal(38, 4) not null,
    actor varchar not null,
    reason varchar not null
);

-- The journal: what was done to money, by account (rules.md#double-entry-journal)

-- name: journal_entries
-- Grain: one row per run, event and document. Append only.
create table journal_entries (
    entry_no bigint not null primary key,  -- from 1, without a gap
    run_no bigint not null,
    event varchar not null,  -- of the view posting_rules
    posted_on date not null,  -- by the clock of the run
    document varchar  -- the number of a statement or invoice, the id of a payment or bank entry
);

-- name: journal_lines
-- Grain: one row per entry, account, party, item and currency. Append only.
create table journal_lines (
    entry_no bigint not null,
    account varchar not null,  -- of the view posting_rules
    party_id uuid,  -- the institution or merchant whose account it is
    item varchar,  -- the document or payment in it that is open until its lines come to zero
    currency varchar not null,
    amount decimal(38, 4) not null  -- a debit is positive, a credit negative
);

-- What the watch found, and what it looks at

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

-- Counts that are kept of all this; `river/counts` says how

-- name: counted_up_to
-- How far the kept counts go: what comes behind is counted where it stands, and put on top.
-- Append only: the highest numbers hold. Grain: one row per time of counting.
create table counted_up_to (
    purchase_no bigint not null,
    redemption_no bigint not null,
    run_no bigint not null
);

-- name: purchase_counts
-- How many purchases of an institution were counted, and what they come to. Append only.
-- Grain: one row per institution and time of counting.
create table purchase_counts (
    institution_id uuid not null,
    purchases bigint not null,
    amount decimal(38, 4) not null,
    last_purchase_at timestamp not null
);

-- name: redemption_counts
-- Redemptions of one match by offer and state, with their money and that of their purchases. A
-- change of state takes redemptions out of one state and puts them into another. Append only; rows
-- of one grain are summed.
create table redemption_counts (
    institution_id uuid not null,
    run_no bigint,
    created_at timestamp not null,
    offer_no integer not null,
    merchant_id uuid not null,
    currency varchar not null,
    status varchar not null,
    redemptions bigint not null,
    merchant_funded_amount decimal(38, 4) not null,
    commission_amount decimal(38, 4) not null,
    institution_payout_amount decimal(38, 4) not null,
    purchase_amount decimal(38, 4) not null
);

-- name: purchase_day_counts
-- Redemptions of one match by state and by the day of their purchase. Append only, as
-- redemption_counts.
create table purchase_day_counts (
    institution_id uuid not null,
    created_at timestamp not null,
    currency varchar not null,
    status varchar not null,
    purchased_on date not null,
    redemptions bigint not null,
    institution_payout_amount decimal(38, 4) not null
);

-- name: offer_counts
-- Links to an offer, and its redemptions that were not reversed. Grain: one row per institution and
-- offer with any.
create table offer_counts (
    institution_id uuid not null,
    offer_no integer not null,
    links bigint not null,
    redemptions bigint not null,
    merchant_funded_amount decimal(38, 4) not null
);

-- Events for institutions

-- name: outbox
-- Grain: one row per event: what an institution is sent of one subject (`kernel/words/events.toml`). A row
-- is claimed while it is being sent.
create table outbox (
    event_no bigint not null,
    kind varchar not null,
    subject_id uuid not null,  -- of the redemption, or derived from what it is the event of
    subject varchar,  -- what people call it, as the number of a statement; null of a redemption
    redemption_no bigint,  -- null of an event of anything else
    institution_id uuid not null,
    run_no bigint not null,  -- the run in which it happened
    moot_when varchar,  -- after what there is nothing to tell: reversed, not_announced; null: never
    body varchar not null,  -- the exact bytes (UTF-8) of every attempt, maybe the full token in them
    occurred_at timestamp not null,
    state varchar not null,  -- due, delivered, failed (the schedule goes on) or exhausted
    attempts integer not null,  -- all of them
    failures integer not null,  -- along the schedule
    next_attempt_at timestamp,
    claimed_at timestamp,
    is_claimed_manually boolean,
    is_held_back boolean  -- from before its webhook was set, and not to be sent
);

-- name: attempts
-- Grain: one row per attempt to deliver an event. Append only.
create table attempts (
    event_no bigint not null,
    redemption_no bigint,  -- as in outbox
    institution_id uuid not null,
    number integer not null,
    run_no bigint not null,
    secret_no bigint,
    signed_at_s bigint,  -- the Unix time that was signed, by the real clock
    started_at timestamp not null,
    http_status integer,
    error varchar,  -- null: delivered; `unknown`: a crash cut it off
    duration_ms integer,
    is_manual boolean not null,
    delay_ms bigint,  -- to the next, jitter and Retry-After included
    next_attempt_at timestamp
);

-- name: webhook_secrets
-- Grain: one row per signing secret of an institution: the one that signs, and at most one that
-- is to follow it. The newest that is active signs.
create table webhook_secrets (
    secret_no bigint not null primary key,
    institution_id uuid not null,
    secret_sha256 varchar not null,  -- the text is in a file beside the store
    created_at timestamp not null,
    activate_at timestamp not null
);

-- Keys, messages, security

-- name: api_keys
-- Grain: one row per API key. The key itself is nowhere: only its SHA-256, and what shows which
-- one is meant. A rotated key ends at `retires_at`, if its successor was made with an overlap.
create table api_keys (
    key_id uuid not null primary key,
    institution_id uuid not null,
    name varchar not null,
    prefix varchar not null,
    last_four varchar not null,
    key_hash varchar not null,
    scopes varchar,  -- `offers|reporting|transactions`; null: from before scopes, all three
    created_at timestamp not null,
    expires_at timestamp,
    replaced_by uuid,
    rotated_at timestamp,
    retires_at timestamp,
    revoked_at timestamp,
    last_used_at timestamp
);

-- name: key_notices
-- Grain: one row per key, end and notice given (14_days, 3_days, day_of). Append only.
create table key_notices (
    key_id uuid not null,
    ends_at timestamp not null,
    notice varchar not null,  -- 14_days, 3_days or day_of
    given_at timestamp not null,
    primary key (key_id, ends_at, notice)
);

-- name: inbox_messages
-- Grain: one row per message to an institution's team. Its id is derived from the institution,
-- the kind and what it is about, so the same thing is never said twice.
create table inbox_messages (
    message_id uuid not null primary key,  -- derived, so that nothing is said twice
    institution_id uuid not null,
    kind varchar not null,
    text varchar not null,
    created_at timestamp not null,
    read_at timestamp
);

-- name: acts
-- What was done, by whom (rules.md#acts). Grain: one row per act, each carrying the hash of the row
-- before it. Append only.
create table acts (
    act_no bigint not null,
    event_id uuid not null,
    run_no bigint,  -- that did it; null of what is done outside of runs
    happened_at timestamp not null,
    institution_id uuid,
    key_id uuid,
    kind varchar not null,
    subject varchar,  -- what it was done to; null so far
    actor varchar not null,
    approver varchar,  -- the second person, where one was asked
    row_sha256 varchar,  -- of the rows that it made; null so far
    details varchar not null,  -- JSON
    previous_hash varchar not null,  -- 64 zeros for the first row
    hash varchar not null
);

-- Approvals of a second person

-- name: approvals
-- Grain: one row per request for an approval. What was asked for is never changed; the answer and
-- the use are written once.
create table approvals (
    approval_id uuid not null primary key,  -- derived from institution, digest and number
    institution_id uuid not null,
    number integer not null,  -- of the requests of one institution and digest, from 1
    action varchar not null,  -- such as redemption_reverse
    subject varchar not null,  -- what it is done to, for people
    amount decimal(38, 4),  -- null where it is about none
    currency varchar,
    details varchar not null,  -- JSON: what the second person is to know
    digest varchar not null,  -- SHA-256 of action, subject, amount and details
    maker varchar not null,  -- who asked
    requested_at timestamp not null,
    expires_at timestamp not null,  -- the request, and the approval too
    signed_by varchar,  -- the first approver, who asks
    request_signature varchar,  -- equal for all requests that were signed together
    answer varchar,  -- given or refused; null while there is none
    answered_by varchar,  -- the second approver, or whoever refused
    answered_at timestamp,
    answer_signature varchar,
    reason varchar,
    used_by varchar,
    used_at timestamp,
    used_run_no bigint
);

-- name: approvers
-- Who may sign requests for approvals. Grain: one row per approver, also when removed: neither name
-- nor key is used again.
create table approvers (
    name varchar not null primary key,
    public_key varchar not null unique,  -- as OpenSSH writes it, without the comment
    institution_id uuid,  -- whose requests alone; null: of all
    limit_amount decimal(18, 4),  -- up to which amount; null: any, and requests without one
    currency varchar,  -- of the limit
    added_run_no bigint not null,
    removed_run_no bigint
);

-- Privacy

-- name: erasures
-- Grain: one row per erasure of a cardholder (rules.md#erasure). Append only.
create table erasures (
    erasure_id uuid not null primary key,  -- derived: institution, keyed hash, place among those alike
    institution_id uuid not null,
    cardholder_no bigint,  -- null where a restored store had nobody to erase
    token_hash varchar not null,  -- HMAC-SHA256, its key beside the store
    reason varchar not null,
    erased_at timestamp not null,
    run_no bigint not null,
    actor varchar not null
);

-- name: legal_holds
-- Grain: one row per hold that was set or lifted, of an institution or one cardholder of it; the newest
-- counts. Append only.
create table legal_holds (
    hold_no bigint not null primary key,
    institution_id uuid not null,
    cardholder_no bigint,  -- null: of the institution, with all its cardholders
    is_on boolean not null,
    reason varchar not null,
    set_at timestamp not null,
    run_no bigint not null,
    actor varchar not null
);

-- Nights

-- name: nights
-- Grain: one row per night: what `nightly` does for one date, however often it has to begin
-- again.
create table nights (
    night_no bigint not null primary key,
    run_id uuid not null,
    run_no bigint not null,
    as_of timestamp not null,
    number integer not null,  -- of the nights of one date, from 1
    drop_folder varchar not null,
    after_run_no bigint not null,  -- its reports cover the runs after this one
    to_run_no bigint,  -- up to this one
    began_at timestamp not null,  -- of the real clock, as ended_at
    ended_at timestamp,
    last_run_no bigint,  -- the newest run when it ended
    processed_folder varchar not null
);

-- name: night_steps
-- Grain: one row per step of a night that is done.
create table night_steps (
    night_no bigint not null,
    position integer not null,
    name varchar not null,
    status varchar not null,
    began_at timestamp not null,  -- of the real clock, as ended_at
    ended_at timestamp not null,
    counts varchar not null,  -- JSON, as findings
    findings varchar not null,
    is_told boolean default false  -- in the text of a command that was printed
);

-- name: night_files
-- Grain: one row per file that a night found ready.
create table night_files (
    night_no bigint not null,
    file_no integer not null,
    institution varchar not null,
    file_name varchar not null,
    stamp varchar not null,  -- tells it from a later file of its name
    taken_as varchar not null,  -- its name where it is kept
    state varchar not null,  -- waiting, then imported, failed, held, changed or gone
    report varchar,  -- JSON of the import, or of the failure
    is_moved boolean not null,
    taken_bytes bigint,  -- of what was read, as stored; null where nothing was
    taken_sha256 varchar,
    looked_stamp varchar,  -- what a later night found, once it was those bytes
    accepted_sha256 varchar  -- what was accepted in their place
);

-- name: picked_files
-- A file that was fetched from a place of an institution. Grain: one row per place, name and stamp.
create table picked_files (
    picked_no bigint not null primary key,
    institution_id uuid not null,
    place varchar not null,  -- its URL, without the user
    remote_name varchar not null,
    stamp varchar not null,  -- tells it from a later file of its name
    size_bytes bigint not null,  -- as it lay there, as sha256
    sha256 varchar not null,
    placed_sha256 varchar not null,  -- of what went into the drop folder
    drop_name varchar not null,  -- its name there
    fetched_at timestamp not null,  -- of the real clock, as ended_at
    ended_at timestamp,  -- when it was done with at its place
    outcome varchar  -- then removed, moved, kept, replaced or gone
);

-- The history outside of the store

-- name: history
-- Where the history of this store is: a folder. Grain: one row for a store that has one, else
-- none.
create table history (
    root varchar not null
);

-- name: history_parts
-- The history: what may be read of its folder, and what must be found there. A part is the
-- Parquet files of `<root>/<table_name>/run=<run_id>/`; a folder that is not listed was never
-- finished. Grain: one row per table and run. Append only.
create table history_parts (
    table_name varchar not null,
    run_no bigint not null,
    run_id uuid not null,
    row_count bigint not null,
    purchase_no_sum decimal(38, 0) not null,
    amount decimal(38, 4),  -- null where the table has none
    primary key (table_name, run_id)
);

-- name: history_left
-- Parts of the history whose rows are in a merged part by now: `history_parts` has lost them, and
-- nothing reads them. Their folders stay for a while, because a snapshot and backups of this
-- store may list them; a row goes with its folder. Grain: one row per table and run.
create table history_left (
    table_name varchar not null,
    run_id uuid not null,
    left_at timestamp not null,
    primary key (table_name, run_id)
);
