-- Counts that are kept, so that what is asked every day costs the same however much there is. They
-- are empty at first: `services/counts` fills them, and until it did everything is counted where it
-- stands.

-- name: counted_up_to
-- How far the kept counts go: what comes behind is counted where it stands, and put on top.
-- Append only: the highest numbers hold. Grain: one row per time of counting.
create table counted_up_to (
    purchase_no bigint not null,
    redemption_no bigint not null,
    run_no bigint not null
);

-- name: purchase_counts
-- How many purchases of an institution were counted, and what they come to. Append only.
-- Grain: one row per institution and time of counting.
create table purchase_counts (
    institution_id uuid not null,
    purchases bigint not null,
    amount decimal(38, 4) not null,
    last_purchase_at timestamp not null
);

-- name: redemption_counts
-- Redemptions of one match by offer and state, with their money and that of their purchases. A
-- change of state takes redemptions out of one state and puts them into another. Append only; rows
-- of one grain are summed.
create table redemption_counts (
    institution_id uuid not null,
    run_no bigint,
    created_at timestamp not null,
    offer_no integer not null,
    merchant_id uuid not null,
    currency varchar not null,
    status varchar not null,
    redemptions bigint not null,
    merchant_funded_amount decimal(38, 4) not null,
    commission_amount decimal(38, 4) not null,
    institution_payout_amount decimal(38, 4) not null,
    purchase_amount decimal(38, 4) not null
);

-- name: purchase_day_counts
-- Redemptions of one match by state and by the day of their purchase. Append only, as
-- redemption_counts.
create table purchase_day_counts (
    institution_id uuid not null,
    created_at timestamp not null,
    currency varchar not null,
    status varchar not null,
    purchased_on date not null,
    redemptions bigint not null,
    institution_payout_amount decimal(38, 4) not null
);

-- name: offer_counts
-- Links to an offer, and its redemptions that were not reversed. Grain: one row per institution and
-- offer with any.
create table offer_counts (
    institution_id uuid not null,
    offer_no integer not null,
    links bigint not null,
    redemptions bigint not null,
    merchant_funded_amount decimal(38, 4) not null
);

-- name: link_counts
-- They are in offer_counts now.
drop table link_counts;
