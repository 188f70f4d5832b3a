-- name: check
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads frame, institutions and offers; writes catalogue_findings of links, or of engagement, in which a
-- row may have no offer. The offer need not stand in the program any more: both outlive that.
insert into catalogue_findings
with placed as (
    select
        staged.line, staged.offer_id, institutions.currency as institution_currency,
        offers.currency as offer_currency
    from frame as staged
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
    where offer_id is not null and offer_currency is null
    union all
    select line, 'offer_id', 'currency_mismatch',
        'the offer is not in the currency of the institution'
    from placed
    where offer_currency != institution_currency
)

select $kind, line, field, code, 'error', message
from final;

-- name: stage_payers
-- makes: staged_payers(institution_id, cardholder_token, instrument_token)
-- Reads frame; makes what `kernel/store/interning` reads, of the rows that nothing is wrong with. Payers
-- known already are left out: the room of a dropped table comes back when the transaction ends.
create temp table staged_payers as
with carried as (
    select distinct
        institutions.institution_id, staged.cardholder_token, staged.card_token as instrument_token
    from frame as staged
    inner join institutions on institutions.slug = staged.institution
    inner join offers
        on offers.offer_id = staged.offer_id
        and offers.currency = institutions.currency
),

known as (
    select cardholders.institution_id, cardholders.cardholder_token, instruments.instrument_token
    from cardholders
    inner join instruments using (institution_id, cardholder_no)
)

select carried.institution_id, carried.cardholder_token, carried.instrument_token
from carried
anti join known using (institution_id, cardholder_token, instrument_token);

-- name: number
-- The rows of the frame that nothing is wrong with, by number instead of by token. Grain: one row
-- per line.
create or replace temp table numbered_links as
select
    staged.line, cardholders.institution_id, cardholders.cardholder_no, instruments.instrument_no,
    offers.offer_no, staged.added_at
from frame as staged
inner join institutions on institutions.slug = staged.institution
inner join offers
    on offers.offer_id = staged.offer_id
    and offers.currency = institutions.currency
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
    numbered.institution_id, numbered.cardholder_no, numbered.instrument_no, numbered.offer_no,
    numbered.added_at, $run_no
from numbered_links as numbered
inner join firsts
    on firsts.cardholder_no = numbered.cardholder_no
    and firsts.offer_no = numbered.offer_no
    and firsts.line = numbered.line
anti join links
    on links.institution_id = numbered.institution_id
    and links.cardholder_no = numbered.cardholder_no
    and links.offer_no = numbered.offer_no;

-- name: warn
-- changes: catalogue_findings(kind, line, field, code, level, message)
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

-- name: drop_numbered
-- Gives back the room of numbered_links when its rows are taken.
drop table numbered_links;
