-- name: number
-- The number of one cardholder of an institution, by the full token; no row for a stranger.
select cardholders.cardholder_no
from cardholders
where cardholders.institution_id = $institution_id
    and cardholders.cardholder_token = $cardholder_token;

-- name: stage_payer
-- makes: staged_payers(institution_id, cardholder_token, instrument_token)
-- Makes staged_payers, which `store/interning.py` reads, of one pair of tokens; the card is null
-- where only a cardholder came. Grain: one row.
create temp table staged_payers as
select
    cast($institution_id as uuid) as institution_id,
    cast($cardholder_token as varchar) as cardholder_token,
    cast($card_token as varchar) as instrument_token;

-- name: payer
-- The numbers of a cardholder and one card, by their full tokens. Grain: one row.
select cardholders.cardholder_no, instruments.instrument_no
from cardholders
inner join instruments
    on instruments.institution_id = cardholders.institution_id
    and instruments.cardholder_no = cardholders.cardholder_no
where cardholders.institution_id = $institution_id
    and cardholders.cardholder_token = $cardholder_token
    and instruments.instrument_token = $card_token;
