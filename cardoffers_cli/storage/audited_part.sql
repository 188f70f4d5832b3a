-- name: came
-- How many purchases came after a run, of how many.
select
    coalesce(sum(imports.accepted) filter (where imports.run_no > $after_run_no), 0)
        as new_purchases,
    coalesce(sum(imports.accepted), 0) as purchases
from imports;

-- name: last_import
-- The last import of the runs up to one; 0 where there is none.
select coalesce(max(imports.import_no), 0) as import_no
from imports
where imports.run_no <= $after_run_no;

-- name: ends
-- How far the runs up to one had come, whose last import is given: their last redemption and their
-- last purchase. Numbers are handed out in order. Of imports that lie before a number the engine
-- need not look at each row, as it would if it had to find the number first.
select
    (
        select coalesce(max(redemptions.redemption_no), -1)
        from redemptions
        where redemptions.run_no <= $after_run_no
    ) as redemption_no,
    (
        select coalesce(max(recent_purchases.purchase_no), -1)
        from recent_purchases
        where recent_purchases.import_no <= $last_import_no
    ) as purchase_no;

-- name: changed_redemptions
-- makes: changed_redemptions(redemption_no)
-- Makes changed_redemptions: those that later runs made, moved or sent, and every number that comes
-- after $redemption_no, whatever has it. Grain: one row per redemption.
create temp table changed_redemptions as
select redemptions.redemption_no
from redemptions
where redemptions.redemption_no > $redemption_no
    or redemptions.run_no > $after_run_no
union
select ledger_entries.redemption_no
from ledger_entries
where ledger_entries.redemption_no > $redemption_no
union
select outbox.redemption_no
from outbox
where outbox.redemption_no > $redemption_no
union
select ledger_moves.redemption_no
from ledger_moves
where ledger_moves.run_no > $after_run_no
union
select attempts.redemption_no
from attempts
where attempts.run_no > $after_run_no
    and attempts.redemption_no is not null;

-- name: touched_purchases
-- reads: changed_redemptions(redemption_no)
-- makes: touched_purchases(purchase_no)
-- Makes touched_purchases: those that came since, by every number after $purchase_no, whatever has
-- it; all that share the hash of a reference with these; those that later runs decided, and those of
-- changed_redemptions. Hashes are sought apart from numbers: what may be either is read as a whole.
-- Grain: one row per purchase.
create temp table touched_purchases as
with new_hashes as (
    select purchase_refs.ref_hash
    from purchase_refs
    where purchase_refs.purchase_no > $purchase_no
)
select recent_purchases.purchase_no
from recent_purchases
where recent_purchases.purchase_no > $purchase_no
union
select purchase_refs.purchase_no
from purchase_refs
where purchase_refs.purchase_no > $purchase_no
union
select purchase_refs.purchase_no
from purchase_refs
where purchase_refs.ref_hash in (select new_hashes.ref_hash from new_hashes)
union
select purchase_looks.purchase_no
from purchase_looks
where purchase_looks.purchase_no > $purchase_no
union
select unresolved_purchases.purchase_no
from unresolved_purchases
where unresolved_purchases.purchase_no > $purchase_no
union
select recent_decisions.purchase_no
from recent_decisions
where recent_decisions.run_no > $after_run_no
union
select recent_outcomes.purchase_no
from recent_outcomes
where recent_outcomes.run_no > $after_run_no
union
select redemptions.purchase_no
from redemptions
where redemptions.redemption_no in (from changed_redemptions);

-- name: touched_redemptions
-- reads: changed_redemptions(redemption_no), touched_purchases(purchase_no)
-- makes: touched_redemptions(redemption_no)
-- Makes touched_redemptions: the changed ones, and all others of touched_purchases, so that a
-- purchase has all of its redemptions. Grain: one row per redemption.
create temp table touched_redemptions as
select changed_redemptions.redemption_no
from changed_redemptions
union
select redemptions.redemption_no
from redemptions
where redemptions.purchase_no in (from touched_purchases);

-- name: purchases
-- for each: purchases, purchase_details, decisions, outcomes, unresolved_purchases, purchase_refs,
--     purchase_looks
-- reads: touched_purchases(purchase_no)
-- Lets {kept} show the rows of touched_purchases alone, until the transaction is undone.
create temp table {kept} as
select {columns}
from {kept}
where {kept}.purchase_no in (from touched_purchases);

-- name: redemptions
-- for each: redemptions, ledger_entries, ledger_moves, adjustments
-- reads: touched_redemptions(redemption_no)
-- Lets {table} show the rows of touched_redemptions alone, until the transaction is undone.
create temp table {table} as
select {columns}
from {table}
where {table}.redemption_no in (from touched_redemptions);

-- name: redemptions_of
-- for each: outbox, attempts
-- reads: touched_redemptions(redemption_no)
-- Lets {table} show the rows of touched_redemptions alone, and those of no redemption, until the
-- transaction is undone.
create temp table {table} as
select {columns}
from {table}
where {table}.redemption_no in (from touched_redemptions)
union all
select {columns}
from {table}
where {table}.redemption_no is null;
