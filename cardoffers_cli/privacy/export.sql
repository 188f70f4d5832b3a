-- name: of_cardholder
-- for each: cardholders, instruments, links, engagement, purchases, unresolved_purchases, refunds,
--     redemptions, ledger_entries, legal_holds, withdrawn_purchases, withdrawn_rows
-- What {table} has of a cardholder. Grain: that of {table}.
select {columns}
from {table}
where institution_id = $institution_id
    and cardholder_no = $cardholder_no
order by all;

-- name: of_purchases
-- for each: purchase_details, decisions, outcomes
-- What {table} has of a cardholder's purchases. Grain: that of {table}.
select {columns}
from {table}
where purchase_no in (
    select purchases.purchase_no
    from purchases
    where purchases.institution_id = $institution_id
        and purchases.cardholder_no = $cardholder_no
)
order by all;

-- name: of_redemptions
-- for each: ledger_moves, adjustments, outbox, attempts, credit_links
-- What {table} has of a cardholder's redemptions. Grain: that of {table}.
select {columns}
from {table}
where redemption_no in (
    select redemptions.redemption_no
    from redemptions
    where redemptions.institution_id = $institution_id
        and redemptions.cardholder_no = $cardholder_no
)
order by all;

-- name: of_refunds
-- for each: refund_links, refund_outcomes, refund_dismissals
-- What {table} has of a cardholder's refunds. Grain: that of {table}.
select {columns}
from {table}
where refund_no in (
    select refunds.refund_no
    from refunds
    where refunds.institution_id = $institution_id
        and refunds.cardholder_no = $cardholder_no
)
order by all;

-- name: credits
-- for each: credits
-- Credited rows of a cardholder's redemptions. Grain: that of credits.
select {columns}
from {table}
where {table}.institution_id = $institution_id
    and {table}.credit_no in (
        select credit_links.credit_no
        from credit_links
        inner join redemptions
            on redemptions.redemption_no = credit_links.redemption_no
            and redemptions.institution_id = credit_links.institution_id
        where redemptions.cardholder_no = $cardholder_no
    )
order by all;

-- name: verdicts
-- for each: reconciliation_verdicts
-- What the reconciliation found of a cardholder's redemptions. Grain: that of {table}.
select {columns}
from {table}
where {table}.institution_id = $institution_id
    and {table}.subject = 'redemption'
    and {table}.subject_no in (
        select redemptions.redemption_no
        from redemptions
        where redemptions.institution_id = $institution_id
            and redemptions.cardholder_no = $cardholder_no
    )
order by all;

-- name: duplicates
-- for each: duplicates
-- Lines that were known already as purchases of a cardholder. Grain: that of duplicates.
select {columns}
from {table}
where {table}.institution_id = $institution_id
    and {table}.transaction_ref in (
        select purchases.transaction_ref
        from purchases
        where purchases.institution_id = $institution_id
            and purchases.cardholder_no = $cardholder_no
    )
order by all;

-- name: named
-- for each: offers
-- The offers that a cardholder's links and redemptions name by number. Grain: one row per offer.
select {columns}
from {table}
where {table}.offer_no in (
    select links.offer_no
    from links
    where links.institution_id = $institution_id
        and links.cardholder_no = $cardholder_no
    union all
    select redemptions.offer_no
    from redemptions
    where redemptions.institution_id = $institution_id
        and redemptions.cardholder_no = $cardholder_no
)
order by all;

-- name: bought_at
-- for each: identifiers
-- The merchant identifiers that a cardholder's purchases name by number. Grain: one row per identifier.
select {columns}
from {table}
where {table}.identifier_no in (
    select purchases.identifier_no
    from purchases
    where purchases.institution_id = $institution_id
        and purchases.cardholder_no = $cardholder_no
)
order by all;
