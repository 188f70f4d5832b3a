-- name: versions_were_in_force
-- Redemptions that were given another version of their offer than the one in force at the purchase,
-- by what their run knew. Grain: one row per redemption.
with judged as (
    select
        redemptions.redemption_no, redemptions.redemption_id, redemptions.version_no,
        version_judged_by(redemptions.offer_no, purchases.transacted_at, redemptions.run_no)
            as version_in_force
    from redemptions
    inner join purchases using (purchase_no, institution_id)
)
select judged.redemption_id, judged.version_no, judged.version_in_force
from judged
where judged.version_no is distinct from judged.version_in_force
order by judged.redemption_no;

-- name: budgets_hold
-- Matching after which an offer held more than the budget it had then. A reversal gives its part
-- back, and a budget that was lowered later takes nothing back, so each run is held against the
-- terms before it. What a run redeemed is told by the kept counts, which have audits of their own.
-- Grain: one row per offer and run.
with changes as (
    select
        redemption_totals.offer_no, redemption_totals.run_no,
        redemption_totals.merchant_funded_amount as amount, true as is_redemption
    from redemption_totals
    where redemption_totals.run_no is not null
    union all
    select
        ledger_entries.offer_no, ledger_moves.run_no, -ledger_entries.merchant_funded_amount, false
    from ledger_moves
    inner join ledger_entries on ledger_entries.redemption_no = ledger_moves.redemption_no
    where ledger_moves.status = 'reversed'
),
held as (
    select
        changes.offer_no, changes.run_no, bool_or(changes.is_redemption) as is_redemption,
        sum(sum(changes.amount)) over (partition by changes.offer_no order by changes.run_no)
            as reserved_amount
    from changes
    group by changes.offer_no, changes.run_no
)
select offers.offer_id, held.run_no, held.reserved_amount, terms.budget_amount
from held
inner join offers on offers.offer_no = held.offer_no
inner join numbered_versions as terms
    on terms.offer_no = held.offer_no
    and terms.run_no < held.run_no
    and terms.last_run_no >= held.run_no
where held.is_redemption
    and held.reserved_amount > terms.budget_amount
order by offers.offer_id, held.run_no;

-- name: uses_hold
-- Matching after which a link had redeemed more often than the terms of any of its purchases
-- allowed (rules.md#uses); counted as budgets are. Grain: one row per cardholder, offer and run.
with changes as (
    select
        redemptions.offer_no, redemptions.cardholder_no, redemptions.run_no, 1 as uses,
        coalesce(offer_versions.max_redemptions_per_cardholder, 2147483647) as most_uses
    from redemptions
    left join offer_versions
        on offer_versions.offer_no = redemptions.offer_no
        and offer_versions.run_no = redemptions.version_no
    union all
    select ledger_entries.offer_no, ledger_entries.cardholder_no, ledger_moves.run_no, -1, null
    from ledger_moves
    inner join ledger_entries on ledger_entries.redemption_no = ledger_moves.redemption_no
    where ledger_moves.status = 'reversed'
),
used as (
    select
        changes.offer_no, changes.cardholder_no, changes.run_no,
        max(changes.most_uses) as most_uses,
        sum(sum(changes.uses)) over (
            partition by changes.offer_no, changes.cardholder_no
            order by changes.run_no
        ) as uses
    from changes
    group by changes.offer_no, changes.cardholder_no, changes.run_no
)
select
    offers.offer_id, used.cardholder_no, used.run_no, used.uses,
    used.most_uses as max_redemptions_per_cardholder
from used
inner join offers on offers.offer_no = used.offer_no
where used.uses > used.most_uses
order by offers.offer_id, used.cardholder_no, used.run_no;

-- name: links_had_room
-- Links that cardholders added when they held as many active ones as their program allowed then.
-- What was active is told by the terms and the uses known before the run that made the link, at the
-- moment it was added; the limit by the log of changes. Links from catalogue files are not held to
-- the limit, but count. Grain: one row per link.
with added as (
    select links.institution_id, links.cardholder_no, links.offer_no, links.added_at, links.run_no
    from links
    inner join runs on runs.run_no = links.run_no
    where runs.kind = 'offer_add'
),
held as (
    select
        added.institution_id, added.cardholder_no, added.offer_no, added.run_no, added.added_at,
        links.offer_no as held_offer_no
    from added
    inner join links
        on links.institution_id = added.institution_id
        and links.cardholder_no = added.cardholder_no
        and links.run_no < added.run_no
),
uses as (
    select
        held.cardholder_no, held.run_no, held.held_offer_no,
        count(*) filter (where ledger_moves.status = 'pending')
        - count(*) filter (where ledger_moves.status = 'reversed') as uses
    from held
    inner join ledger_entries
        on ledger_entries.institution_id = held.institution_id
        and ledger_entries.cardholder_no = held.cardholder_no
        and ledger_entries.offer_no = held.held_offer_no
    inner join ledger_moves
        on ledger_moves.redemption_no = ledger_entries.redemption_no
        and ledger_moves.run_no < held.run_no
    group by held.cardholder_no, held.run_no, held.held_offer_no
),
active as (
    select held.institution_id, held.cardholder_no, held.offer_no, held.run_no, count(*) as links
    from held
    inner join numbered_versions as terms
        on terms.offer_no = held.held_offer_no
        and terms.run_no < held.run_no
        and terms.last_run_no >= held.run_no
    left join uses
        on uses.cardholder_no = held.cardholder_no
        and uses.run_no = held.run_no
        and uses.held_offer_no = held.held_offer_no
    where terms.expires_at > held.added_at
        and coalesce(uses.uses, 0) < coalesce(terms.max_redemptions_per_cardholder, 2147483647)
    group by held.institution_id, held.cardholder_no, held.offer_no, held.run_no
),
later_limits as (
    select
        audit_log.institution_id, audit_log.run_no,
        try_cast(audit_log.old_value as integer) as max_active_offers
    from audit_log
    where audit_log.subject = 'institution'
        and audit_log.field = 'max_active_offers'
),
limited as (
    select
        active.institution_id, active.cardholder_no, active.offer_no, active.run_no, active.links,
        case
            when count(later_limits.run_no) = 0 then any_value(institutions.max_active_offers)
            else arg_min_null(later_limits.max_active_offers, later_limits.run_no)
        end as max_active_offers
    from active
    inner join institutions on institutions.institution_id = active.institution_id
    left join later_limits
        on later_limits.institution_id = active.institution_id
        and later_limits.run_no > active.run_no
    group by
        active.institution_id, active.cardholder_no, active.offer_no, active.run_no, active.links
)
select
    limited.institution_id, limited.cardholder_no, offers.offer_id, limited.links + 1 as links,
    limited.max_active_offers
from limited
inner join offers on offers.offer_no = limited.offer_no
where limited.links >= limited.max_active_offers
order by limited.run_no, limited.cardholder_no;
