-- name: purchases_are_counted
-- Institutions whose purchases, as the kept counts and what came after say, are not those that are
-- there. Grain: one row per institution.
with found as (
    select
        purchases.institution_id, count(*) as purchases, sum(purchases.amount) as amount,
        max(purchases.transacted_at) as last_purchase_at
    from purchases
    group by purchases.institution_id
)
select
    coalesce(purchase_totals.institution_id, found.institution_id) as institution_id,
    purchase_totals.purchases as counted, found.purchases, purchase_totals.amount as amount_counted,
    found.amount, purchase_totals.last_purchase_at as last_counted_at, found.last_purchase_at
from purchase_totals
full join found on found.institution_id = purchase_totals.institution_id
where found.purchases is distinct from purchase_totals.purchases
    or found.amount is distinct from purchase_totals.amount
    or found.last_purchase_at is distinct from purchase_totals.last_purchase_at
order by institution_id;

-- name: redemptions_are_counted
-- Matches, offers and states whose redemptions, as they are counted, are not those that are there.
-- Grain: one row per institution, match, offer with its merchant, currency and state.
with both_sides as (
    select
        redemption_totals.institution_id, redemption_totals.run_no, redemption_totals.created_at,
        redemption_totals.offer_no, redemption_totals.merchant_id, redemption_totals.currency,
        redemption_totals.status, redemption_totals.redemptions,
        redemption_totals.merchant_funded_amount, redemption_totals.commission_amount,
        redemption_totals.institution_payout_amount, redemption_totals.purchase_amount
    from redemption_totals
    union all
    select
        ledger_entries.institution_id, redemptions.run_no, ledger_entries.created_at,
        ledger_entries.offer_no, ledger_entries.merchant_id, ledger_entries.currency,
        ledger_entries.status, -1, -ledger_entries.merchant_funded_amount,
        -ledger_entries.commission_amount, -ledger_entries.institution_payout_amount,
        coalesce(-redemptions.purchase_amount, 0)
    from ledger_entries
    left join redemptions using (redemption_no, institution_id)
)
select
    both_sides.institution_id, both_sides.run_no, both_sides.offer_no, both_sides.status,
    sum(both_sides.redemptions) as too_many,
    sum(both_sides.merchant_funded_amount) as merchant_funded_amount,
    sum(both_sides.commission_amount) as commission_amount,
    sum(both_sides.institution_payout_amount) as institution_payout_amount,
    sum(both_sides.purchase_amount) as purchase_amount
from both_sides
group by
    both_sides.institution_id, both_sides.run_no, both_sides.created_at, both_sides.offer_no,
    both_sides.merchant_id, both_sides.currency, both_sides.status
having sum(both_sides.redemptions) <> 0
    or sum(both_sides.merchant_funded_amount) <> 0
    or sum(both_sides.commission_amount) <> 0
    or sum(both_sides.institution_payout_amount) <> 0
    or sum(both_sides.purchase_amount) <> 0
order by both_sides.run_no, both_sides.offer_no, both_sides.status;

-- name: purchase_days_are_counted
-- Matches and days of purchases whose redemptions, as they are counted, are not those that are
-- there. Grain: one row per institution, moment of a match, currency, state and day.
with both_sides as (
    select
        purchase_day_totals.institution_id, purchase_day_totals.created_at,
        purchase_day_totals.currency, purchase_day_totals.status, purchase_day_totals.purchased_on,
        purchase_day_totals.redemptions, purchase_day_totals.institution_payout_amount
    from purchase_day_totals
    union all
    select
        ledger_entries.institution_id, ledger_entries.created_at, ledger_entries.currency,
        ledger_entries.status, cast(redemptions.purchased_at as date), -1,
        -ledger_entries.institution_payout_amount
    from ledger_entries
    inner join redemptions using (redemption_no, institution_id)
    where redemptions.purchased_at is not null
)
select
    both_sides.institution_id, both_sides.created_at, both_sides.status, both_sides.purchased_on,
    sum(both_sides.redemptions) as too_many,
    sum(both_sides.institution_payout_amount) as institution_payout_amount
