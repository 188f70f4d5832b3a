-- name: stage
-- Grain: one row per line of the file that is well formed; lines found wrong are deleted again.
create or replace temp table staged_links (
    line ubigint not null,
    institution varchar not null,
    cardholder_token varchar not null,
    card_token varchar not null,
    offer_id varchar not null,
    added_at timestamp not null
);

-- name: load
-- Reads frame; writes staged_links.
insert into staged_links
select line, institution, cardholder_token, card_token, offer_id, added_at
from frame;

-- name: check
-- Reads staged_links, institutions and offers; writes catalogue_findings. The offer need not stand
-- in the program any more: enrolments outlive it.
insert into catalogue_findings
with placed as (
    select
        staged.line,
        institutions.currency as institution_currency,
        offers.currency as offer_currency
    from staged_links as staged
    left join institutions on institutions.slug = staged.institution
    left join offers on offers.offer_id = staged.offer_id
),

final as (
    select line, 'institution' as field, 'reference_unknown' as code,
        'there is no such institution' as message
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
)

select 'links', line, field, code, 'error', message
from final;

-- name: refuse
-- Deletes the lines found wrong from staged_links.
delete from staged_links
where line in (select line from catalogue_findings where kind = 'links' and level = 'error');

-- name: stage_payers
-- Makes what `store/interning` reads.
create or replace temp table staged_payers as
select distinct
    institutions.institution_id, staged.cardholder_token, staged.card_token as instrument_token
from staged_links as staged
inner join institutions on institutions.slug = staged.institution;

-- name: number
-- The staged links by number instead of by token. Grain: one row per line.
create or replace temp table numbered_links as
select
    staged.line,
    cardholders.institution_id,
    cardholders.cardholder_no,
    instruments.instrument_no,
    offers.offer_no,
    staged.added_at
from staged_links as staged
inner join institutions on institutions.slug = staged.institution
inner join offers on offers.offer_id = staged.offer_id
inner join cardholders
    on cardholders.institution_id = institutions.institution_id
    and cardholders.cardholder_token = staged.cardholder_token
inner join instruments
    on instruments.cardholder_no = cardholders.cardholder_no
    and instruments.instrument_token = staged.card_token;

-- name: insert
-- Reads numbered_links; writes links, the first line of each cardholder and offer that has no link
-- yet; running it again adds nothing.
insert into links (institution_id, cardholder_no, instrument_no, offer_no, added_at, run_no)
with firsts as (
    select cardholder_no, offer_no, min(line) as line
    from numbered_links
    group by cardholder_no, offer_no
)

select
    numbered.institution_id,
    numbered.cardholder_no,
    numbered.instrument_no,
    numbered.offer_no,
    numbered.added_at,
    $run_no
from numbered_links as numbered
inner join firsts
    on firsts.cardholder_no = numbered.cardholder_no
    and firsts.offer_no = numbered.offer_no
    and firsts.line = numbered.line
where not exists (
    select 1
    from links
    where links.institution_id = numbered.institution_id
        and links.cardholder_no = numbered.cardholder_no
        and links.offer_no = numbered.offer_no
);

-- name: warn
-- Reads numbered_links and links; writes catalogue_findings, the lines that say something else
-- about a link than what is kept.
insert into catalogue_findings
select
    'links',
    numbered.line,
    case when links.added_at != numbered.added_at then 'added_at' else 'card_token' end,
    'link_kept',
    'warning',
    'the link is known with another added_at or card_token, and stays as it was'
from numbered_links as numbered
inner join links
    on links.institution_id = numbered.institution_id
    and links.cardholder_no = numbered.cardholder_no
    and links.offer_no = numbered.offer_no
where links.added_at != numbered.added_at or links.instrument_no != numbered.instrument_no;

-- name: drop_staged
-- Gives back the room of staged_links when its rows are taken.
drop table staged_links;

-- name: drop_payers
-- Gives back the room of staged_payers when its rows are taken.
drop table staged_payers;

-- name: drop_numbered
-- Gives back the room of numbered_links when its rows are taken.
drop table numbered_links;
