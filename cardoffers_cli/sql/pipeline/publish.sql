-- name: outbox
-- Writes the event of every redemption of this run, due at once. Idempotent: redemptions of a run
-- are written once, and an event that is there is not written again.
insert into outbox (
    redemption_no, redemption_id, institution_id, body, occurred_at, state, attempts, failures,
    next_attempt_at
)
select
    redemption_events.redemption_no,
    redemption_events.redemption_id,
    redemption_events.institution_id,
    redemption_events.body,
    redemption_events.occurred_at,
    'due', 0, 0,
    redemption_events.occurred_at
from redemption_events
where redemption_events.run_no = $run_no
    and not exists (
        select 1
        from outbox
        where outbox.redemption_no = redemption_events.redemption_no
    );
