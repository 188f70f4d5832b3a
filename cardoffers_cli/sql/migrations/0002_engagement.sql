-- name: engagement
-- Grain: one row per widget view (offer_no null) or offer impression, from feed reads and from
-- engagement files. Append only.
create table engagement (
    institution_id uuid not null,
    cardholder_no bigint not null,
    event varchar not null,
    offer_no integer,
    occurred_at timestamp not null,
    run_no bigint
);

-- name: offer_state
-- The state of an offer at a moment: the one place of the rule. What cannot be undone comes first;
-- only active offers are shown and added. `budget_left` is null where there is no budget.
create macro offer_state(
    moment, starts_at, expires_at, is_paused, budget_left, merchant_funded_amount
) as case
    when moment >= expires_at then 'expired'
    when is_paused then 'paused'
    when moment < starts_at then 'not_started'
    when budget_left < merchant_funded_amount then 'budget_spent'
    else 'active'
end;

-- name: budget_burn
-- What redemptions hold of each offer's budget, and how many there are; a reversal gives both back.
-- Grain: one row per offer that was redeemed.
create view budget_burn as
select
    ledger_entries.offer_no,
    sum(ledger_entries.merchant_funded_amount) as reserved_amount,
    count(*) as redemptions
from ledger_entries
where ledger_entries.status <> 'reversed'
group by ledger_entries.offer_no;

-- name: link_id
-- The cardholder_offer_id of a link, from what it ties together (decisions, Ids).
create macro link_id(institution_id, cardholder_token, offer_id) as derived_id(
    cast(institution_id as varchar) || chr(31) || cardholder_token || chr(31) || offer_id
);

-- name: link_counts
-- Grain: one row per institution and offer with links: how many, of runs up to counted_to. Never the
-- whole truth, only a part that need not be counted again: links of later runs come on top.
create table link_counts (
    institution_id uuid not null,
    offer_no integer not null,
    links bigint not null,
    counted_to bigint not null
);
