-- name: load
-- changes: staged_rows(line)
-- Reads frame; writes staged_rows, a further page of the same file.
insert into staged_rows by name
from frame;

-- name: refuse
-- changes: staged_rows(line)
-- reads: catalogue_findings(kind, line, level)
-- Deletes the lines found wrong from staged_rows.
delete from staged_rows
where line in (select line from catalogue_findings where kind = $kind and level = 'error');

-- name: compare
-- reads: staged_rows(line), known_rows(line, institution_id, subject_id)
-- changes: catalogue_changes(line, institution_id, subject_id, field, old_value, new_value)
-- Writes what the rows of a file change: the columns that known has too, and whose texts differ.
insert into catalogue_changes
with present as (
    select
        line, institution_id, subject_id,
        cast(columns(* exclude (line, institution_id, subject_id)) as varchar)
    from known_rows
),

given as (
    select line, cast(columns(* exclude (line)) as varchar)
    from staged_rows
),

old as (
    select line, institution_id, subject_id, field, old_value
    from present
    unpivot include nulls (
        old_value for field in (columns(* exclude (line, institution_id, subject_id)))
    )
),

new as (
    select line, field, new_value
    from given
    unpivot include nulls (new_value for field in (columns(* exclude (line))))
)

select old.line, old.institution_id, old.subject_id, old.field, old.old_value, new.new_value
from old
inner join new on new.line = old.line and new.field = old.field
where old.old_value is distinct from new.new_value;

-- name: institutions_stage
-- makes: staged_rows(line, slug, institution_id, name, plan, currency, languages,
--     max_active_offers, widget_limit, settlement_hold_days, webhook_url, require_marker,
--     credit_days, tax_id, tax_note, address, country, accepts_percent)
-- Reads frame. Grain: one row per line of the file that is well formed, without those found wrong.
create temp table staged_rows as
select
    line, slug, cast(frame.institution_id as uuid) as institution_id, name, plan, currency,
    languages, cast(frame.max_active_offers as integer) as max_active_offers,
    cast(frame.widget_limit as integer) as widget_limit,
    cast(frame.settlement_hold_days as integer) as settlement_hold_days, webhook_url,
    cast(frame.require_marker as boolean) as require_marker,
    cast(frame.credit_days as integer) as credit_days, tax_id, tax_note, address, country,
    cast(frame.accepts_percent as boolean) as accepts_percent
from frame;

-- name: institutions_check
-- reads: staged_rows(line, slug, institution_id, currency)
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads staged_rows and institutions; writes catalogue_findings.
insert into catalogue_findings
with placed as (
    select
        line, slug, institution_id, currency,
        row_number() over (partition by slug order by line) as nth_of_slug,
        row_number() over (partition by institution_id order by line) as nth_of_id
    from staged_rows
),

used as (
    select institution_id from program_offers
    union
    select institution_id from links
    union
    select institution_id from purchases
),

final as (
    select line, 'slug' as field, 'duplicate_key' as code,
        'an earlier row has the same slug' as message
    from placed
    where nth_of_slug > 1
    union all
    select line, 'institution_id', 'duplicate_key', 'an earlier row has the same institution_id'
    from placed
    where nth_of_id > 1 and institution_id is not null
    union all
    select placed.line, 'institution_id', 'duplicate_key',
        'institution_id belongs to an institution with another slug'
    from placed
    inner join institutions
        on institutions.institution_id = placed.institution_id
        and institutions.slug != placed.slug
    where placed.nth_of_id = 1
    union all
    select placed.line, 'institution_id', 'id_conflict',
        'the institution is known under another institution_id'
    from placed
    inner join institutions
        on institutions.slug = placed.slug
        and institutions.institution_id != placed.institution_id
    union all
    select placed.line, 'currency', 'currency_in_use',
        'the institution has offers, links or purchases in its present currency'
    from placed
    inner join institutions
        on institutions.slug = placed.slug
        and institutions.currency != placed.currency
    inner join used on used.institution_id = institutions.institution_id
)

select 'institutions', line, field, code, 'error', message
from final;

