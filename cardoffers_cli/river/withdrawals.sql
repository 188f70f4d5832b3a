-- name: listed
-- Files of an institution, or of all, taken in a span of time or at any, the newest first: how many of
-- their redemptions stand, how many of these settled, and of how many webhooks were sent. Those that
-- were withdrawn have what they had taken. Those that are held come first, until a file is taken that
-- begins as they do. `files`: how many there are. Grain: one row per import of a file, or held file.
with files as (
    select
        imports.import_no, imports.import_id, imports.institution_id, imports.file_name,
        imports.file_sha256, imports.kind_of_rows, imports.accepted, imports.amount_accepted,
        imports.currency, imports.imported_at, runs.actor as imported_by, 'taken' as state,
        cast(null as timestamp) as withdrawn_at, cast(null as varchar) as withdrawn_by,
        cast(null as varchar) as reason
    from imports
    inner join runs on runs.run_no = imports.run_no
    where imports.file_kind <> 'call'
    union all
    select
        gone.import_no, gone.import_id, gone.institution_id, gone.file_name, gone.file_sha256,
        gone.kind_of_rows, gone.accepted, gone.amount_accepted, gone.currency, gone.imported_at,
        gone.imported_by, 'withdrawn', gone.withdrawn_at, gone.actor, gone.reason
    from withdrawn_imports as gone
    union all
    select
        null, null, institutions.institution_id,
        night_files.institution || '/' || night_files.file_name, night_files.taken_sha256, null, 0,
        0, institutions.currency, nights.as_of, runs.actor, 'held', null, null, null
    from night_files
    inner join nights on nights.night_no = night_files.night_no
    inner join runs on runs.run_no = nights.run_no
    inner join institutions on institutions.slug = night_files.institution
    anti join imports
        on imports.institution_id = institutions.institution_id
        and contains(imports.options, night_files.taken_sha256)
    where night_files.state = 'held'
),
page as materialized (
    select files.*, count(*) over () as files
    from files
    where ($institution_id is null or files.institution_id = $institution_id)
        and ($from_at is null or files.imported_at >= $from_at)
        and ($to_at is null or files.imported_at < $to_at)
    order by files.import_no desc nulls first, files.imported_at desc
    limit $limit
),
sent as (
    select distinct attempts.redemption_no
    from attempts
),
earned as (
    select
        purchases.import_no,
        count(*) filter (where entries.status <> 'reversed') as redeemed,
        count(*) filter (where entries.settled_at is not null) as settled,
        count(sent.redemption_no) as told
    from redemption_entries as entries
    inner join purchases using (purchase_no, institution_id)
    left join sent on sent.redemption_no = entries.redemption_no
    where purchases.import_no in (select page.import_no from page)
    group by purchases.import_no
)
select
    page.import_id, institutions.slug as institution, page.file_name as file,
    page.file_sha256 as sha256, page.kind_of_rows, page.imported_at, page.imported_by,
    page.accepted, page.amount_accepted, page.currency, coalesce(earned.redeemed, 0) as redeemed,
    coalesce(earned.settled, 0) as settled, coalesce(earned.told, 0) as told, page.state,
    page.withdrawn_at, page.withdrawn_by, page.reason, page.files
from page
inner join institutions on institutions.institution_id = page.institution_id
left join earned on earned.import_no = page.import_no
order by page.import_no desc nulls first, page.imported_at desc;

-- name: import
-- One import that was taken; the last is that of the refunds among its rows, if there are any.
select
    imports.import_no, imports.import_id, imports.institution_id, imports.file_name,
    imports.file_kind, imports.kind_of_rows, imports.accepted, imports.amount_accepted,
    imports.currency, imports.imported_at,
    coalesce(among.import_no, imports.import_no) as last_import_no
from imports
left join imports as among
    on among.import_no = imports.import_no + 1
    and among.institution_id = imports.institution_id
    and among.file_sha256 = imports.file_sha256
    and among.kind_of_rows = 'refunds'
where imports.import_id = try_cast($import_id as uuid);

-- name: withdrawn
-- When an import was withdrawn, if it was.
select withdrawn_imports.file_name, withdrawn_imports.withdrawn_at
from withdrawn_imports
where withdrawn_imports.import_id = try_cast($import_id as uuid);

-- name: leaving
-- makes: leaving(purchase_no, institution_id, cardholder_no, transaction_ref, line)
-- Makes leaving: the purchases of an import. Grain: one row per purchase.
create temp table leaving as
select
    purchases.purchase_no, purchases.institution_id, purchases.cardholder_no,
    purchases.transaction_ref, purchases.line
from purchases
where purchases.institution_id = $institution_id
    and purchases.import_no = $import_no;

