-- name: invoices_add_up
-- Invoices and credit notes that are not the sum of their lines in the ledger, and lines of a closed
-- period that are on none. Grain: one row per invoice, credit note, or lines without one.
select
    invoices.number, summed.merchant_id, invoices.amount, summed.amount as lines_amount,
    invoices.line_count, summed.line_count as lines_found
from invoices
full join invoice_sums as summed
    on summed.period_no = invoices.period_no
    and summed.merchant_id = invoices.merchant_id
    and summed.currency = invoices.currency
    and summed.amended_period_no is not distinct from invoices.amended_period_no
where invoices.amount is distinct from summed.amount
    or invoices.line_count is distinct from summed.line_count
order by invoices.invoice_no, summed.merchant_id;

-- name: invoices_take_each_settlement_once
-- Settlements of a period that is not there or ends before them, and those that were there when their
-- period was invoiced and are of none. Grain: one row per settlement.
select settlements.settlement_id, invoice_periods.from_at, settlements.settled_at
from settlements
left join invoiced_settlements
    on invoiced_settlements.settlement_no = settlements.settlement_no
left join invoice_periods on invoice_periods.period_no = invoiced_settlements.period_no
where (
    invoiced_settlements.period_no is not null
    and (
        invoice_periods.period_no is null
        or invoiced_settlements.institution_id <> settlements.institution_id
        or invoice_periods.to_at <= settlements.settled_at
        or invoice_periods.run_no < settlements.run_no
    )
)
or (
    invoiced_settlements.period_no is null
    and exists (
        select 1
        from invoice_periods as closed
        where closed.to_at > settlements.settled_at
            and closed.run_no > settlements.run_no
    )
)
order by settlements.settlement_id;

-- name: invoices_follow_each_other
-- Invoices and credit notes whose number leaves a gap in its series and year, or that name another
-- number or digest as the one before; credit notes that amend what is no invoice of their merchant.
-- Grain: one row per invoice or credit note.
with ordered as (
    select
        invoices.invoice_no, invoices.number, invoices.series, invoices.year, invoices.place,
        invoices.amends, invoices.amended_period_no, invoices.merchant_id, invoices.currency,
        invoices.previous_number, invoices.previous_sha256,
        lag(invoices.number) over of_series as number_before,
        lag(invoices.sha256) over of_series as sha256_before,
        row_number() over (
            partition by invoices.series, invoices.year
            order by invoices.invoice_no
        ) as place_in_order
    from invoices
    window of_series as (
        partition by invoices.series
        order by invoices.invoice_no
    )
)
select ordered.number, ordered.number_before, ordered.previous_number, ordered.amends
from ordered
left join invoices as amended
    on amended.number = ordered.amends
    and amended.merchant_id = ordered.merchant_id
    and amended.currency = ordered.currency
    and amended.period_no = ordered.amended_period_no
    and amended.amends is null
where ordered.place <> ordered.place_in_order
    or ordered.number
    <> ordered.series || '-' || ordered.year || '-' || lpad(cast(ordered.place as varchar), 6, '0')
    or ordered.previous_number is distinct from ordered.number_before
    or ordered.previous_sha256 is distinct from ordered.sha256_before
    or (ordered.amends is null) <> (ordered.series = 'INV')
    or (ordered.amends is null) <> (ordered.amended_period_no is null)
    or (ordered.amends is not null and amended.number is null)
order by ordered.invoice_no;

-- name: statements_add_up
-- Statements that are not the sum of the settlements that they took, or of which what is payable and
-- carried out is not the sum of the rest. Settlements are held against their entries by another audit.
-- Grain: one row per statement.
with taken as (
    select
        statement_settlements.statement_no, statement_settlements.institution_id,
        sum(settlements.entries) as entry_count, sum(settlements.adjustments) as adjustment_count,
        sum(settlements.institution_payout_amount) as amount
    from statement_settlements
    inner join settlements
        on settlements.settlement_no = statement_settlements.settlement_no
        and settlements.institution_id = statement_settlements.institution_id
    group by statement_settlements.statement_no, statement_settlements.institution_id
)
select
    statements.number, statements.entries + statements.adjustments as amount,
    coalesce(taken.amount, 0) as settled_amount, statements.payable, statements.carried_out
from statements
left join taken
    on taken.statement_no = statements.statement_no
    and taken.institution_id = statements.institution_id
where statements.entries + statements.adjustments <> coalesce(taken.amount, 0)
    or statements.entry_count <> coalesce(taken.entry_count, 0)
    or statements.adjustment_count <> coalesce(taken.adjustment_count, 0)
    or statements.carried_in + statements.entries + statements.adjustments
    <> statements.payable + statements.carried_out
    or statements.payable < 0
    or statements.carried_out > 0
    or (statements.payable > 0 and statements.carried_out < 0)
order by statements.statement_no;

-- name: statements_take_each_settlement_once
-- Settlements on a statement that is not there, is of another institution or currency, or ends before
-- them; and those that were there when their period was closed and are on none.
-- Grain: one row per settlement.
select settlements.settlement_id, statements.number, settlements.settled_at
from settlements
left join statement_settlements
    on statement_settlements.settlement_no = settlements.settlement_no
left join statements on statements.statement_no = statement_settlements.statement_no
where (
    statement_settlements.statement_no is not null
    and (
        statements.statement_no is null
        or statements.institution_id <> settlements.institution_id
        or statement_settlements.institution_id <> settlements.institution_id
        or statements.currency <> settlements.currency
        or statements.to_at <= settlements.settled_at
        or statements.run_no < settlements.run_no
    )
)
or (
    statement_settlements.statement_no is null
    and exists (
        select 1
        from statements as closed
        where closed.institution_id = settlements.institution_id
            and closed.to_at > settlements.settled_at
            and closed.run_no > settlements.run_no
    )
)
order by settlements.settlement_no;

-- name: statements_follow_each_other
-- Statements whose number leaves a gap in its series and year, whose period does not begin where the
-- one before it ends, or who carry in another amount, or name another number or digest, than that has.
-- Grain: one row per statement.
with ordered as (
    select
        statements.statement_no, statements.number, statements.series, statements.year,
        statements.place, statements.from_at, statements.carried_in, statements.previous_number,
        statements.previous_sha256,
        lag(statements.number) over of_institution as number_before,
        lag(statements.sha256) over of_institution as sha256_before,
        lag(statements.to_at) over of_institution as to_before,
        lag(statements.carried_out) over of_institution as carried_before,
        row_number() over (
            partition by statements.institution_id, statements.series, statements.year
            order by statements.from_at, statements.statement_no
        ) as place_in_order
    from statements
    window of_institution as (
        partition by statements.institution_id
        order by statements.from_at, statements.statement_no
    )
)
select ordered.number, ordered.number_before, ordered.previous_number, ordered.place
from ordered
where ordered.place <> ordered.place_in_order
    or ordered.number
    <> ordered.series || '-' || ordered.year || '-' || lpad(cast(ordered.place as varchar), 6, '0')
    or ordered.from_at <> coalesce(ordered.to_before, ordered.from_at)
    or ordered.carried_in <> coalesce(ordered.carried_before, 0)
    or ordered.previous_number is distinct from ordered.number_before
    or ordered.previous_sha256 is distinct from ordered.sha256_before
order by ordered.statement_no;