-- name: institutions_keep
-- changes: staged_rows(slug, institution_id, webhook_url, require_marker, credit_days, tax_id,
--     tax_note, address, country, accepts_percent)
-- Gives rows without an id the one their slug is known under. An empty webhook_url, require_marker,
-- credit_days or any column behind it leaves what there is: it may have been set apart from the catalogue,
-- and older files do not have the columns. `none` takes text away.
update staged_rows
set
    institution_id = institutions.institution_id,
    webhook_url = coalesce(staged_rows.webhook_url, institutions.webhook_url),
    require_marker = coalesce(staged_rows.require_marker, institutions.require_marker),
    credit_days = coalesce(staged_rows.credit_days, institutions.credit_days),
    tax_id = nullif(coalesce(staged_rows.tax_id, institutions.tax_id), 'none'),
    tax_note = nullif(coalesce(staged_rows.tax_note, institutions.tax_note), 'none'),
    address = nullif(coalesce(staged_rows.address, institutions.address), 'none'),
    country = nullif(coalesce(staged_rows.country, institutions.country), 'none'),
    accepts_percent = coalesce(staged_rows.accepts_percent, institutions.accepts_percent)
from institutions
where institutions.slug = staged_rows.slug;

-- name: institutions_without_id
-- reads: staged_rows(line, slug, institution_id)
-- The new institutions that came without an id.
select slug
from staged_rows
where institution_id is null
order by line;

-- name: institutions_give_id
-- changes: staged_rows(slug, institution_id)
-- Gives a new institution its id.
update staged_rows
set institution_id = $institution_id
where slug = $slug;

-- name: institutions_known
-- reads: staged_rows(line, slug)
-- makes: known_rows(line, institution_id, subject_id, name, plan, currency, languages,
--     max_active_offers, widget_limit, settlement_hold_days, webhook_url, require_marker,
--     credit_days, tax_id, tax_note, address, country, accepts_percent)
-- What the store says of the institutions staged. Grain: one row per line whose slug is known.
create temp table known_rows as
select
    staged_rows.line, known.institution_id, known.slug as subject_id, known.name, known.plan,
    known.currency, known.languages, known.max_active_offers, known.widget_limit,
    known.settlement_hold_days, known.webhook_url, known.require_marker, known.credit_days,
    known.tax_id, known.tax_note, known.address, known.country, known.accepts_percent
from staged_rows
inner join institutions as known on known.slug = staged_rows.slug;

-- name: institutions_update
-- reads: staged_rows(line, institution_id, name, plan, currency, languages, max_active_offers,
--     widget_limit, settlement_hold_days, webhook_url, require_marker, credit_days, tax_id, tax_note,
--     address, country, accepts_percent)
-- reads: catalogue_changes(line)
-- Reads staged_rows and catalogue_changes; writes the changed rows of institutions.
update institutions
set
    name = staged_rows.name,
    plan = staged_rows.plan,
    currency = staged_rows.currency,
    languages = staged_rows.languages,
    max_active_offers = staged_rows.max_active_offers,
    widget_limit = staged_rows.widget_limit,
    settlement_hold_days = staged_rows.settlement_hold_days,
    webhook_url = staged_rows.webhook_url,
    require_marker = staged_rows.require_marker,
    credit_days = staged_rows.credit_days,
    tax_id = staged_rows.tax_id,
    tax_note = staged_rows.tax_note,
    address = staged_rows.address,
    country = staged_rows.country,
    accepts_percent = staged_rows.accepts_percent
from staged_rows
where staged_rows.institution_id = institutions.institution_id
    and staged_rows.line in (select line from catalogue_changes);

-- name: institutions_insert
-- reads: staged_rows(slug, institution_id, name, plan, currency, languages, max_active_offers,
--     widget_limit, settlement_hold_days, webhook_url, require_marker, credit_days, tax_id, tax_note,
--     address, country, accepts_percent)
-- Reads staged_rows; writes institutions, the rows whose id is not there yet.
insert into institutions (
    institution_id, slug, name, plan, currency, languages,
    max_active_offers, widget_limit, settlement_hold_days, webhook_url, require_marker,
    credit_days, tax_id, tax_note, address, country, accepts_percent
)
select
    institution_id, slug, name, plan, currency, languages, max_active_offers, widget_limit,
    settlement_hold_days, webhook_url, coalesce(require_marker, false), coalesce(credit_days, 7),
    nullif(tax_id, 'none'), nullif(tax_note, 'none'), nullif(address, 'none'),
    nullif(country, 'none'), coalesce(accepts_percent, false)
from staged_rows
where not exists (
    select 1 from institutions where institutions.institution_id = staged_rows.institution_id
);

-- name: merchants_stage
-- makes: staged_rows(line, merchant_id, name, category, net_days, tax_id, tax_note, address, country)
-- Reads frame. Grain: one row per line of the file that is well formed, without those found wrong.
create temp table staged_rows as
select
    line, cast(frame.merchant_id as uuid) as merchant_id, name, category,
    cast(frame.net_days as integer) as net_days, tax_id, tax_note, address, country
