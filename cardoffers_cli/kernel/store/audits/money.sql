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
-- its cashback, the commission on it, and their sum; or whose version is not there.
-- Grain: one row per entry.
with owed as (
    select
        ledger_entries.redemption_no, ledger_entries.entry_id, redemptions.version_no,
        ledger_entries.merchant_funded_amount, ledger_entries.commission_amount,
        ledger_entries.institution_payout_amount, offer_versions.cashback_amount,
        commission_of(
            offer_versions.cashback_amount, offer_versions.commission_rate, currencies.minor_unit
        ) as commission
    from ledger_entries
    inner join redemptions on redemptions.redemption_no = ledger_entries.redemption_no
    left join currencies on currencies.currency = ledger_entries.currency
    left join offer_versions
        on offer_versions.offer_no = ledger_entries.offer_no
        and offer_versions.run_no = redemptions.version_no
)
select
    owed.entry_id, owed.version_no, owed.institution_payout_amount, owed.cashback_amount,
    owed.commission_amount, owed.commission as commission_of_version
from owed
where owed.institution_payout_amount is distinct from owed.cashback_amount
    or owed.commission_amount is distinct from owed.commission
    or owed.merchant_funded_amount is distinct from owed.cashback_amount + owed.commission
order by owed.redemption_no;

-- name: settlements_add_up
-- Settlements that are not the sum of their entries and adjustments, or whose merchants fund another
-- amount than commission and payout. Grain: one row per settlement.
with parts as (
    select
        ledger_entries.settlement_no, 1 as entries, 0 as adjustments,
        ledger_entries.merchant_funded_amount, ledger_entries.commission_amount,
        ledger_entries.institution_payout_amount
    from ledger_entries
    where ledger_entries.settlement_no is not null
    union all
    select
        adjustments.settlement_no, 0, 1, adjustments.merchant_funded_amount,
        adjustments.commission_amount, adjustments.institution_payout_amount
    from adjustments
    where adjustments.settlement_no is not null
),
summed as (
    select
        parts.settlement_no, sum(parts.entries) as entries, sum(parts.adjustments) as adjustments,
        sum(parts.merchant_funded_amount) as merchant_funded_amount,
        sum(parts.commission_amount) as commission_amount,
        sum(parts.institution_payout_amount) as institution_payout_amount
    from parts
    group by parts.settlement_no
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

-- name: settlements_keep_apart
-- Entries and adjustments in a settlement of another institution or currency. Grain: one row per
-- entry or adjustment.
with parts as (
    select
        ledger_entries.redemption_no, ledger_entries.settlement_no, ledger_entries.institution_id,
        ledger_entries.currency
    from ledger_entries
    union all
    select
        adjustments.redemption_no, adjustments.settlement_no, adjustments.institution_id,
        adjustments.currency
    from adjustments
)
select parts.redemption_no, settlements.settlement_id, parts.institution_id, parts.currency
from parts
inner join settlements on settlements.settlement_no = parts.settlement_no
where settlements.institution_id <> parts.institution_id
    or settlements.currency <> parts.currency
order by parts.redemption_no;

-- name: totals_add_up
-- Currencies in which the merchants' money in all is not commission and payout, or what was settled
-- is not what the settlements say. Grain: one row per currency.
with booked as (
    select
        ledger_entries.currency,
        sum(ledger_entries.merchant_funded_amount)
        - sum(ledger_entries.commission_amount)
        - sum(ledger_entries.institution_payout_amount) as unexplained,
        coalesce(
            sum(ledger_entries.institution_payout_amount)
                filter (where ledger_entries.settlement_no is not null),
            0
        ) as payout
    from ledger_entries
    group by ledger_entries.currency
),
adjusted as (
    select
        adjustments.currency,
        coalesce(
            sum(adjustments.institution_payout_amount)
                filter (where adjustments.settlement_no is not null),
            0
        ) as payout
    from adjustments
    group by adjustments.currency
),
settled as (
    select settlements.currency, sum(settlements.institution_payout_amount) as payout
    from settlements
    group by settlements.currency
),
final as (
    select
        currencies.currency, coalesce(booked.unexplained, 0) as unexplained_amount,
        coalesce(booked.payout, 0) + coalesce(adjusted.payout, 0) as booked_amount,
        coalesce(settled.payout, 0) as settled_amount
    from currencies
    left join booked on booked.currency = currencies.currency
    left join adjusted on adjusted.currency = currencies.currency
    left join settled on settled.currency = currencies.currency
)
select final.currency, final.unexplained_amount, final.booked_amount, final.settled_amount
from final
where final.unexplained_amount <> 0
    or final.booked_amount <> final.settled_amount
order by final.currency;

-- name: reversals_are_given_back
-- Settled entries that were reversed without exactly one adjustment of their amounts, and
-- adjustments of entries that were not. Grain: one row per redemption.
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
        adjustments.redemption_no, count(*) as adjustments,
        -sum(adjustments.merchant_funded_amount) as merchant_funded_amount,
        -sum(adjustments.commission_amount) as commission_amount,
        -sum(adjustments.institution_payout_amount) as institution_payout_amount
    from adjustments
    group by adjustments.redemption_no
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
order by redemption_no;
