-- name: transaction_refs_unique
-- Purchases of one institution that share a transaction_ref; nothing but this scan keeps them from
-- it. Grain: one row per ref that came twice, named by its first purchase.
select purchases.institution_id, min(purchases.purchase_no) as purchase_no, count(*) as purchases
from purchases
group by purchases.institution_id, purchases.transaction_ref
having count(*) > 1
order by purchase_no;

-- name: decided_once
-- Purchases that one run decided more than once, of one offer or at all: where rows came to be both
-- in the store and in its history, say. Grain: one row per purchase and run.
with rows_of as (
    select decisions.purchase_no, decisions.run_no, cast(null as integer) as offer_no
    from decisions
    union all
    select outcomes.purchase_no, outcomes.run_no, outcomes.offer_no
    from outcomes
),
counted as (
    select rows_of.purchase_no, rows_of.run_no, rows_of.offer_no, count(*) as times
    from rows_of
    group by rows_of.purchase_no, rows_of.run_no, rows_of.offer_no
)
select counted.purchase_no, counted.run_no, max(counted.times) as times
from counted
where counted.times > 1
group by counted.purchase_no, counted.run_no
order by counted.run_no, counted.purchase_no;

-- name: numbers_unique
-- Tables whose numbers, which others point to, are not unique. Grain: one row per such table.
with counted as (
    select 'purchases' as table_name, count(*) - count(distinct purchase_no) as doubled
    from purchases
    union all
    select 'cardholders', count(*) - count(distinct cardholder_no)
    from cardholders
    union all
    select 'instruments', count(*) - count(distinct instrument_no)
    from instruments
    union all
    select 'identifiers', count(*) - count(distinct identifier_no)
    from identifiers
    union all
    select 'offers', count(*) - count(distinct offer_no)
    from offers
    union all
    select 'redemptions', count(*) - count(distinct redemption_no)
    from redemptions
    union all
    select 'redemption ids', count(*) - count(distinct redemption_id)
    from redemptions
    union all
    select 'run ids', count(*) - count(distinct run_id)
    from runs
)
select counted.table_name, counted.doubled
from counted
where counted.doubled > 0
order by counted.table_name;

-- name: tokens_unique
-- Tokens and identifiers that have more than one number, so that what they did falls apart.
-- Grain: one row per token or identifier, named by its lowest number.
with named as (
    select 'cardholders' as table_name, min(cardholder_no) as lowest_no, count(*) as numbers
    from cardholders
    group by institution_id, cardholder_token
    union all
    select 'instruments', min(instrument_no), count(*)
    from instruments
    group by cardholder_no, instrument_token
    union all
    select 'identifiers', min(identifier_no), count(*)
    from identifiers
    group by merchant_identifier_type, merchant_identifier
)
select named.table_name, named.lowest_no, named.numbers
from named
where named.numbers > 1
order by named.table_name, named.lowest_no;

-- name: links_unique
-- Cardholders who are linked to an offer more than once. Grain: one row per cardholder and offer.
select links.institution_id, links.cardholder_no, links.offer_no, count(*) as links
from links
group by links.institution_id, links.cardholder_no, links.offer_no
having count(*) > 1
order by links.cardholder_no, links.offer_no;

-- name: nothing_points_nowhere
-- Rows that point to a row that is not there, or that is another institution's. Grain: one row per
-- pair of tables.
with lost as (
    select 'purchases' as table_name, 'cardholders' as points_to, purchases.purchase_no as row_no
    from purchases
    where not exists (
        select 1
        from cardholders
        where cardholders.cardholder_no = purchases.cardholder_no
            and cardholders.institution_id = purchases.institution_id
    )
    union all
    select 'purchases', 'instruments', purchases.purchase_no
    from purchases
    where not exists (
        select 1
        from instruments
        where instruments.instrument_no = purchases.instrument_no
            and instruments.cardholder_no = purchases.cardholder_no
    )
    union all
    select 'purchases', 'imports', purchases.purchase_no
    from purchases
    where purchases.import_no is not null
        and not exists (
            select 1
            from imports
            where imports.import_no = purchases.import_no
                and imports.institution_id = purchases.institution_id
        )
    union all
    select 'links', 'cardholders', links.cardholder_no
    from links
    where not exists (
        select 1
        from cardholders
        where cardholders.cardholder_no = links.cardholder_no
            and cardholders.institution_id = links.institution_id
    )
    union all
    select 'links', 'offers', links.offer_no
    from links
    where not exists (select 1 from offers where offers.offer_no = links.offer_no)
    union all
    select 'decisions', 'purchases', decisions.purchase_no
    from decisions
    where not exists (
        select 1
        from purchases
        where purchases.purchase_no = decisions.purchase_no
    )
    union all
    select 'ledger_moves', 'ledger_entries', ledger_moves.redemption_no
    from ledger_moves
    where not exists (
        select 1
        from ledger_entries
        where ledger_entries.redemption_no = ledger_moves.redemption_no
    )
    union all
    select 'attempts', 'outbox', attempts.event_no
    from attempts
    where not exists (
        select 1
        from outbox
        where outbox.event_no = attempts.event_no
            and outbox.institution_id = attempts.institution_id
    )
)
select lost.table_name, lost.points_to, count(*) as lost_rows, min(lost.row_no) as row_no
from lost
group by lost.table_name, lost.points_to
order by lost.table_name, lost.points_to;