from frame;

-- name: merchants_check
-- reads: staged_rows(line, merchant_id)
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads staged_rows; writes catalogue_findings.
insert into catalogue_findings
with placed as (
    select line, row_number() over (partition by merchant_id order by line) as nth
    from staged_rows
)

select 'merchants', line, 'merchant_id', 'duplicate_key', 'error',
    'an earlier row has the same merchant_id'
from placed
where nth > 1;

-- name: merchants_keep
-- changes: staged_rows(merchant_id, net_days, tax_id, tax_note, address, country)
-- An empty cell of the terms leaves what there is, as older files do not have these columns; `none`
-- takes text away.
update staged_rows
set
    net_days = coalesce(staged_rows.net_days, merchants.net_days),
    tax_id = nullif(coalesce(staged_rows.tax_id, merchants.tax_id), 'none'),
    tax_note = nullif(coalesce(staged_rows.tax_note, merchants.tax_note), 'none'),
    address = nullif(coalesce(staged_rows.address, merchants.address), 'none'),
    country = nullif(coalesce(staged_rows.country, merchants.country), 'none')
from merchants
where merchants.merchant_id = staged_rows.merchant_id;

-- name: merchants_known
-- reads: staged_rows(line, merchant_id)
-- makes: known_rows(line, institution_id, subject_id, name, category, net_days, tax_id, tax_note,
--     address, country)
-- What the store says of the merchants staged. Grain: one row per line whose merchant is known.
create temp table known_rows as
select
    staged_rows.line, cast(null as uuid) as institution_id,
    cast(merchants.merchant_id as varchar) as subject_id, merchants.name, merchants.category,
    merchants.net_days, merchants.tax_id, merchants.tax_note, merchants.address, merchants.country
from staged_rows
inner join merchants on merchants.merchant_id = staged_rows.merchant_id;

-- name: merchants_update
-- reads: staged_rows(line, merchant_id, name, category, net_days, tax_id, tax_note, address, country)
-- reads: catalogue_changes(line)
-- Reads staged_rows and catalogue_changes; writes the changed rows of merchants.
update merchants
set
    name = staged_rows.name,
    category = staged_rows.category,
    net_days = staged_rows.net_days,
    tax_id = staged_rows.tax_id,
    tax_note = staged_rows.tax_note,
    address = staged_rows.address,
    country = staged_rows.country
from staged_rows
where staged_rows.merchant_id = merchants.merchant_id
    and staged_rows.line in (select line from catalogue_changes);

-- name: merchants_insert
-- reads: staged_rows(merchant_id, name, category, net_days, tax_id, tax_note, address, country)
-- Reads staged_rows; writes merchants, the rows whose id is not there yet.
insert into merchants
    (merchant_no, merchant_id, name, category, net_days, tax_id, tax_note, address, country)
with highest as (
    select coalesce(max(merchant_no), 0) as merchant_no
    from merchants
)

select
    highest.merchant_no + row_number() over (order by staged_rows.merchant_id),
    staged_rows.merchant_id, staged_rows.name, staged_rows.category, staged_rows.net_days,
    nullif(staged_rows.tax_id, 'none'), nullif(staged_rows.tax_note, 'none'),
    nullif(staged_rows.address, 'none'), nullif(staged_rows.country, 'none')
from staged_rows
cross join highest
where not exists (select 1 from merchants where merchants.merchant_id = staged_rows.merchant_id);

-- name: merchant_identifiers_stage
-- makes: staged_rows(line, merchant_id, merchant_identifier_type, merchant_identifier)
-- Reads frame. Grain: one row per line of the file that is well formed, without those found wrong.
create temp table staged_rows as
select
    line, cast(frame.merchant_id as uuid) as merchant_id, merchant_identifier_type,
    merchant_identifier
from frame;

-- name: merchant_identifiers_check
-- reads: staged_rows(line, merchant_id, merchant_identifier_type, merchant_identifier)
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads staged_rows and merchants; writes catalogue_findings.
insert into catalogue_findings
with placed as (
    select
        line, merchant_id,
        row_number() over (
            partition by merchant_identifier_type, merchant_identifier order by line
        ) as nth
    from staged_rows
),

final as (
    select line, 'merchant_identifier' as field, 'duplicate_key' as code,
        'an earlier row has the same identifier' as message
    from placed
    where nth > 1
    union all
    select line, 'merchant_id', 'reference_unknown', 'there is no such merchant'
    from placed
    where not exists (select 1 from merchants where merchants.merchant_id = placed.merchant_id)
)