-- name: earned
-- makes: earned(redemption_no, purchase_no, cardholder_no, transaction_ref, line, is_live,
--     is_settled, merchant_funded_amount)
-- reads: leaving(purchase_no, institution_id, cardholder_no, transaction_ref, line)
-- Makes earned: the redemptions of leaving. Grain: one row per redemption.
create temp table earned as
select
    entries.redemption_no, leaving.purchase_no, leaving.cardholder_no, leaving.transaction_ref,
    leaving.line, entries.status <> 'reversed' as is_live,
    entries.settlement_no is not null as is_settled, entries.merchant_funded_amount
from leaving
inner join redemption_entries as entries using (purchase_no, institution_id);

-- name: obstacles
-- reads: leaving(purchase_no, institution_id, transaction_ref, line), earned(redemption_no,
--     transaction_ref, line, is_settled)
-- What keeps an import from being withdrawn, the gravest first, with the first row of it; of what is
-- outside of the store there may be none. Grain: one row per kind of obstacle.
with repeated as (
    select imports.kind_of_rows, duplicates.transaction_ref
    from duplicates
    inner join imports using (import_no, institution_id)
    where duplicates.institution_id = $institution_id
        and duplicates.import_no > $last_import_no
),
found as (
    select
        1 as place, 'import_archived' as code, 'archived' as about, null as line,
        null as transaction_ref, $accepted - count(*) as rows
    from recent_purchases
    where recent_purchases.import_no = $import_no
    union all
    select 1, 'import_archived', 'archived', leaving.line, leaving.transaction_ref, 0
    from leaving
    where leaving.purchase_no not in (
        select recent_purchases.purchase_no
        from recent_purchases
        where recent_purchases.import_no = $import_no
    )
    union all
    select 2, 'import_settled', 'settled', earned.line, earned.transaction_ref, 1
    from earned
    where earned.is_settled
    union all
    select 3, 'import_told', 'told', earned.line, earned.transaction_ref, 1
    from earned
    where earned.redemption_no in (
        select outbox.redemption_no
        from outbox
        where outbox.attempts > 0
            or outbox.claimed_at is not null
    )
    union all
    select 4, 'import_relied_on', 'credited', earned.line, earned.transaction_ref, 1
    from earned
    where earned.redemption_no in (select credit_links.redemption_no from credit_links)
        or earned.redemption_no in (
            select reconciliation_verdicts.subject_no
            from reconciliation_verdicts
            where reconciliation_verdicts.subject = 'redemption'
        )
    union all
    select 5, 'import_relied_on', 'repeated', leaving.line, leaving.transaction_ref, 1
    from leaving
    where ('purchases', leaving.transaction_ref) in (from repeated)
    union all
    select 6, 'import_relied_on', 'linked', leaving.line, leaving.transaction_ref, 1
    from leaving
    where leaving.purchase_no in (
        select refund_links.purchase_no
        from refund_links
        where refund_links.how = 'person'
    )
    union all
    select 7, 'import_relied_on', 'reduced', earned.line, earned.transaction_ref, 1
    from earned
    inner join adjustments using (redemption_no)
    where adjustments.refund_no is not null
    union all
    select 7, 'import_relied_on', 'refunded', refunds.line, refunds.refund_ref, 1
    from refund_states as refunds
    where refunds.institution_id = $institution_id
        and refunds.import_no = $last_import_no
        and (
            ('refunds', refunds.refund_ref) in (from repeated)
            or (
                refunds.state in ('linked', 'dismissed')
                and coalesce(refunds.purchase_no not in (select purchase_no from leaving), true)
            )
        )
)
select
    found.code, found.about, min(found.line) as line,
    arg_min(found.transaction_ref, found.line) as transaction_ref,
    cast(sum(found.rows) as bigint) as rows
from found
group by found.place, found.code, found.about
having sum(found.rows) > 0
order by found.place;

-- name: reversals
-- reads: earned(redemption_no, is_live)
-- makes: reversals(redemption_no)
-- Makes reversals: those of earned that are not reversed yet. Grain: one row per redemption.
create temp table reversals as
select earned.redemption_no
from earned
where earned.is_live;

-- name: keep_import
-- reads: leaving(purchase_no), earned(redemption_no, is_live)
-- Writes withdrawn_imports.
insert into withdrawn_imports (
    import_no, import_id, institution_id, file_name, file_sha256, kind_of_rows, accepted,
    amount_accepted, currency, imported_at, imported_by, redeemed, last_purchase_no,
    last_redemption_no, reason, actor, run_no, withdrawn_at
)
select
    imports.import_no, imports.import_id, imports.institution_id, imports.file_name,
    imports.file_sha256, imports.kind_of_rows, imports.accepted, imports.amount_accepted,
    imports.currency, imports.imported_at, runs.actor,
    (select count(*) from earned where earned.is_live and imports.kind_of_rows = 'purchases'),
    (select max(leaving.purchase_no) from leaving),
    (select max(earned.redemption_no) from earned), $reason, $actor, $run_no, $now
