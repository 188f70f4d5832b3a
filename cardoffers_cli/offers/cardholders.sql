-- name: numbers
-- The numbers of cardholders of an institution, by their full tokens; strangers have none.
-- Grain: one row per cardholder.
select cardholders.cardholder_token, cardholders.cardholder_no
from cardholders
where cardholders.institution_id = $institution_id
    and cardholders.cardholder_token in (select unnest($cardholder_tokens));

-- name: stage_payers
-- makes: staged_payers(institution_id, cardholder_token, instrument_token)
-- Makes staged_payers, which `kernel/store/interning.py` reads, of cardholders with a card, which is null
-- where only cardholders came. Grain: one row per cardholder.
create temp table staged_payers as
select
    cast($institution_id as uuid) as institution_id,
    unnest(cast($cardholder_tokens as varchar[])) as cardholder_token,
    cast($card_token as varchar) as instrument_token;

-- name: payer
-- The numbers of a cardholder and one card, by their full tokens. Grain: one row.
select cardholders.cardholder_no, instruments.instrument_no
from cardholders
inner join instruments using (institution_id, cardholder_no)
where cardholders.institution_id = $institution_id
    and cardholders.cardholder_token = $cardholder_token
    and instruments.instrument_token = $card_token;