from both_sides
group by
    both_sides.institution_id, both_sides.created_at, both_sides.currency, both_sides.status,
    both_sides.purchased_on
having sum(both_sides.redemptions) <> 0
    or sum(both_sides.institution_payout_amount) <> 0
order by both_sides.created_at, both_sides.purchased_on, both_sides.status;

-- name: offers_are_counted
-- Offers whose links, or what their redemptions hold of the budget, are counted otherwise than they
-- are there. Grain: one row per institution and offer.
with both_sides as (
    select
        offer_totals.institution_id, offer_totals.offer_no, offer_totals.links,
        offer_totals.redemptions, offer_totals.merchant_funded_amount
    from offer_totals
    union all
    select links.institution_id, links.offer_no, -1, 0, 0
    from links
    union all
    select
        ledger_entries.institution_id, ledger_entries.offer_no, 0, -1,
        -ledger_entries.merchant_funded_amount
    from ledger_entries
    where ledger_entries.status <> 'reversed'
)
select
    both_sides.institution_id, both_sides.offer_no, sum(both_sides.links) as links_too_many,
    sum(both_sides.redemptions) as redemptions_too_many,
    sum(both_sides.merchant_funded_amount) as amount_too_much
from both_sides
group by both_sides.institution_id, both_sides.offer_no
having sum(both_sides.links) <> 0
    or sum(both_sides.redemptions) <> 0
    or sum(both_sides.merchant_funded_amount) <> 0
order by both_sides.institution_id, both_sides.offer_no;

-- name: counts_end_with_what_is_there
-- Kept counts that claim to know more than there is: what comes next would never be counted.
-- Grain: one row where that is so.
with newest as (
    select
        (select coalesce(max(purchases.purchase_no), 0) from purchases) as purchase_no,
        (select coalesce(max(ledger_entries.redemption_no), 0) from ledger_entries) as redemption_no,
        (select coalesce(max(runs.run_no), 0) from runs) as run_no
)
select
    counted_purchase_no() as counted_purchase_no, newest.purchase_no,
    counted_redemption_no() as counted_redemption_no, newest.redemption_no,
    counted_run_no() as counted_run_no, newest.run_no
from newest
where counted_purchase_no() > newest.purchase_no
    or counted_redemption_no() > newest.redemption_no
    or counted_run_no() > newest.run_no;

-- name: imports_add_up
-- Imports whose counts do not add up: received = accepted + duplicates + invalid, none negative.
-- Grain: one row per import.
select imports.import_id, imports.received, imports.accepted, imports.duplicates, imports.invalid
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

-- name: one_entry_per_redemption
-- Redemptions without exactly one ledger entry, and entries without their redemption. Numbers are
-- handed out without a gap: where their hashes add up to those of 1, 2, 3 …, on both sides, each is
-- there once, and nothing more is looked at. Grain: one row per redemption.
with hashed as (
    select
        (select sum(hash(redemptions.redemption_no)) from redemptions) as redemptions,
        (select sum(hash(ledger_entries.redemption_no)) from ledger_entries) as entries,
        (
            select sum(hash(cast(numbers.number as bigint)))
            from range(1, (select max(redemptions.redemption_no) + 1 from redemptions))
                as numbers(number)
        ) as numbers
),
doubt as (
    select hashed.redemptions is distinct from hashed.numbers
        or hashed.entries is distinct from hashed.numbers as is_there
    from hashed
),
both_sides as (
    select redemptions.redemption_no, 1 as redemptions, 0 as entries
    from redemptions
    where (select doubt.is_there from doubt)
    union all
    select ledger_entries.redemption_no, 0, 1
    from ledger_entries
    where (select doubt.is_there from doubt)
)
select
    both_sides.redemption_no, sum(both_sides.redemptions) as redemptions,
    sum(both_sides.entries) as entries
from both_sides
group by both_sides.redemption_no
having sum(both_sides.redemptions) <> 1 or sum(both_sides.entries) <> 1
order by both_sides.redemption_no;