from imports
inner join runs on runs.run_no = imports.run_no
where imports.import_no between $import_no and $last_import_no
    and imports.institution_id = $institution_id;

-- name: keep_purchases
-- reads: leaving(purchase_no)
-- Writes withdrawn_purchases.
insert into withdrawn_purchases (
    purchase_no, institution_id, transaction_ref, cardholder_no, instrument_no, identifier_no,
    merchant_id, amount, currency, transacted_at, received_at, import_no, line, instrument_type,
    mcc, merchant_descriptor, network
)
select
    purchases.purchase_no, purchases.institution_id, purchases.transaction_ref,
    purchases.cardholder_no, purchases.instrument_no, purchases.identifier_no,
    purchases.merchant_id, purchases.amount, purchases.currency, purchases.transacted_at,
    purchases.received_at, purchases.import_no, purchases.line, details.instrument_type,
    details.mcc, details.merchant_descriptor, details.network
from recent_purchases as purchases
left join recent_purchase_details as details using (purchase_no, institution_id)
where purchases.purchase_no in (select leaving.purchase_no from leaving);

-- name: keep
-- for each: decisions, outcomes, redemptions, refund_links, refund_outcomes
-- reads: leaving(purchase_no, institution_id, cardholder_no)
-- Writes withdrawn_rows of what {kept} has of leaving.
insert into withdrawn_rows (import_no, institution_id, cardholder_no, table_name, content)
select
    $import_no, leaving.institution_id, leaving.cardholder_no, '{table}',
    json_merge_patch(to_json({kept}), json_object('transaction_ref', null, 'reason', null))
from {kept}
inner join leaving on leaving.purchase_no = {kept}.purchase_no;

-- name: keep_money
-- for each: ledger_entries, ledger_moves
-- reads: earned(redemption_no, cardholder_no)
-- Writes withdrawn_rows of what {table} has of earned.
insert into withdrawn_rows (import_no, institution_id, cardholder_no, table_name, content)
select
    $import_no, $institution_id, earned.cardholder_no, '{table}',
    json_merge_patch(to_json({table}), json_object('reversal_reason', null, 'reason', null))
from {table}
inner join earned on earned.redemption_no = {table}.redemption_no;

-- name: keep_file
-- for each: imports, refunds, rejects, duplicates, import_shapes, import_merchants
-- Writes withdrawn_rows of what {table} has of an import.
insert into withdrawn_rows (import_no, institution_id, table_name, content)
select
    {table}.import_no, {table}.institution_id, '{table}',
    json_merge_patch(to_json({table}), json_object(
        'transaction_ref', null, 'file_name', null, 'refund_ref', null, 'cardholder_no', null,
        'original_transaction_ref', null, 'instrument_no', null
    ))
from {table}
where {table}.import_no between $import_no and $last_import_no
    and {table}.institution_id = $institution_id;

-- name: remove_money
-- for each: ledger_entries, ledger_moves, outbox
-- reads: earned(redemption_no)
-- Removes from {table} what is of earned.
delete from {table}
where {table}.redemption_no in (select earned.redemption_no from earned);

-- name: remove
-- for each: purchases, purchase_details, decisions, outcomes, redemptions, refund_links,
--     refund_outcomes, unresolved_purchases, purchase_refs, purchase_looks
-- reads: leaving(purchase_no)
-- Removes from {kept} what is of leaving.
delete from {kept}
where {kept}.purchase_no in (select leaving.purchase_no from leaving);

-- name: forget_refunds
-- Removes what was found of refunds that left.
delete from refund_outcomes
where refund_outcomes.institution_id = $institution_id
    and refund_outcomes.refund_no not in (select refunds.refund_no from refunds);

-- name: remove_file
-- for each: imports, refunds, rejects, duplicates, import_shapes, import_merchants
-- Removes from {table} what is of an import.
delete from {table}
where {table}.import_no between $import_no and $last_import_no
    and {table}.institution_id = $institution_id;

-- name: reversed
-- reads: earned(is_live, merchant_funded_amount)
-- How many redemptions an undo reverses, and what they come to.
select
    count(*) as redemptions, cast($currency as varchar) as currency,
    cast(coalesce(sum(earned.merchant_funded_amount), 0) as decimal(18, 4)) as amount
from earned
where earned.is_live;
