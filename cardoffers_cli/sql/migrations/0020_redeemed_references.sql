-- A redemption says the reference of its purchase too. Pages of redemptions and ledger entries, and
-- the events of webhooks, name it, and need not look for it among the purchases of all years. A store
-- of 50 million purchases takes 6 seconds of one core.

-- name: redemptions_of_before
-- They get the column with what is filled in, in one go.
alter table redemptions rename to redemptions_of_before;

-- name: redemptions
-- Grain: one row per purchase that redeemed an offer. Append only.
create table redemptions (
    redemption_no bigint not null,
    redemption_id uuid not null,  -- derived from institution, reference and offer
    institution_id uuid not null,
    purchase_no bigint not null,
    cardholder_no bigint not null,
    offer_no integer not null,
    run_no bigint not null,
    created_at timestamp not null,
    version_no bigint,  -- the version (its run) whose terms it was given
    purchase_amount decimal(18, 4),  -- of its purchase, as the next two; null of one that was lost
    purchased_at timestamp,
    transaction_ref varchar
);

-- name: redemptions_with_their_reference
-- Reads redemptions_of_before and purchases; writes redemptions, in their order.
insert into redemptions (
    redemption_no, redemption_id, institution_id, purchase_no, cardholder_no, offer_no, run_no,
    created_at, version_no, purchase_amount, purchased_at, transaction_ref
)
with bought as materialized (
    select purchases.purchase_no, purchases.institution_id, purchases.transaction_ref
    from purchases
    where purchases.purchase_no in (
        select redemptions_of_before.purchase_no
        from redemptions_of_before
    )
)
select
    before.redemption_no, before.redemption_id, before.institution_id, before.purchase_no,
    before.cardholder_no, before.offer_no, before.run_no, before.created_at, before.version_no,
    before.purchase_amount, before.purchased_at, bought.transaction_ref
from redemptions_of_before as before
left join bought
    on bought.purchase_no = before.purchase_no
    and bought.institution_id = before.institution_id
order by before.redemption_no;

-- name: redemptions_moved
-- All of them are in redemptions by now.
drop table redemptions_of_before;