select 'merchant_identifiers', line, field, code, 'error', message
from final;

-- name: merchant_identifiers_known
-- reads: staged_rows(line, merchant_identifier_type, merchant_identifier)
-- makes: known_rows(line, institution_id, subject_id, merchant_id)
-- What the store says of the identifiers staged.
-- Grain: one row per line whose identifier has an owner.
create temp table known_rows as
select
    staged_rows.line, cast(null as uuid) as institution_id,
    staged_rows.merchant_identifier_type || ':' || staged_rows.merchant_identifier as subject_id,
    identifiers.merchant_id
from staged_rows
inner join identifiers using (merchant_identifier_type, merchant_identifier)
where identifiers.merchant_id is not null;

-- name: merchant_identifiers_stage_identifiers
-- reads: staged_rows(merchant_identifier_type, merchant_identifier)
-- makes: staged_identifiers(merchant_identifier_type, merchant_identifier)
-- Makes what `kernel/store/interning` reads.
create temp table staged_identifiers as
select merchant_identifier_type, merchant_identifier
from staged_rows;

-- name: merchant_identifiers_update
-- reads: staged_rows(merchant_id, merchant_identifier_type, merchant_identifier)
-- Reads staged_rows; writes the identifiers whose owner is another one.
update identifiers
set merchant_id = staged_rows.merchant_id
from staged_rows
where staged_rows.merchant_identifier_type = identifiers.merchant_identifier_type
    and staged_rows.merchant_identifier = identifiers.merchant_identifier
    and staged_rows.merchant_id != identifiers.merchant_id;

-- name: merchant_identifiers_insert
-- reads: staged_rows(merchant_id, merchant_identifier_type, merchant_identifier)
-- Reads staged_rows; writes the identifiers that had no owner, be it that they were
-- numbered just now or that so far only purchases carried them.
update identifiers
set merchant_id = staged_rows.merchant_id
from staged_rows
where staged_rows.merchant_identifier_type = identifiers.merchant_identifier_type
    and staged_rows.merchant_identifier = identifiers.merchant_identifier
    and identifiers.merchant_id is null;

-- name: offers_stage
-- makes: staged_rows(line, offer_id, merchant_id, title_en, title_es, title_pt-BR, description_en,
--     description_es, description_pt-BR, min_spend, cashback_amount, currency, commission_rate,
--     budget_amount, starts_at, expires_at, segments, max_redemptions_per_cardholder, paused,
--     effective_at, reward_type, cashback_percent, max_cashback_amount, commission_basis,
--     max_commission_amount)
-- What is the default of a reward is null. Reads frame. Grain: one row per line of the file that is well formed, without those found wrong.
create temp table staged_rows as
select
    line, offer_id, cast(frame.merchant_id as uuid) as merchant_id, title_en, title_es,
    "title_pt-BR", description_en, description_es, "description_pt-BR",
    cast(frame.min_spend as decimal(18, 4)) as min_spend,
    cast(frame.cashback_amount as decimal(18, 4)) as cashback_amount, currency,
    cast(frame.commission_rate as decimal(9, 6)) as commission_rate,
    cast(frame.budget_amount as decimal(18, 4)) as budget_amount,
    cast(frame.starts_at as timestamp) as starts_at,
    cast(frame.expires_at as timestamp) as expires_at, segments,
    cast(frame.max_redemptions_per_cardholder as integer) as max_redemptions_per_cardholder,
    cast(frame.paused as boolean) as paused, cast(frame.effective_at as timestamp) as effective_at,
    nullif(frame.reward_type, 'fixed') as reward_type,
    cast(frame.cashback_percent as decimal(5, 2)) as cashback_percent,
    cast(frame.max_cashback_amount as decimal(18, 4)) as max_cashback_amount,
    nullif(frame.commission_basis, 'cashback') as commission_basis,
    cast(frame.max_commission_amount as decimal(18, 4)) as max_commission_amount
from frame;

-- name: offers_check
-- reads: staged_rows(line, offer_id, merchant_id, currency, effective_at, reward_type)
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads staged_rows, offers and merchants; writes catalogue_findings.
insert into catalogue_findings
with placed as (
    select
        line, offer_id, merchant_id, currency, effective_at, reward_type,
        row_number() over (partition by offer_id order by line) as nth
    from staged_rows
),

