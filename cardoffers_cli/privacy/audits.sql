-- name: erased_have_tombstones
-- Erasures of cardholders who have a token still, or are not there; and those that the security log does
-- not have (rules.md#erasure). Grain: one row per erasure.
select erasures.erasure_id, erasures.cardholder_no
from erasures
left join cardholders using (cardholder_no, institution_id)
where (
    erasures.cardholder_no is not null
    and cardholders.cardholder_token is distinct from
        'erased-' || replace(cast(erasures.erasure_id as varchar), '-', '')
)
    or erasures.erasure_id not in (select acts.event_id from acts)
order by erasures.erasure_id;
