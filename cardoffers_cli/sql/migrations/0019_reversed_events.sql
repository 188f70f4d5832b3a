-- A second kind of event: redemption.reversed, for institutions that want it.

-- name: institutions_webhook_events
-- Which events an institution is sent, by their last words; before there was one.
alter table institutions add column webhook_events varchar default 'completed';

-- name: outbox_event
-- Which event of its redemption a row is. All of before are of one kind.
alter table outbox add column event varchar default 'redemption.completed';

-- name: attempts_event
-- Which event of its redemption an attempt was of.
alter table attempts add column event varchar default 'redemption.completed';