used as (
    select offers.offer_id, offers.currency
    from offers
    where exists (select 1 from program_offers where program_offers.offer_id = offers.offer_id)
        or exists (select 1 from links where links.offer_no = offers.offer_no)
),

final as (
    select line, 'offer_id' as field, 'duplicate_key' as code,
        'an earlier row has the same offer_id' as message
    from placed
    where nth > 1
    union all
    select line, 'merchant_id', 'reference_unknown', 'there is no such merchant'
    from placed
    where not exists (select 1 from merchants where merchants.merchant_id = placed.merchant_id)
    union all
    select placed.line, 'currency', 'currency_in_use',
        'the offer stands in a program, or has links, in its present currency'
    from placed
    inner join used
        on used.offer_id = placed.offer_id
        and used.currency != placed.currency
    union all
    select
        line, 'effective_at', 'effective_in_future',
        'effective_at lies after the clock of this import'
    from placed
    where effective_at > $now
    union all
    select
        line, 'reward_type', 'percent_not_accepted',
        'the offer stands in a program whose institution accepts no percent offers'
    from placed
    where reward_type = 'percent'
        and offer_id in (
            select program_offers.offer_id
            from program_offers
            inner join institutions using (institution_id)
            where not institutions.accepts_percent
        )
)

select 'offers', line, field, code, 'error', message
from final;

-- name: offers_warn
-- reads: staged_rows(line, offer_id, currency, budget_amount)
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads staged_rows, offers and what redemptions hold of budgets; writes catalogue_findings, one
-- warning per offer whose budget is changed to less than that.
insert into catalogue_findings
select
    'offers', staged_rows.line, 'budget_amount', 'budget_below_spent', 'warning',
    'budget_amount is ' || staged_rows.currency || ' '
    || amount_text(staged_rows.budget_amount, currencies.minor_unit)
    || ', and redemptions hold ' || staged_rows.currency || ' '
    || amount_text(cast(offer_budgets.reserved_amount as decimal(18, 4)), currencies.minor_unit)
    || ' of it already'
from staged_rows
inner join offers on offers.offer_id = staged_rows.offer_id
inner join offer_budgets on offer_budgets.offer_no = offers.offer_no
inner join currencies on currencies.currency = staged_rows.currency
where staged_rows.budget_amount < offer_budgets.reserved_amount
    and staged_rows.budget_amount is distinct from offers.budget_amount;

-- name: offers_known
-- reads: staged_rows(line, offer_id)
-- makes: known_rows(line, institution_id, subject_id, merchant_id, title_en, title_es, title_pt-BR,
--     description_en, description_es, description_pt-BR, min_spend, cashback_amount, currency,
--     commission_rate, budget_amount, starts_at, expires_at, segments,
--     max_redemptions_per_cardholder, paused, reward_type, cashback_percent, max_cashback_amount,
--     commission_basis, max_commission_amount)
-- What the store says of the offers in staged_rows, their texts too.
-- Grain: one row per line whose offer is known.
create temp table known_rows as
select
    staged_rows.line, cast(null as uuid) as institution_id, offers.offer_id as subject_id,
    offers.merchant_id, en.title as title_en, es.title as title_es, pt.title as "title_pt-BR",
    en.description as description_en, es.description as description_es,
    pt.description as "description_pt-BR", offers.min_spend, offers.cashback_amount,
    offers.currency, offers.commission_rate, offers.budget_amount, offers.starts_at,
    offers.expires_at, offers.segments, offers.max_redemptions_per_cardholder,
    offers.is_paused as paused, offers.reward_type, offers.cashback_percent,
    offers.max_cashback_amount, offers.commission_basis, offers.max_commission_amount
from staged_rows
inner join offers on offers.offer_id = staged_rows.offer_id
left join offer_texts as en on en.offer_id = offers.offer_id and en.language = 'en'
left join offer_texts as es on es.offer_id = offers.offer_id and es.language = 'es'
left join offer_texts as pt on pt.offer_id = offers.offer_id and pt.language = 'pt-BR';

-- name: offers_stage_texts
-- reads: staged_rows(line, offer_id, title_en, title_es, title_pt-BR, description_en,
--     description_es, description_pt-BR)
-- makes: staged_texts(line, offer_id, language, title, description)
-- Reads staged_rows. Grain: one row per offer and language that has a text.
create temp table staged_texts as
with spread as (
    select
        line, offer_id,
        unnest([
            {'language': 'en', 'title': title_en, 'description': description_en},
            {'language': 'es', 'title': title_es, 'description': description_es},
            {'language': 'pt-BR', 'title': "title_pt-BR", 'description': "description_pt-BR"}
        ]) as text
    from staged_rows
)