-- name: one_redemption_per_purchase
-- Purchases that redeemed more than once, or whose decision does not say so. Grain: one row per
-- purchase.
with both_sides as (
    select redemptions.purchase_no, 1 as redemptions, 0 as decisions
    from redemptions
    union all
    select decisions.purchase_no, 0, 1
    from decisions
    where decisions.outcome = 'redeemed'
)
select
    both_sides.purchase_no, sum(both_sides.redemptions) as redemptions,
    sum(both_sides.decisions) as decisions
from both_sides
group by both_sides.purchase_no
having sum(both_sides.redemptions) <> 1 or sum(both_sides.decisions) <> 1
order by both_sides.purchase_no;

-- name: redemptions_fit_their_purchase
-- Redemptions whose purchase is not there, of another cardholder, or other than they say, whose entry
-- says otherwise, or whose cardholder was not linked to the offer by then. A reference that was masked
-- stays as it was in an archive. Grain: one row per redemption.
select redemptions.redemption_id, redemptions.purchase_no, redemptions.offer_no
from redemptions
left join purchases using (purchase_no, institution_id, cardholder_no)
left join ledger_entries using (redemption_no, institution_id)
where purchases.purchase_no is null
    or redemptions.purchase_amount is distinct from purchases.amount
    or redemptions.purchased_at is distinct from purchases.transacted_at
    or (
        redemptions.transaction_ref is distinct from purchases.transaction_ref
        and not regexp_full_match(coalesce(redemptions.transaction_ref, ''), 'masked-[0-9a-f]{32}')
    )
    or ledger_entries.offer_no <> redemptions.offer_no
    or ledger_entries.cardholder_no <> redemptions.cardholder_no
    or ledger_entries.currency <> purchases.currency
    or not exists (
        select 1
        from link_starts
        where link_starts.institution_id = redemptions.institution_id
            and link_starts.cardholder_no = redemptions.cardholder_no
            and link_starts.offer_no = redemptions.offer_no
            and link_starts.counts_from <= purchases.transacted_at
    )
order by redemptions.redemption_no;

