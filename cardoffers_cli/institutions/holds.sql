-- name: standing
-- The holds that stand: of an institution, or of all where none is named, and of their cardholders.
-- Grain: one row per institution or cardholder on hold.
with numbered as (
    select
        legal_holds.hold_no, legal_holds.institution_id, legal_holds.cardholder_no,
        legal_holds.is_on, legal_holds.reason, legal_holds.set_at, legal_holds.actor,
        row_number() over (
            partition by legal_holds.institution_id, legal_holds.cardholder_no
            order by legal_holds.hold_no desc
        ) as place
    from legal_holds
    where $institution_id is null
        or legal_holds.institution_id = $institution_id
)
select
    institutions.slug as institution, numbered.institution_id, numbered.cardholder_no,
    numbered.reason, numbered.set_at, numbered.actor
from numbered
inner join institutions on institutions.institution_id = numbered.institution_id
where numbered.place = 1
    and numbered.is_on
order by institutions.slug, numbered.cardholder_no nulls first;

-- name: keep
-- Writes a hold, or that it was lifted, of an institution or one of its cardholders.
insert into legal_holds (
    hold_no, institution_id, cardholder_no, is_on, reason, set_at, run_no, actor
)
select
    coalesce(max(legal_holds.hold_no), 0) + 1, cast($institution_id as uuid),
    cast($cardholder_no as bigint), $is_on, $reason, $now, $run_no, $actor
from legal_holds;