select line, offer_id, text.language, text.title, text.description
from spread;

-- name: offers_compare_times
-- reads: staged_rows(line, offer_id, effective_at)
-- changes: catalogue_changes(line, institution_id, subject_id, field, old_value, new_value)
-- Reads staged_rows, offers and offer_versions; writes catalogue_changes, one row per offer that
-- stays as it is but whose terms are to count from an earlier moment. Nothing is earlier than the
-- first version.
insert into catalogue_changes
with newest as (
    select
        offer_versions.offer_no,
        max_by(offer_versions.known_at, offer_versions.run_no) as known_at,
        count(*) as versions
    from offer_versions
    group by offer_versions.offer_no
)

select
    staged_rows.line, null, staged_rows.offer_id, 'effective_at',
    cast(newest.known_at as varchar), cast(staged_rows.effective_at as varchar)
from staged_rows
inner join offers on offers.offer_id = staged_rows.offer_id
inner join newest on newest.offer_no = offers.offer_no
anti join catalogue_changes on catalogue_changes.line = staged_rows.line
where newest.versions > 1
    and staged_rows.effective_at < newest.known_at;

-- name: offers_update
-- reads: staged_rows(line, offer_id, merchant_id, min_spend, cashback_amount, currency,
--     commission_rate, budget_amount, starts_at, expires_at, segments,
--     max_redemptions_per_cardholder, paused, reward_type, cashback_percent, max_cashback_amount,
--     commission_basis, max_commission_amount)
-- reads: catalogue_changes(line)
-- Reads staged_rows and catalogue_changes; writes the changed rows of offers.
update offers
set
    merchant_id = staged_rows.merchant_id,
    min_spend = staged_rows.min_spend,
    cashback_amount = staged_rows.cashback_amount,
    currency = staged_rows.currency,
    commission_rate = staged_rows.commission_rate,
    budget_amount = staged_rows.budget_amount,
    starts_at = staged_rows.starts_at,
    expires_at = staged_rows.expires_at,
    segments = staged_rows.segments,
    max_redemptions_per_cardholder = staged_rows.max_redemptions_per_cardholder,
    is_paused = staged_rows.paused,
    reward_type = staged_rows.reward_type,
    cashback_percent = staged_rows.cashback_percent,
    max_cashback_amount = staged_rows.max_cashback_amount,
    commission_basis = staged_rows.commission_basis,
    max_commission_amount = staged_rows.max_commission_amount
from staged_rows
where staged_rows.offer_id = offers.offer_id
    and staged_rows.line in (select line from catalogue_changes);

-- name: offers_insert
-- reads: staged_rows(offer_id, merchant_id, min_spend, cashback_amount, currency,
--     commission_rate, budget_amount, starts_at, expires_at, segments,
--     max_redemptions_per_cardholder, paused, reward_type, cashback_percent, max_cashback_amount,
--     commission_basis, max_commission_amount)
-- Reads staged_rows; writes offers, the ones that are not there yet, numbered by offer_id.
insert into offers
with highest as (
    select coalesce(max(offer_no), 0) as offer_no
    from offers
)

select
    highest.offer_no + row_number() over (order by staged_rows.offer_id) as offer_no,
    staged_rows.offer_id, staged_rows.merchant_id, staged_rows.min_spend,
    staged_rows.cashback_amount, staged_rows.currency, staged_rows.commission_rate,
    staged_rows.budget_amount, staged_rows.starts_at, staged_rows.expires_at,
    staged_rows.segments, staged_rows.max_redemptions_per_cardholder, staged_rows.paused,
    staged_rows.reward_type, staged_rows.cashback_percent, staged_rows.max_cashback_amount,
    staged_rows.commission_basis, staged_rows.max_commission_amount
from staged_rows
cross join highest
where not exists (select 1 from offers where offers.offer_id = staged_rows.offer_id);

-- name: offers_update_texts
-- reads: staged_texts(offer_id, language, title, description)
-- Reads staged_texts; writes the offer_texts that differ. A text taken away leaves its row empty.
update offer_texts
set title = staged_rows.title, description = staged_rows.description
from staged_texts as staged_rows
where staged_rows.offer_id = offer_texts.offer_id
    and staged_rows.language = offer_texts.language
    and (
        staged_rows.title is distinct from offer_texts.title
        or staged_rows.description is distinct from offer_texts.description
    );