-- name: moves_are_legal
-- Moves of ledger entries that no state allows: the first is into pending, then settled, and
-- reversed is final (rules.md#states). Runs give their order. Grain: one row per move.
with ordered as (
    select
        ledger_moves.redemption_no, ledger_moves.run_no, ledger_moves.status,
        lag(ledger_moves.status) over (
            partition by ledger_moves.redemption_no
            order by ledger_moves.run_no, ledger_moves.status
        ) as status_before
    from ledger_moves
)
select ordered.redemption_no, ordered.run_no, ordered.status_before, ordered.status
from ordered
where (coalesce(ordered.status_before, ''), ordered.status) not in (
    ('', 'pending'), ('pending', 'settled'), ('pending', 'reversed'), ('settled', 'reversed')
)
order by ordered.redemption_no, ordered.run_no;

-- name: states_follow_moves
-- Ledger entries whose state is not that of their last move, or whose times, settlement and reason
-- do not belong to their state. Grain: one row per entry.
with newest as (
    select
        ledger_moves.redemption_no, max_by(ledger_moves.status, ledger_moves.run_no) as status,
        bool_or(ledger_moves.status = 'settled') as was_settled
    from ledger_moves
    group by ledger_moves.redemption_no
)
select ledger_entries.entry_id, ledger_entries.status, newest.status as last_move
from ledger_entries
left join newest on newest.redemption_no = ledger_entries.redemption_no
where newest.status is distinct from ledger_entries.status
    or (ledger_entries.settled_at is not null) <> newest.was_settled
    or (ledger_entries.settlement_no is not null) <> newest.was_settled
    or (ledger_entries.reversed_at is not null) <> (ledger_entries.status = 'reversed')
    or (ledger_entries.reversal_reason is not null) <> (ledger_entries.status = 'reversed')
    or ledger_entries.settles_at < ledger_entries.created_at
order by ledger_entries.redemption_no;

-- name: amounts_add_up
-- Ledger entries whose merchant funds another amount than commission and payout, or where one is
-- negative. Grain: one row per entry.
select
    ledger_entries.entry_id, ledger_entries.merchant_funded_amount,
    ledger_entries.commission_amount, ledger_entries.institution_payout_amount
from ledger_entries
where ledger_entries.merchant_funded_amount
    <> ledger_entries.commission_amount + ledger_entries.institution_payout_amount
    or least(ledger_entries.commission_amount, ledger_entries.institution_payout_amount) < 0
order by ledger_entries.redemption_no;

-- name: amounts_follow_their_version
-- Ledger entries whose amounts are not the formula of the version that their redemption was given:
-- its cashback of what refunds had left of the purchase, the commission, and their sum; or whose
-- version is not there. Grain: one row per entry.
with refunded as (
    select redemptions.redemption_no, sum(refund_links.amount) as amount
    from refund_links
    inner join redemptions
        on redemptions.purchase_no = refund_links.purchase_no
        and redemptions.run_no > refund_links.run_no
    group by redemptions.redemption_no
),
owed as (
    select
        ledger_entries.redemption_no, ledger_entries.entry_id, redemptions.version_no,
        ledger_entries.merchant_funded_amount, ledger_entries.commission_amount,
        ledger_entries.institution_payout_amount,
        redemptions.purchase_amount - coalesce(refunded.amount, 0) as spent,
        reward_of(spent, versions.cashback_amount, versions.cashback_percent, minor_unit)
            as reward,
        commission_on(
            spent, reward, versions.commission_rate, versions.commission_basis,
            versions.max_commission_amount, minor_unit
        ) as commission
    from ledger_entries
    inner join redemptions on redemptions.redemption_no = ledger_entries.redemption_no
    left join refunded on refunded.redemption_no = ledger_entries.redemption_no
    left join currencies on currencies.currency = ledger_entries.currency
    left join numbered_versions as versions
        on versions.offer_no = ledger_entries.offer_no
        and versions.run_no = redemptions.version_no
)
select
    owed.entry_id, owed.version_no, owed.institution_payout_amount,
    owed.reward as cashback_amount, owed.commission_amount,
    owed.commission as commission_of_version
from owed
where owed.institution_payout_amount is distinct from owed.reward
    or owed.commission_amount is distinct from owed.commission
    or owed.merchant_funded_amount is distinct from owed.reward + owed.commission
order by owed.redemption_no;

-- name: settlements_add_up
-- Settlements that are not the sum of their entries and adjustments, or whose merchants fund another
-- amount than commission and payout. Grain: one row per settlement.
with summed as (
    select
        settled_amounts.settlement_no,
        count(*) filter (where settled_amounts.kind = 'entry') as entries,
        count(*) filter (where settled_amounts.kind = 'adjustment') as adjustments,
        sum(settled_amounts.merchant_funded_amount) as merchant_funded_amount,
        sum(settled_amounts.commission_amount) as commission_amount,
        sum(settled_amounts.institution_payout_amount) as institution_payout_amount
    from settled_amounts
    group by settled_amounts.settlement_no
)
select
    coalesce(settlements.settlement_no, summed.settlement_no) as settlement_no,
    settlements.settlement_id, settlements.entries, summed.entries as entries_found,
    settlements.institution_payout_amount, summed.institution_payout_amount as payout_found
from settlements
full join summed on summed.settlement_no = settlements.settlement_no
where settlements.entries is distinct from summed.entries
    or settlements.adjustments is distinct from summed.adjustments
    or settlements.merchant_funded_amount is distinct from summed.merchant_funded_amount
    or settlements.commission_amount is distinct from summed.commission_amount
    or settlements.institution_payout_amount is distinct from summed.institution_payout_amount
    or settlements.merchant_funded_amount
    <> settlements.commission_amount + settlements.institution_payout_amount
order by settlement_no;

-- name: reversals_are_given_back
-- Settled entries that were reversed without exactly one adjustment of their amounts, but for what
-- refunds had reduced them by, and adjustments of entries that were not; and reductions that are not
-- by what the version of their redemption gives less of what their refund left.
-- Grain: one row per redemption, or reduction.
with owed as (
    select
        ledger_entries.redemption_no, ledger_entries.merchant_funded_amount,
        ledger_entries.commission_amount, ledger_entries.institution_payout_amount
    from ledger_entries
    where ledger_entries.status = 'reversed'
        and ledger_entries.settlement_no is not null
),
given as (
    select
        adjustments.redemption_no,
        count(*) filter (where adjustments.refund_no is null) as adjustments,
        -sum(adjustments.merchant_funded_amount) as merchant_funded_amount,
        -sum(adjustments.commission_amount) as commission_amount,
        -sum(adjustments.institution_payout_amount) as institution_payout_amount
    from adjustments
    where adjustments.refund_no is null
        or adjustments.redemption_no in (select owed.redemption_no from owed)
    group by adjustments.redemption_no
),
sides as (
    select
        reduced.refund_no, reduced.redemption_no, reduced.merchant_funded_amount as funded,
        reduced.commission_amount as commission, reduced.institution_payout_amount as payout,
        unnest([found.net_after + found.refund_amount, found.net_after]) as net,
        unnest([1, -1]) as sign,
        reward_of(net, versions.cashback_amount, versions.cashback_percent, minor_unit) as reward,
        commission_on(
            net, reward, versions.commission_rate, versions.commission_basis,
            versions.max_commission_amount, minor_unit
        ) as fee
    from adjustments as reduced
    left join refund_outcomes as found using (refund_no, redemption_no, run_no)
    left join redemptions on redemptions.redemption_no = reduced.redemption_no
    left join numbered_versions as versions
        on versions.offer_no = redemptions.offer_no
        and versions.run_no = redemptions.version_no
    left join currencies on currencies.currency = reduced.currency
    where reduced.refund_no is not null
)
select
    coalesce(owed.redemption_no, given.redemption_no) as redemption_no,
    coalesce(given.adjustments, 0) as adjustments, owed.institution_payout_amount,
    given.institution_payout_amount as payout_given_back
from owed
full join given on given.redemption_no = owed.redemption_no
where given.adjustments is distinct from 1
    or owed.merchant_funded_amount is distinct from given.merchant_funded_amount
    or owed.commission_amount is distinct from given.commission_amount
    or owed.institution_payout_amount is distinct from given.institution_payout_amount
union all
select redemption_no, count(*), sum(sign * reward), -payout
from sides
group by refund_no, redemption_no, funded, commission, payout
having sum(sign * reward) is distinct from -payout
    or sum(sign * fee) is distinct from -commission
    or funded <> payout + commission
order by redemption_no;

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
    anti join cardholders using (cardholder_no, institution_id)
    union all
    select 'purchases', 'instruments', purchases.purchase_no
    from purchases
    anti join instruments using (instrument_no, cardholder_no)
    union all
    select 'purchases', 'imports', purchases.purchase_no
    from purchases
    anti join imports using (import_no, institution_id)
    where purchases.import_no is not null
    union all
    select 'links', 'cardholders', links.cardholder_no
    from links
    anti join cardholders using (cardholder_no, institution_id)
    union all
    select 'links', 'offers', links.offer_no
    from links
    where not exists (select 1 from offers where offers.offer_no = links.offer_no)
    union all
    select 'decisions', 'purchases', decisions.purchase_no
    from decisions
    anti join purchases on purchases.purchase_no = decisions.purchase_no
    union all
    select 'ledger_moves', 'ledger_entries', ledger_moves.redemption_no
    from ledger_moves
    anti join ledger_entries on ledger_entries.redemption_no = ledger_moves.redemption_no
    union all
    select 'attempts', 'outbox', attempts.event_no
    from attempts
    anti join outbox using (event_no, institution_id)
)
select lost.table_name, lost.points_to, count(*) as lost_rows, min(lost.row_no) as row_no
from lost
group by lost.table_name, lost.points_to
order by lost.table_name, lost.points_to;

