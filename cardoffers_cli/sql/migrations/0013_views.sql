-- Views and macros are in `sql/views/` from now on, which makes them anew; here go those that have
-- another name now, or none.

-- name: redemption_events
-- It could not see purchases that are outside of the store; the bytes are redemption_event's.
drop view if exists redemption_events;

-- name: budget_burn
-- It is called offer_budgets now.
drop view if exists budget_burn;
