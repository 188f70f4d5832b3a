-- name: invoices_add_up
-- Invoices and credit notes that are not the sum of their lines in the ledger, and lines of a closed
-- period that are on none. Grain: one row per invoice, credit note, or lines without one.
with summed as (
    select
        invoice_lines.period_no, invoice_lines.merchant_id, invoice_lines.currency,
        invoice_lines.amended_period_no, count(*) as line_count,
        sum(invoice_lines.merchant_funded_amount) as amount
    from invoice_lines
    group by
        invoice_lines.period_no, invoice_lines.merchant_id, invoice_lines.currency,
        invoice_lines.amended_period_no
)
select
    invoices.number, summed.merchant_id, invoices.amount, summed.amount as lines_amount,
    invoices.line_count, summed.line_count as lines_found
from invoices
full join summed
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
