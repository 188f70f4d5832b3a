-- name: stage
-- Grain: one row per line of the file that is well formed; lines found wrong are deleted again.
create or replace temp table staged_offers (
    line ubigint not null,
    offer_id varchar not null,
    merchant_id uuid not null,
    title_en varchar,
    title_es varchar,
    "title_pt-BR" varchar,
    description_en varchar,
    description_es varchar,
    "description_pt-BR" varchar,
    min_spend decimal(18, 4) not null,
    cashback_amount decimal(18, 4) not null,
    currency varchar not null,
    commission_rate decimal(9, 6) not null,
    budget_amount decimal(18, 4),
    starts_at timestamp not null,
    expires_at timestamp not null,
    segments varchar,
    max_redemptions_per_cardholder integer,
    is_paused boolean not null,
    effective_at timestamp
);

-- name: load
-- Reads frame; writes staged_offers.
insert into staged_offers
select
    line, offer_id, merchant_id, title_en, title_es, "title_pt-BR",
    description_en, description_es, "description_pt-BR",
    min_spend, cashback_amount, currency, commission_rate, budget_amount,
    starts_at, expires_at, segments, max_redemptions_per_cardholder, paused, effective_at
from frame;

-- name: check
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads staged_offers, offers and merchants; writes catalogue_findings.
insert into catalogue_findings
with placed as (
    select
        line, offer_id, merchant_id, currency, effective_at,
        row_number() over (partition by offer_id order by line) as nth
    from staged_offers
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
)

select 'offers', line, field, code, 'error', message
from final;

-- name: warn
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads staged_offers, offers and what redemptions hold of budgets; writes catalogue_findings, one
-- warning per offer whose budget is changed to less than that.
insert into catalogue_findings
select
    'offers', staged.line, 'budget_amount', 'budget_below_spent', 'warning',
    'budget_amount is ' || staged.currency || ' '
    || amount_text(staged.budget_amount, currencies.minor_unit)
    || ', and redemptions hold ' || staged.currency || ' '
    || amount_text(cast(offer_budgets.reserved_amount as decimal(18, 4)), currencies.minor_unit)
    || ' of it already'
from staged_offers as staged
inner join offers on offers.offer_id = staged.offer_id
inner join offer_budgets on offer_budgets.offer_no = offers.offer_no
inner join currencies on currencies.currency = staged.currency
where staged.budget_amount < offer_budgets.reserved_amount
    and staged.budget_amount is distinct from offers.budget_amount;

-- name: refuse
-- reads: catalogue_findings(kind, line, level)
-- Deletes the lines found wrong from staged_offers.
delete from staged_offers
where line in (select line from catalogue_findings where kind = 'offers' and level = 'error');

-- name: stage_texts
-- Reads staged_offers. Grain: one row per offer and language that has a text.
create or replace temp table staged_texts as
with spread as (
    select
        line, offer_id,
        unnest([
            {'language': 'en', 'title': title_en, 'description': description_en},
            {'language': 'es', 'title': title_es, 'description': description_es},
            {'language': 'pt-BR', 'title': "title_pt-BR", 'description': "description_pt-BR"}
        ]) as text
    from staged_offers
)

select line, offer_id, text.language, text.title, text.description
from spread;

-- name: compare
-- changes: catalogue_changes(line, institution_id, subject_id, field, old_value, new_value)
-- Reads staged_offers and offers; writes catalogue_changes.
insert into catalogue_changes
with paired as (
    select
        staged.line, staged.offer_id,
        unnest([
            {
                'field': 'merchant_id',
                'old_value': cast(known.merchant_id as varchar),
                'new_value': cast(staged.merchant_id as varchar)
            },
            {
                'field': 'min_spend',
                'old_value': cast(known.min_spend as varchar),
                'new_value': cast(staged.min_spend as varchar)
            },
            {
                'field': 'cashback_amount',
                'old_value': cast(known.cashback_amount as varchar),
                'new_value': cast(staged.cashback_amount as varchar)
            },
            {'field': 'currency', 'old_value': known.currency, 'new_value': staged.currency},
            {
                'field': 'commission_rate',
                'old_value': cast(known.commission_rate as varchar),
                'new_value': cast(staged.commission_rate as varchar)
            },
            {
                'field': 'budget_amount',
                'old_value': cast(known.budget_amount as varchar),
                'new_value': cast(staged.budget_amount as varchar)
            },
            {
                'field': 'starts_at',
                'old_value': cast(known.starts_at as varchar),
                'new_value': cast(staged.starts_at as varchar)
            },
            {
                'field': 'expires_at',
                'old_value': cast(known.expires_at as varchar),
                'new_value': cast(staged.expires_at as varchar)
            },
            {'field': 'segments', 'old_value': known.segments, 'new_value': staged.segments},
            {
                'field': 'max_redemptions_per_cardholder',
                'old_value': cast(known.max_redemptions_per_cardholder as varchar),
                'new_value': cast(staged.max_redemptions_per_cardholder as varchar)
            },
            {
                'field': 'paused',
                'old_value': cast(known.is_paused as varchar),
                'new_value': cast(staged.is_paused as varchar)
            }
        ]) as pair
    from staged_offers as staged
    inner join offers as known on known.offer_id = staged.offer_id
)

select line, null, offer_id, pair.field, pair.old_value, pair.new_value
from paired
where pair.old_value is distinct from pair.new_value;

