-- name: one_entry_per_redemption
-- Redemptions without exactly one ledger entry, and entries without their redemption. Numbers are
-- handed out without a gap: where their hashes add up to those of 1, 2, 3 …, on both sides, each is
-- there once, and nothing more is looked at. Grain: one row per redemption.
with hashed as (
    select
        (select sum(hash(redemptions.redemption_no)) from redemptions) as redemptions,
        (select sum(hash(ledger_entries.redemption_no)) from ledger_entries) as entries,
        (
            select sum(hash(cast(numbers.number as bigint)))
            from range(1, (select max(redemptions.redemption_no) + 1 from redemptions))
                as numbers(number)
        ) as numbers
),
doubt as (
    select hashed.redemptions is distinct from hashed.numbers
        or hashed.entries is distinct from hashed.numbers as is_there
    from hashed
),
both_sides as (
    select redemptions.redemption_no, 1 as redemptions, 0 as entries
    from redemptions
    where (select doubt.is_there from doubt)
    union all
    select ledger_entries.redemption_no, 0, 1
    from ledger_entries
    where (select doubt.is_there from doubt)
)
select
    both_sides.redemption_no, sum(both_sides.redemptions) as redemptions,
    sum(both_sides.entries) as entries
from both_sides
group by both_sides.redemption_no
having sum(both_sides.redemptions) <> 1 or sum(both_sides.entries) <> 1
order by both_sides.redemption_no;

-- name: one_redemption_per_purchase
-- Purchases that redeemed more than once, or whose decision does not say so. Grain: one row per
-- purchase.
with both_sides as (
    select redemptions.purchase_no, 1 as redemptions, 0 as decisions
    from redemptions
    union all
    select decisions.purchase_no, 0, 1
    from decisions
    where decisions.outcome = 'redeemed'
)
select
    both_sides.purchase_no, sum(both_sides.redemptions) as redemptions,
    sum(both_sides.decisions) as decisions
from both_sides
group by both_sides.purchase_no
having sum(both_sides.redemptions) <> 1 or sum(both_sides.decisions) <> 1
order by both_sides.purchase_no;

-- name: redemptions_fit_their_purchase
-- Redemptions whose purchase is not there, of another cardholder, or other than they say, whose entry
-- says otherwise, or whose cardholder was not linked to the offer by then. A reference that was masked
-- stays as it was in an archive. Grain: one row per redemption.
select redemptions.redemption_id, redemptions.purchase_no, redemptions.offer_no
from redemptions
left join purchases
    on purchases.purchase_no = redemptions.purchase_no
    and purchases.institution_id = redemptions.institution_id
    and purchases.cardholder_no = redemptions.cardholder_no
left join ledger_entries
    on ledger_entries.redemption_no = redemptions.redemption_no
    and ledger_entries.institution_id = redemptions.institution_id
where purchases.purchase_no is null
    or redemptions.purchase_amount is distinct from purchases.amount
    or redemptions.purchased_at is distinct from purchases.transacted_at
    or (
        redemptions.transaction_ref is distinct from purchases.transaction_ref
        and not regexp_full_match(coalesce(redemptions.transaction_ref, ''), 'masked-[0-9a-f]{32}')
    )
    or ledger_entries.offer_no <> redemptions.offer_no
    or ledger_entries.cardholder_no <> redemptions.cardholder_no
    or ledger_entries.currency <> purchases.currency
    or not exists (
        select 1
        from link_starts
        where link_starts.institution_id = redemptions.institution_id
            and link_starts.cardholder_no = redemptions.cardholder_no
            and link_starts.offer_no = redemptions.offer_no
            and link_starts.counts_from <= purchases.transacted_at
    )
order by redemptions.redemption_no;

-- name: moves_are_legal
-- Moves of ledger entries that no state allows: the first is into pending, then settled, and
-- reversed is final (rules.md#states). Runs give their order. Grain: one row per move.
with ordered as (
    select
        ledger_moves.redemption_no, ledger_moves.run_no, ledger_moves.status,
        lag(ledger_moves.status) over (
            partition by ledger_moves.redemption_no
            order by ledger_moves.run_no, ledger_moves.status
        ) as status_before
    from ledger_moves
)
select ordered.redemption_no, ordered.run_no, ordered.status_before, ordered.status
from ordered
where (coalesce(ordered.status_before, ''), ordered.status) not in (
    ('', 'pending'), ('pending', 'settled'), ('pending', 'reversed'), ('settled', 'reversed')
)
order by ordered.redemption_no, ordered.run_no;

-- name: states_follow_moves
-- Ledger entries whose state is not that of their last move, or whose times, settlement and reason
-- do not belong to their state. Grain: one row per entry.
with newest as (
    select
        ledger_moves.redemption_no, max_by(ledger_moves.status, ledger_moves.run_no) as status,
        bool_or(ledger_moves.status = 'settled') as was_settled
    from ledger_moves
    group by ledger_moves.redemption_no
)
select ledger_entries.entry_id, ledger_entries.status, newest.status as last_move
from ledger_entries
left join newest on newest.redemption_no = ledger_entries.redemption_no
where newest.status is distinct from ledger_entries.status
    or (ledger_entries.settled_at is not null) <> newest.was_settled
    or (ledger_entries.settlement_no is not null) <> newest.was_settled
    or (ledger_entries.reversed_at is not null) <> (ledger_entries.status = 'reversed')
    or (ledger_entries.reversal_reason is not null) <> (ledger_entries.status = 'reversed')
    or ledger_entries.settles_at < ledger_entries.created_at
order by ledger_entries.redemption_no;
