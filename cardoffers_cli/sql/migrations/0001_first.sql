-- name: migrations
-- Grain: one row per migration applied to this store.
create table migrations (
    version integer not null primary key,
    name varchar not null,
    digest varchar not null,
    engine_version varchar not null,
    applied_at timestamp not null
);

-- name: currencies
-- Grain: one row per ISO 4217 currency; filled from `domain/money.py`.
create table currencies (
    currency varchar not null primary key,
    minor_unit tinyint not null
);

-- name: runs
-- Grain: one row per job that wrote something. Run numbers only grow, and say what was known when.
create table runs (
    run_no bigint not null primary key,
    run_id uuid not null,
    kind varchar not null,
    as_of timestamp not null,
    actor varchar not null,
    counts varchar
);

-- name: institutions
-- Grain: one row per institution with its program. Languages are `en|es`, the first the default.
create table institutions (
    institution_id uuid not null primary key,
    slug varchar not null unique,
    name varchar not null,
    plan varchar not null,
    currency varchar not null,
    languages varchar not null,
    max_active_offers integer,
    widget_limit integer not null,
    settlement_hold_days integer not null,
    webhook_url varchar
);

-- name: merchants
-- Grain: one row per merchant.
create table merchants (
    merchant_id uuid not null primary key,
    merchant_no integer not null,
    name varchar not null,
    category varchar
);

-- name: identifiers
-- Grain: one row per merchant identifier that a catalogue or a purchase ever carried; merchant_id
-- is null until a catalogue says whose it is.
create table identifiers (
    identifier_no bigint not null,
    merchant_identifier_type varchar not null,
    merchant_identifier varchar not null,
    merchant_id uuid
);

-- name: offers
-- Grain: one row per offer, as the catalogue has it now. Segments are `a|b`, null for everybody.
create table offers (
    offer_no integer not null,
    offer_id varchar not null primary key,
    merchant_id uuid not null,
    min_spend decimal(18, 4) not null,
    cashback_amount decimal(18, 4) not null,
    currency varchar not null,
    commission_rate decimal(9, 6) not null,
    budget_amount decimal(18, 4),
    starts_at timestamp not null,
    expires_at timestamp not null,
    segments varchar,
    max_redemptions_per_cardholder integer,
    is_paused boolean not null
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
-- Grain: one row per offer and run that changed its terms; a decision of run n was made with the
-- newest version before n. Append only.
create table offer_versions (
    offer_no integer not null,
    run_no bigint not null,
    merchant_id uuid not null,
    min_spend decimal(18, 4) not null,
    cashback_amount decimal(18, 4) not null,
    commission_rate decimal(9, 6) not null,
    budget_amount decimal(18, 4),
    starts_at timestamp not null,
    expires_at timestamp not null,
    max_redemptions_per_cardholder integer
);

-- name: program_offers
-- Grain: one row per offer in the program of an institution.
create table program_offers (
    institution_id uuid not null,
    offer_id varchar not null,
    position integer not null,
    primary key (institution_id, offer_id)
);

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
    instrument_token varchar not null
);

-- name: links
-- Grain: one row per cardholder and offer (enrolment). Run numbers say since when it was known.
create table links (
    institution_id uuid not null,
    cardholder_no bigint not null,
    instrument_no bigint not null,
    offer_no integer not null,
    added_at timestamp not null,
    run_no bigint not null
);

-- name: imports
-- Grain: one row per transaction file imported. received = accepted + duplicates + invalid.
create table imports (
    import_no bigint not null primary key,
    import_id uuid not null,
    institution_id uuid not null,
    run_no bigint not null,
    file_name varchar not null,
    file_kind varchar not null,
    file_sha256 varchar not null,
    size_bytes bigint not null,
    received bigint not null,
    accepted bigint not null,
    duplicates bigint not null,
    conflicts bigint not null,
    invalid bigint not null,
    blank_lines bigint not null,
    amount_accepted decimal(38, 4) not null,
    currency varchar not null,
    options varchar not null,
    imported_at timestamp not null
);

-- name: purchases
-- Grain: one row per accepted transaction event; (institution_id, transaction_ref) is unique, kept
-- so by the anti-join of `pipeline/admit` and proven by an audit. Append only.
create table purchases (
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
    import_no bigint,
    line bigint
);

-- name: purchase_details
-- Grain: one row per purchase that carried any of these optional fields; matching uses none of them.
create table purchase_details (
    purchase_no bigint not null,
    institution_id uuid not null,
    instrument_type varchar,
    mcc varchar,
    merchant_descriptor varchar,
    network varchar
);

-- name: rejects
-- Grain: one row per error of a row that was not accepted; never the row itself.
create table rejects (
    import_no bigint not null,
    institution_id uuid not null,
    line bigint not null,
    transaction_ref varchar,
    field varchar,
    code varchar not null,
    message varchar not null
);