-- name: offers_insert_texts
-- reads: staged_texts(offer_id, language, title, description)
-- Reads staged_texts; writes offer_texts, the texts that are not there yet.
insert into offer_texts (offer_id, language, title, description)
select staged_rows.offer_id, staged_rows.language, staged_rows.title, staged_rows.description
from staged_texts as staged_rows
anti join offer_texts using (offer_id, language)
where (staged_rows.title is not null or staged_rows.description is not null);

-- name: offers_version
-- reads: staged_rows(offer_id, effective_at)
-- Reads staged_rows, offers and offer_versions; writes offer_versions, one row per offer that is
-- not as its newest version says, or is to be so from an earlier moment. It counts from the clock
-- of this import, or from the moment that the file gives.
insert into offer_versions (
    offer_no, run_no, known_at, merchant_id, min_spend, cashback_amount, commission_rate,
    budget_amount, starts_at, expires_at, max_redemptions_per_cardholder, reward_type,
    cashback_percent, max_cashback_amount, commission_basis, max_commission_amount
)
with newest as (
    select offer_no, max(run_no) as run_no, count(*) as versions
    from offer_versions
    group by offer_no
),

present as (
    select
        offers.offer_no, offers.merchant_id, offers.min_spend, offers.cashback_amount,
        offers.commission_rate, offers.budget_amount, offers.starts_at, offers.expires_at,
        offers.max_redemptions_per_cardholder, offers.reward_type, offers.cashback_percent,
        offers.max_cashback_amount, offers.commission_basis, offers.max_commission_amount,
        staged_rows.effective_at
    from offers
    inner join staged_rows on staged_rows.offer_id = offers.offer_id
)

select
    present.offer_no, $run_no, coalesce(present.effective_at, $now), present.merchant_id,
    present.min_spend, present.cashback_amount, present.commission_rate, present.budget_amount,
    present.starts_at, present.expires_at, present.max_redemptions_per_cardholder,
    present.reward_type, present.cashback_percent, present.max_cashback_amount,
    present.commission_basis, present.max_commission_amount
from present
left join newest on newest.offer_no = present.offer_no
left join offer_versions as old
    on old.offer_no = newest.offer_no
    and old.run_no = newest.run_no
where old.offer_no is null
    or old.merchant_id != present.merchant_id
    or old.min_spend != present.min_spend
    or old.cashback_amount is distinct from present.cashback_amount
    or old.commission_rate != present.commission_rate
    or old.budget_amount is distinct from present.budget_amount
    or old.starts_at != present.starts_at
    or old.expires_at != present.expires_at
    or old.max_redemptions_per_cardholder is distinct from present.max_redemptions_per_cardholder
    or old.reward_type is distinct from present.reward_type
    or old.cashback_percent is distinct from present.cashback_percent
    or old.max_cashback_amount is distinct from present.max_cashback_amount
    or old.commission_basis is distinct from present.commission_basis
    or old.max_commission_amount is distinct from present.max_commission_amount
    or (newest.versions > 1 and present.effective_at < old.known_at);

-- name: offers_concerned
-- reads: resolutions(purchase_no, cardholder_no, transacted_at, merchant_no)
-- How many of the purchases in resolutions, which wait for a match, the changes of a run concern:
-- those of a cardholder with a link to a changed offer, at its merchant or one that nobody knows,
-- from the moment the new terms count; whenever they were made where dates, budget or merchant
-- changed, which count as they are now.
with changed as (
    select
        new.offer_no, new.merchant_id, new.known_at,
        old.merchant_id <> new.merchant_id
        or old.starts_at <> new.starts_at
        or old.expires_at <> new.expires_at
        or old.budget_amount is distinct from new.budget_amount as is_of_all
    from offer_versions as new
    inner join offer_versions as old on old.offer_no = new.offer_no
    where new.run_no = $run_no
        and old.run_no = (
            select max(before.run_no)
            from offer_versions as before
            where before.offer_no = new.offer_no
                and before.run_no < new.run_no
        )
)

select count(distinct resolutions.purchase_no) as purchases
from changed
inner join links on links.offer_no = changed.offer_no
inner join resolutions on resolutions.cardholder_no = links.cardholder_no
left join merchants on merchants.merchant_no = resolutions.merchant_no
where coalesce(merchants.merchant_id, changed.merchant_id) = changed.merchant_id
    and (changed.is_of_all or changed.known_at <= resolutions.transacted_at);

