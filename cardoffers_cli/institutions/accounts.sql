-- name: find
-- The account that an institution is paid to. Grain: one row per institution that has one.
select account, holder, address, set_at, set_by, usable_at
from institution_accounts
where institution_id = $institution_id;

-- name: forget
-- Removes the account of an institution, if it has one.
delete from institution_accounts
where institution_id = $institution_id;

-- name: keep
-- Writes the account of an institution that has none.
insert into institution_accounts (
    institution_id, account, holder, address, set_at, set_by, usable_at
)
values ($institution_id, $account, $holder, $address, $set_at, $set_by, $usable_at);