-- name: compare_texts
-- changes: catalogue_changes(line, institution_id, subject_id, field, old_value, new_value)
-- Reads staged_texts, offers and offer_texts; writes catalogue_changes.
insert into catalogue_changes
with paired as (
    select
        staged.line, staged.offer_id,
        unnest([
            {
                'field': 'title_' || staged.language,
                'old_value': known.title,
                'new_value': staged.title
            },
            {
                'field': 'description_' || staged.language,
                'old_value': known.description,
                'new_value': staged.description
            }
        ]) as pair
    from staged_texts as staged
    inner join offers on offers.offer_id = staged.offer_id
    left join offer_texts as known
        on known.offer_id = staged.offer_id
        and known.language = staged.language
)

select line, null, offer_id, pair.field, pair.old_value, pair.new_value
from paired
where pair.old_value is distinct from pair.new_value;

-- name: update
-- reads: catalogue_changes(line)
-- Reads staged_offers and catalogue_changes; writes the changed rows of offers.
update offers
set
    merchant_id = staged.merchant_id,
    min_spend = staged.min_spend,
    cashback_amount = staged.cashback_amount,
    currency = staged.currency,
    commission_rate = staged.commission_rate,
    budget_amount = staged.budget_amount,
    starts_at = staged.starts_at,
    expires_at = staged.expires_at,
    segments = staged.segments,
    max_redemptions_per_cardholder = staged.max_redemptions_per_cardholder,
    is_paused = staged.is_paused
from staged_offers as staged
where staged.offer_id = offers.offer_id
    and staged.line in (select line from catalogue_changes);

-- name: insert
-- Reads staged_offers; writes offers, the ones that are not there yet, numbered by offer_id.
insert into offers
with highest as (
    select coalesce(max(offer_no), 0) as offer_no
    from offers
)

select
    highest.offer_no + row_number() over (order by staged.offer_id) as offer_no,
    staged.offer_id, staged.merchant_id, staged.min_spend, staged.cashback_amount, staged.currency,
    staged.commission_rate, staged.budget_amount, staged.starts_at, staged.expires_at,
    staged.segments, staged.max_redemptions_per_cardholder, staged.is_paused
from staged_offers as staged
cross join highest
where not exists (select 1 from offers where offers.offer_id = staged.offer_id);

-- name: update_texts
-- Reads staged_texts; writes the offer_texts that differ. A text taken away leaves its row empty.
update offer_texts
set title = staged.title, description = staged.description
from staged_texts as staged
where staged.offer_id = offer_texts.offer_id
    and staged.language = offer_texts.language
    and (
        staged.title is distinct from offer_texts.title
        or staged.description is distinct from offer_texts.description
    );

-- name: insert_texts
-- Reads staged_texts; writes offer_texts, the texts that are not there yet.
insert into offer_texts (offer_id, language, title, description)
select staged.offer_id, staged.language, staged.title, staged.description
from staged_texts as staged
where (staged.title is not null or staged.description is not null)
    and not exists (
        select 1
        from offer_texts
        where offer_texts.offer_id = staged.offer_id
            and offer_texts.language = staged.language
    );

-- name: compare_times
-- changes: catalogue_changes(line, institution_id, subject_id, field, old_value, new_value)
-- Reads staged_offers, offers and offer_versions; writes catalogue_changes, one row per offer that
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
    staged.line, null, staged.offer_id, 'effective_at',
    cast(newest.known_at as varchar), cast(staged.effective_at as varchar)
from staged_offers as staged
inner join offers on offers.offer_id = staged.offer_id
inner join newest on newest.offer_no = offers.offer_no
where newest.versions > 1
    and staged.effective_at < newest.known_at
    and not exists (
        select 1
        from catalogue_changes
        where catalogue_changes.line = staged.line
    );

-- name: version
-- Reads staged_offers, offers and offer_versions; writes offer_versions, one row per offer that is
-- not as its newest version says, or is to be so from an earlier moment. It counts from the clock of
-- this import, or from the moment that the file gives.
insert into offer_versions (
    offer_no, run_no, known_at, merchant_id, min_spend, cashback_amount, commission_rate,
    budget_amount, starts_at, expires_at, max_redemptions_per_cardholder
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
        offers.max_redemptions_per_cardholder, staged_offers.effective_at
    from offers
    inner join staged_offers on staged_offers.offer_id = offers.offer_id
)

select
    present.offer_no, $run_no, coalesce(present.effective_at, $now), present.merchant_id,
    present.min_spend, present.cashback_amount, present.commission_rate, present.budget_amount,
    present.starts_at, present.expires_at, present.max_redemptions_per_cardholder
from present
left join newest on newest.offer_no = present.offer_no
left join offer_versions as old
    on old.offer_no = newest.offer_no
    and old.run_no = newest.run_no
where old.offer_no is null
    or old.merchant_id != present.merchant_id
    or old.min_spend != present.min_spend
    or old.cashback_amount != present.cashback_amount
    or old.commission_rate != present.commission_rate
    or old.budget_amount is distinct from present.budget_amount
    or old.starts_at != present.starts_at
    or old.expires_at != present.expires_at
    or old.max_redemptions_per_cardholder is distinct from present.max_redemptions_per_cardholder
    or (newest.versions > 1 and present.effective_at < old.known_at);

-- name: concerned
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

-- name: drop_staged
-- Gives back the room of staged_offers when its rows are taken.
drop table staged_offers;

-- name: drop_texts
-- Gives back the room of staged_texts when its rows are taken.
drop table staged_texts;
