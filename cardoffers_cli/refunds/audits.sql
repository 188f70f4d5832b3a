-- name: refunds_take_no_more_than_was_paid
-- Purchases of which more came back than was paid, or that are not there (rules.md#net-amounts).
-- Grain: one row per purchase.
select refunded_purchases.purchase_no, purchases.amount, refunded_purchases.amount as refunded_amount
from refunded_purchases
left join purchases on purchases.purchase_no = refunded_purchases.purchase_no
where purchases.purchase_no is null
    or refunded_purchases.amount > purchases.amount
order by refunded_purchases.purchase_no;

-- name: refunds_are_used_once
-- Refunds whose reference came twice, that are linked more than once, both linked and dismissed, or
-- linked with another amount, or to a purchase of another institution or cardholder, who was not erased.
-- Grain: one row per refund and fault.
with used as (
    select refund_links.refund_no, count(*) as links
    from refund_links
    group by refund_links.refund_no
),
faults as (
    select min(refunds.refund_no) as refund_no, 'its reference came twice' as fault
    from refunds
    group by refunds.institution_id, refunds.refund_ref
    having count(*) > 1
    union all
    select used.refund_no, 'linked more than once'
    from used
    where used.links > 1
    union all
    select used.refund_no, 'linked and dismissed'
    from used
    where used.refund_no in (select refund_dismissals.refund_no from refund_dismissals)
    union all
    select refund_links.refund_no, 'linked to what it is not of'
    from refund_links
    left join refunds using (refund_no, institution_id, amount)
    left join purchases
        on purchases.purchase_no = refund_links.purchase_no
        and purchases.institution_id = refund_links.institution_id
        and (
            purchases.cardholder_no = coalesce(refunds.cardholder_no, purchases.cardholder_no)
            or purchases.cardholder_no in (select erasures.cardholder_no from erasures)
        )
        and purchases.transacted_at <= refunds.refunded_at
    where refunds.refund_no is null
        or purchases.purchase_no is null
)
select faults.refund_no, faults.fault
from faults
order by faults.refund_no, faults.fault;

-- name: refunds_cause_their_reversals
-- Redemptions that were reversed by a run of refunds without a refund that says so, or of which one
-- says so and they were not. Grain: one row per redemption and run.
with moved as (
    select ledger_moves.redemption_no, ledger_moves.run_no
    from ledger_moves
    inner join runs on runs.run_no = ledger_moves.run_no
    where ledger_moves.status = 'reversed'
        and runs.kind in ('refund', 'refund_link')
),
caused as (
    select refund_outcomes.redemption_no, refund_outcomes.run_no, count(*) as refunds
    from refund_outcomes
    inner join refund_links using (refund_no, run_no)
    where refund_outcomes.outcome = 'reversed'
    group by refund_outcomes.redemption_no, refund_outcomes.run_no
)
select
    coalesce(moved.redemption_no, caused.redemption_no) as redemption_no,
    coalesce(moved.run_no, caused.run_no) as run_no, coalesce(caused.refunds, 0) as refunds,
    moved.redemption_no is not null as is_reversed
from moved
full join caused
    on caused.redemption_no = moved.redemption_no
    and caused.run_no = moved.run_no
where moved.redemption_no is null
    or caused.refunds is distinct from 1
order by redemption_no, run_no;

-- name: refunds_leave_what_they_say
-- Linked refunds whose last outcome says that another amount is left of the purchase than links up to
-- then had left, in the order in which they were made. Grain: one row per refund.
with ordered as (
    select
        refund_links.refund_no, purchases.amount as purchase_amount,
        sum(refund_links.amount) over (
            partition by refund_links.purchase_no
            order by
                refund_links.run_no, refund_links.how = 'policy', refunds.refunded_at,
                refunds.refund_ref
            rows between unbounded preceding and current row
        ) as taken_amount
    from refund_links
    inner join refunds on refunds.refund_no = refund_links.refund_no
    inner join purchases on purchases.purchase_no = refund_links.purchase_no
)
select
    ordered.refund_no, ordered.purchase_amount - ordered.taken_amount as left_amount,
    refund_states.net_after, refund_states.outcome
from ordered
inner join refund_states on refund_states.refund_no = ordered.refund_no
where refund_states.net_after is distinct from ordered.purchase_amount - ordered.taken_amount
order by ordered.refund_no;
