-- name: stage_cardholders
-- makes: staged_payers(institution_id, cardholder_token)
-- Reads frame; makes what `kernel/store/interning` reads, of the rows that nothing is wrong with. Who is
-- known already is left out. Grain: one row per institution and new cardholder token.
create temp table staged_payers as
with carried as (
    select distinct institutions.institution_id, staged.cardholder_token
    from frame as staged
    inner join institutions on institutions.slug = staged.institution
    left join offers on offers.offer_id = staged.offer_id
    where staged.offer_id is null or offers.currency = institutions.currency
)

select carried.institution_id, carried.cardholder_token
from carried
anti join cardholders using (institution_id, cardholder_token);

-- name: insert
-- Reads frame, institutions, offers and cardholders; writes engagement, each event that is not
-- there yet once, so running it again adds nothing. A view has no offer and an impression has one,
-- and a cardholder is of one institution: three columns tell events apart. Only events of the
-- frame's own time are looked through: that keeps the work from growing with the store.
insert into engagement (institution_id, cardholder_no, event, offer_no, occurred_at, run_no)
with numbered as (
    select distinct
        cardholders.institution_id, cardholders.cardholder_no, staged.event, offers.offer_no,
        staged.occurred_at
    from frame as staged
    inner join institutions on institutions.slug = staged.institution
    inner join cardholders
        on cardholders.institution_id = institutions.institution_id
        and cardholders.cardholder_token = staged.cardholder_token
    left join offers on offers.offer_id = staged.offer_id
    where staged.offer_id is null or offers.currency = institutions.currency
),

known as (
    select engagement.cardholder_no, engagement.offer_no, engagement.occurred_at
    from engagement
    where engagement.occurred_at >= (select min(staged.occurred_at) from frame as staged)
        and engagement.occurred_at <= (select max(staged.occurred_at) from frame as staged)
)

select
    numbered.institution_id, numbered.cardholder_no, numbered.event, numbered.offer_no,
    numbered.occurred_at, $run_no
from numbered
anti join known
    on known.cardholder_no = numbered.cardholder_no
    and known.offer_no is not distinct from numbered.offer_no
    and known.occurred_at = numbered.occurred_at;
