-- name: imports_add_up
-- Imports whose counts do not add up: received = accepted + duplicates + invalid, none negative.
-- Grain: one row per import.
select
    imports.import_id, imports.received, imports.accepted, imports.duplicates, imports.invalid
from imports
where imports.received <> imports.accepted + imports.duplicates + imports.invalid
    or least(imports.accepted, imports.duplicates, imports.invalid, imports.conflicts) < 0
    or imports.conflicts > imports.duplicates
order by imports.import_no;

-- name: imports_have_their_rows
-- Imports whose counts and amount are not those of the rows they left. Grain: one row per import.
with taken as (
    select purchases.import_no, count(*) as accepted, sum(purchases.amount) as amount_accepted
    from purchases
    group by purchases.import_no
    union all
    select refunds.import_no, count(*), sum(refunds.amount)
    from refunds
    group by refunds.import_no
    union all
    select credits.import_no, count(*), sum(credits.amount)
    from credits
    group by credits.import_no
),
repeated as (
    select
        duplicates.import_no, count(*) as duplicates,
        count(*) filter (where duplicates.is_conflict) as conflicts
    from duplicates
    group by duplicates.import_no
),
refused as (
    select rejects.import_no, count(distinct rejects.line) as invalid
    from rejects
    group by rejects.import_no
),
final as (
    select
        imports.import_no, imports.import_id, imports.accepted,
        coalesce(taken.accepted, 0) as purchases, imports.duplicates,
        coalesce(repeated.duplicates, 0) as duplicate_rows, imports.conflicts,
        coalesce(repeated.conflicts, 0) as conflict_rows, imports.invalid,
        coalesce(refused.invalid, 0) as invalid_rows, imports.amount_accepted,
        coalesce(taken.amount_accepted, 0) as amount_of_purchases
    from imports
    left join taken on taken.import_no = imports.import_no
    left join repeated on repeated.import_no = imports.import_no
    left join refused on refused.import_no = imports.import_no
)
select
    final.import_id, final.accepted, final.purchases, final.duplicates, final.duplicate_rows,
    final.invalid, final.invalid_rows, final.amount_accepted, final.amount_of_purchases
from final
where final.accepted <> final.purchases
    or final.duplicates <> final.duplicate_rows
    or final.conflicts <> final.conflict_rows
    or final.invalid <> final.invalid_rows
    or final.amount_accepted <> final.amount_of_purchases
order by final.import_no;