-- name: offers_grown
-- The known offers that a run lets cost more (rules.md#four-eyes), with their terms before and since: by
-- how much the budget grew; null where there is none any more, or none and the terms give more.
-- Grain: one row per offer.
with versions as (
    select new as since, max_by(old, old.run_no) as before
    from offer_versions as new
    inner join offer_versions as old
        on old.offer_no = new.offer_no
        and old.run_no < new.run_no
    where new.run_no = $run_no
    group by new
)
select
    offers.offer_id, offers.currency, versions.before, versions.since,
    since.budget_amount - before.budget_amount as amount
from versions
inner join offers on offers.offer_no = since.offer_no
where since.budget_amount > before.budget_amount
    or (since.budget_amount is null and before.budget_amount is not null)
    or (
        since.budget_amount is null
        and (
            since.cashback_amount > before.cashback_amount
            or since.cashback_percent > before.cashback_percent
            or since.max_cashback_amount > before.max_cashback_amount
            or since.reward_type is distinct from before.reward_type
            or since.commission_rate > before.commission_rate
            or since.commission_basis is distinct from before.commission_basis
            or since.min_spend < before.min_spend
            or since.starts_at < before.starts_at
            or since.expires_at > before.expires_at
            or since.max_redemptions_per_cardholder > before.max_redemptions_per_cardholder
            or since.max_commission_amount > before.max_commission_amount
            or (
                since.max_redemptions_per_cardholder is null
                and before.max_redemptions_per_cardholder is not null
            )
        )
    )
order by offers.offer_id;

-- name: program_offers_stage
-- makes: staged_rows(line, institution, offer_id, position)
-- Reads frame. Grain: one row per line of the file that is well formed, without those found wrong.
create temp table staged_rows as
select line, institution, offer_id, cast(frame.position as integer) as position
from frame;

-- name: program_offers_check
-- reads: staged_rows(line, institution, offer_id)
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads staged_rows, institutions and offers; writes catalogue_findings.
insert into catalogue_findings
with placed as (
    select
        staged_rows.line, institutions.currency as institution_currency,
        offers.currency as offer_currency,
        offers.reward_type = 'percent' and not institutions.accepts_percent as is_refused,
        row_number() over (
            partition by staged_rows.institution, staged_rows.offer_id order by staged_rows.line
        ) as nth
    from staged_rows
    left join institutions on institutions.slug = staged_rows.institution
    left join offers on offers.offer_id = staged_rows.offer_id
),

final as (
    select line, 'offer_id' as field, 'duplicate_key' as code,
        'an earlier row has the same institution and offer_id' as message
    from placed
    where nth > 1
    union all
    select line, 'institution', 'reference_unknown', 'there is no such institution'
    from placed
    where institution_currency is null
    union all
    select line, 'offer_id', 'reference_unknown', 'there is no such offer'
    from placed
    where offer_currency is null
    union all
    select line, 'offer_id', 'currency_mismatch',
        'the offer is not in the currency of the institution'
    from placed
    where offer_currency != institution_currency
    union all
    select line, 'offer_id', 'percent_not_accepted', 'the institution accepts no percent offers'
    from placed
    where is_refused
)

select 'program_offers', line, field, code, 'error', message
from final;

-- name: program_offers_known
-- reads: staged_rows(line, institution, offer_id)
-- makes: known_rows(line, institution_id, subject_id, position)
-- What the store says of the pairs staged. Grain: one row per line whose pair is known.
create temp table known_rows as
select
    staged_rows.line, program_offers.institution_id,
    staged_rows.institution || '/' || staged_rows.offer_id as subject_id, program_offers.position
from staged_rows
inner join institutions on institutions.slug = staged_rows.institution
inner join program_offers using (institution_id, offer_id);

-- name: program_offers_update
-- reads: staged_rows(institution, offer_id, position)
-- Reads staged_rows; writes the program_offers whose position is another one.
update program_offers
set position = staged_rows.position
from staged_rows
inner join institutions on institutions.slug = staged_rows.institution
where institutions.institution_id = program_offers.institution_id
    and staged_rows.offer_id = program_offers.offer_id
    and staged_rows.position != program_offers.position;

-- name: program_offers_insert
-- reads: staged_rows(institution, offer_id, position)
-- Reads staged_rows; writes program_offers, the pairs that are not there yet.
insert into program_offers (institution_id, offer_id, position)
select institutions.institution_id, staged_rows.offer_id, staged_rows.position
from staged_rows
inner join institutions on institutions.slug = staged_rows.institution
anti join program_offers using (institution_id, offer_id);