-- name: waiting_is_what_waits
-- Purchases that wait for a match and are not where it looks, or are there and do not wait: decided
-- behind the watermark, of which they would be decided again; undecided before it, and not among the
-- unresolved; among these and decided, or more than once, or with other content. `fault` says which.
-- Grain: one row per purchase and fault; no purchase where there is not one watermark.
with watermark as (
    select coalesce(max(match_watermark.purchase_no), 0) as purchase_no
    from match_watermark
),
unresolved as (
    select
        unresolved_purchases.purchase_no,
        count(*) as times,
        min(
            hash(
                unresolved_purchases.institution_id, unresolved_purchases.cardholder_no,
                unresolved_purchases.identifier_no, unresolved_purchases.merchant_id,
                unresolved_purchases.amount, unresolved_purchases.currency,
                unresolved_purchases.transacted_at
            )
        ) as content
    from unresolved_purchases
    group by unresolved_purchases.purchase_no
),
resolved as (
    select distinct decisions.purchase_no
    from decisions
    where decisions.outcome <> 'merchant_unresolved'
),
undecided as (
    select
        purchases.purchase_no,
        hash(
            purchases.institution_id, purchases.cardholder_no, purchases.identifier_no,
            purchases.merchant_id, purchases.amount, purchases.currency, purchases.transacted_at
        ) as content
    from purchases
    cross join watermark
    anti join resolved on resolved.purchase_no = purchases.purchase_no
    where purchases.purchase_no <= watermark.purchase_no
),
faults as (
    select cast(null as bigint) as purchase_no, 'not one watermark' as fault
    from match_watermark
    having count(*) <> 1
    union all
    select distinct decisions.purchase_no, 'decided behind the watermark'
    from decisions
    cross join watermark
    where decisions.purchase_no > watermark.purchase_no
    union all
    select
        coalesce(undecided.purchase_no, unresolved.purchase_no),
        case
            when unresolved.purchase_no is null then 'is nowhere'
            when undecided.purchase_no is null then 'does not wait'
            when unresolved.times > 1 then 'waits twice'
            else 'waits with other content'
        end
    from undecided
    full outer join unresolved on unresolved.purchase_no = undecided.purchase_no
    where undecided.purchase_no is null
        or unresolved.purchase_no is null
        or unresolved.times > 1
        or unresolved.content <> undecided.content
)
select faults.purchase_no, faults.fault
from faults
order by faults.purchase_no nulls first, faults.fault;

