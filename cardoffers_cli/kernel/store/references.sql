-- name: hashes
-- The hashes of references at every institution. Grain: one row per institution and reference.
select ref_hash(institutions.institution_id, asked.transaction_ref) as ref_hash
from institutions
cross join (select unnest(cast($refs as varchar[])) as transaction_ref) as asked;

-- name: of_hashes
-- The purchases with one of these hashes, which lie between two: of a single one those are the same,
-- and the engine looks for it as it reads. Grain: one row per purchase.
select purchase_refs.purchase_no
from purchase_refs
where purchase_refs.ref_hash >= $least
    and purchase_refs.ref_hash <= $most
    and purchase_refs.ref_hash in (select unnest(cast($hashes as ubigint[])));

-- name: of_refs
-- The purchases among these, which lie between two numbers, whose reference is one of those sought:
-- the text decides. Grain: one row per purchase.
select purchases.purchase_no
from purchases
where purchases.purchase_no >= $first
    and purchases.purchase_no <= $last
    and purchases.purchase_no in (select unnest(cast($purchase_nos as bigint[])))
    and ($institution_id is null or purchases.institution_id = $institution_id)
    and list_contains(cast($refs as varchar[]), purchases.transaction_ref)
order by purchases.purchase_no;
