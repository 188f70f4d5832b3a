-- name: refunded_purchases
-- What came back of purchases by all refunds that are linked to them (rules.md#net-amounts).
-- Grain: one row per purchase with any.
create or replace view refunded_purchases as
select refund_links.purchase_no, cast(sum(refund_links.amount) as decimal(18, 4)) as amount
from refund_links
group by refund_links.purchase_no;

-- name: refund_states
-- How far each refund is (rules.md#refunds): linked to a purchase, refused, dismissed, or waiting;
-- `outcome` is what was found of it last, null before a run has looked at it.
-- Grain: one row per refund.
create or replace view refund_states as
with found as (
    select
        refund_outcomes.refund_no,
        max(refund_outcomes.run_no) as run_no,
        max_by(refund_outcomes.outcome, refund_outcomes.run_no) as outcome,
        arg_max_null(refund_outcomes.purchase_no, refund_outcomes.run_no) as purchase_no,
        arg_max_null(refund_outcomes.redemption_no, refund_outcomes.run_no) as redemption_no,
        arg_max_null(refund_outcomes.purchase_amount, refund_outcomes.run_no) as purchase_amount,
        arg_max_null(refund_outcomes.net_after, refund_outcomes.run_no) as net_after
    from refund_outcomes
    group by refund_outcomes.refund_no
)
select
    refunds.refund_no, refunds.institution_id, refunds.refund_ref, refunds.kind,
    refunds.original_transaction_ref, refunds.cardholder_no, refunds.instrument_no,
    refunds.identifier_no, refunds.merchant_id, refunds.amount, refunds.currency,
    refunds.refunded_at, refunds.received_at, refunds.import_no, refunds.line,
    case
        when refund_links.refund_no is not null then 'linked'
        when refund_dismissals.refund_no is not null then 'dismissed'
        when coalesce(found.outcome, 'purchase_not_received') = 'purchase_not_received'
            then 'waiting'
        else 'refused'
    end as state,
    found.outcome, found.purchase_no, found.redemption_no, found.purchase_amount, found.net_after,
    found.run_no as found_by_run_no, refund_links.how,
    coalesce(refund_links.actor, refund_dismissals.actor) as actor,
    coalesce(refund_links.reason, refund_dismissals.reason) as reason,
    coalesce(refund_links.linked_at, refund_dismissals.dismissed_at) as moved_at
from refunds
left join found on found.refund_no = refunds.refund_no
left join refund_links
    on refund_links.refund_no = refunds.refund_no
    and refund_links.institution_id = refunds.institution_id
left join refund_dismissals
    on refund_dismissals.refund_no = refunds.refund_no
    and refund_dismissals.institution_id = refunds.institution_id;