-- name: references_are_indexed
-- Purchases that are not found by their reference, because the hash that they are found by is
-- missing, there twice or another one; and hashes of no purchase (`transaction_ref` is null then).
-- Grain: one row per purchase, or number of none.
with hashed as (
    select purchase_refs.purchase_no, count(*) as times, min(purchase_refs.ref_hash) as ref_hash
    from purchase_refs
    group by purchase_refs.purchase_no
),
final as (
    select
        coalesce(purchases.purchase_no, hashed.purchase_no) as purchase_no,
        purchases.institution_id,
        coalesce(hashed.times, 0) as hashes
    from purchases
    full outer join hashed on hashed.purchase_no = purchases.purchase_no
    where purchases.purchase_no is null
        or hashed.purchase_no is null
        or hashed.times > 1
        or hashed.ref_hash <> ref_hash(purchases.institution_id, purchases.transaction_ref)
)
select final.purchase_no, final.institution_id, final.hashes
from final
order by final.purchase_no;

-- name: looks_are_indexed
-- Purchases that later ones which are alike would not be compared with, because what tells it is
-- missing, there twice or another one; and such numbers of no purchase. Those behind the last one
-- that has it get it with the next import. Grain: one row per purchase, or number of none.
with indexed as (
    select
        purchases.purchase_no, purchases.institution_id, purchases.instrument_no,
        purchases.amount, purchases.transacted_at
    from purchases
    where purchases.purchase_no <= (select max(purchase_looks.purchase_no) from purchase_looks)
),
looks as (
    select purchase_looks.purchase_no, count(*) as times, min(purchase_looks.look) as look
    from purchase_looks
    group by purchase_looks.purchase_no
),
final as (
    select
        coalesce(indexed.purchase_no, looks.purchase_no) as purchase_no,
        indexed.institution_id,
        coalesce(looks.times, 0) as looks
    from indexed
    full outer join looks on looks.purchase_no = indexed.purchase_no
    where indexed.purchase_no is null
        or looks.purchase_no is null
        or looks.times > 1
        or looks.look
        <> look_of(indexed.instrument_no, indexed.amount, indexed.transacted_at)
)
select final.purchase_no, final.institution_id, final.looks
from final
order by final.purchase_no;
