-- Payouts: what the bank said of each.

-- name: payout_entries
-- What a bank said of payouts: an entry is of the payout that it names, else of the one whose trace
-- number it has. Grain: one row per entry that is of a payout.
create or replace view payout_entries as
select
    payouts.payout_no, payouts.institution_id, payouts.number, bank_entries.entry_id,
    bank_entries.status, bank_entries.direction, bank_entries.amount, bank_entries.currency,
    bank_entries.booked_at, bank_entries.code
from bank_entries
inner join payouts on payouts.payment_id = bank_entries.payment_id
union all
select
    payouts.payout_no, payouts.institution_id, payouts.number, bank_entries.entry_id,
    bank_entries.status, bank_entries.direction, bank_entries.amount, bank_entries.currency,
    bank_entries.booked_at, bank_entries.code
from bank_entries
inner join payouts on payouts.trace = bank_entries.trace
where not exists (
    select 1
    from payouts as named
    where named.payment_id = bank_entries.payment_id
);