-- name: duplicates
-- Grain: one row per line whose ref was known already; is_conflict where its content differed.
create table duplicates (
    import_no bigint not null,
    institution_id uuid not null,
    line bigint not null,
    transaction_ref varchar not null,
    is_conflict boolean not null
);

-- name: decisions
-- Grain: one row per purchase and run that decided it; the newest counts. Append only.
-- merchant_unresolved stands once, until a later run finds the merchant.
create table decisions (
    purchase_no bigint not null,
    run_no bigint not null,
    outcome varchar not null,
    merchant_no integer
);

-- name: outcomes
-- Grain: one row per decided purchase and offer of its merchant that its cardholder had a link to.
-- Every other offer of the merchant was `not_enrolled`. Append only.
create table outcomes (
    purchase_no bigint not null,
    offer_no integer not null,
    run_no bigint not null,
    outcome varchar not null
);

-- name: redemptions
-- Grain: one row per purchase that redeemed an offer. Append only.
create table redemptions (
    redemption_no bigint not null,
    redemption_id uuid not null,
    institution_id uuid not null,
    purchase_no bigint not null,
    cardholder_no bigint not null,
    offer_no integer not null,
    run_no bigint not null,
    created_at timestamp not null
);

-- name: ledger_entries
-- Grain: one row per redemption. Amounts are never edited; the state is also the redemption's.
create table ledger_entries (
    redemption_no bigint not null,
    entry_id uuid not null,
    institution_id uuid not null,
    cardholder_no bigint not null,
    offer_no integer not null,
    merchant_id uuid not null,
    currency varchar not null,
    merchant_funded_amount decimal(18, 4) not null,
    commission_amount decimal(18, 4) not null,
    institution_payout_amount decimal(18, 4) not null,
    status varchar not null,
    created_at timestamp not null,
    settles_at timestamp not null,
    settled_at timestamp,
    reversed_at timestamp,
    reversal_reason varchar,
    settlement_no bigint
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
    merchant_funded_amount decimal(38, 4) not null,
    commission_amount decimal(38, 4) not null,
    institution_payout_amount decimal(38, 4) not null,
    settled_at timestamp not null
);

-- name: adjustments
-- Grain: one row per reversal of a settled entry, its amounts negative; settlement_no is null
-- until the next settlement takes it.
create table adjustments (
    redemption_no bigint not null,
    institution_id uuid not null,
    currency varchar not null,
    merchant_funded_amount decimal(18, 4) not null,
    commission_amount decimal(18, 4) not null,
    institution_payout_amount decimal(18, 4) not null,
    created_at timestamp not null,
    settlement_no bigint
);

-- name: audit_log
-- Grain: one row per changed value of a catalogue row or a setting. Append only.
create table audit_log (
    audit_no bigint not null,
    run_no bigint not null,
    happened_at timestamp not null,
    actor varchar not null,
    institution_id uuid,
    subject varchar not null,
    subject_id varchar not null,
    field varchar not null,
    old_value varchar,
    new_value varchar
);

-- name: derived_id
-- A UUID (RFC 9562, version 8) from the SHA-256 of what it identifies, so that doing a step twice
-- makes the same id.
create macro derived_id(content) as cast(
    regexp_replace(substr(sha256(content), 1, 32), '^(.{12}).(.{3}).(.{15})$', '\18\2a\3') as uuid
);

-- name: round_to_minor_unit
-- An amount rounded half up (amounts are not negative) to 0, 2, 3 or 4 decimals. Each branch is
-- cast: left alone, the result would take the scale of the first one.
create macro round_to_minor_unit(amount, minor_unit) as case minor_unit
    when 0 then cast(round(amount, 0) as decimal(18, 4))
    when 2 then cast(round(amount, 2) as decimal(18, 4))
    when 3 then cast(round(amount, 3) as decimal(18, 4))
    when 4 then cast(round(amount, 4) as decimal(18, 4))
end;

-- name: offer_terms
-- What an offer costs its merchant per redemption: the one money formula in SQL. Widened to 38
-- digits before the multiplication. Grain: one row per offer.
create view offer_terms as
with costed as (
    select
        offers.*,
        round_to_minor_unit(
            cast(offers.cashback_amount as decimal(28, 4)) * offers.commission_rate,
            currencies.minor_unit
        ) as commission_amount
    from offers
    inner join currencies on currencies.currency = offers.currency
)
select
    costed.*,
    cast(costed.cashback_amount + costed.commission_amount as decimal(18, 4))
        as merchant_funded_amount,
    merchants.merchant_no
from costed
inner join merchants on merchants.merchant_id = costed.merchant_id;
