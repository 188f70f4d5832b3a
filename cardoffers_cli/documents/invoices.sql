-- name: periods
-- The periods that were closed, the newest first. Grain: one row per period.
select period_no, from_at, to_at, closed_at, actor
from invoice_periods
order by from_at desc;

-- name: next_period_no
-- The number of the period that is closed next, behind the highest of invoice_periods.
select coalesce(max(period_no), 0) + 1 as period_no
from invoice_periods;

-- name: write_period
-- Writes invoice_periods, one row.
insert into invoice_periods (period_no, from_at, to_at, closed_at, run_no, actor)
values ($period_no, $from_at, $to_at, $closed_at, $run_no, $actor);

-- name: take_settlements
-- Writes invoiced_settlements: settlements made before $to_at that no period took; taken again they are
-- there, so none is written twice. Grain: one row per settlement.
insert into invoiced_settlements (settlement_no, institution_id, period_no)
select settlements.settlement_no, settlements.institution_id, $period_no
from settlements
where settlements.settled_at < $to_at
    and not exists (
        select 1
        from invoiced_settlements
        where invoiced_settlements.settlement_no = settlements.settlement_no
    );

-- name: drafts
-- What a period is to be invoiced as, or was: invoices first, then credit notes, in the order of their
-- numbers. `amends` is the number of the invoice that a credit note amends. Grain: one row per
-- invoice or credit note.
with summed as (
    select
        merchant_id, currency, amended_period_no, count(*) as line_count,
        sum(merchant_funded_amount) as amount
    from invoice_lines
    where period_no = $period_no
    group by merchant_id, currency, amended_period_no
)
select
    summed.merchant_id, merchants.name as merchant_name, summed.currency,
    summed.amended_period_no, amended.number as amends, summed.line_count, summed.amount,
    coalesce(merchants.net_days, 30) as net_days, merchants.tax_id, merchants.tax_note
from summed
inner join merchants on merchants.merchant_id = summed.merchant_id
left join invoices as amended
    on amended.period_no = summed.amended_period_no
    and amended.merchant_id = summed.merchant_id
    and amended.currency = summed.currency
    and amended.amended_period_no is null
order by
    summed.amended_period_no is not null, summed.merchant_id, summed.currency,
    summed.amended_period_no;

-- name: csv_lines
-- The lines of all drafts of a period, in the order of these, as they stand in the CSV files. Their
-- digests are kept, so this is never changed. With an $amended_period_no, or none, and a $merchant_id
-- and $currency, only those of one. Grain: one row per entry or adjustment.
select
    merchant_id, currency, amended_period_no,
    concat_ws(
        ',', kind, moment_text(created_at), cast(redemption_id as varchar), csv_text(offer_id),
        moment_text(settled_at), currency, amount_text(commission_amount, minor_unit),
        amount_text(institution_payout_amount, minor_unit),
        amount_text(merchant_funded_amount, minor_unit), ''
    ) as line
from invoice_lines
where period_no = $period_no
    and (
        $merchant_id is null
        or (
            merchant_id = $merchant_id
            and currency = $currency
            and amended_period_no is not distinct from $amended_period_no
        )
    )
order by
    amended_period_no is not null, merchant_id, currency, amended_period_no, created_at,
    redemption_id, kind desc;

-- name: lines
-- The lines of one invoice, in their order: the first $limit, or all where that is null.
-- Grain: one row per entry or adjustment.
select
    kind, created_at, redemption_id, offer_id, settled_at, currency, commission_amount,
    institution_payout_amount, merchant_funded_amount
from invoice_lines
where period_no = $period_no
    and merchant_id = $merchant_id
    and currency = $currency
    and amended_period_no is not distinct from $amended_period_no
order by created_at, redemption_id, kind desc
limit $limit;

-- name: newest
-- The newest of a series, or none: numbers go on behind it. Grain: one row, or none.
select number, sha256, year, place
from invoices
where series = $series
order by year desc, place desc
limit 1;

-- name: next_no
-- The number of the next invoice of all.
select coalesce(max(invoice_no), 0) + 1 as invoice_no
from invoices;

-- name: write
-- Writes invoices, one row.
insert into invoices (
    invoice_no, number, series, year, place, period_no, merchant_id, merchant_name, currency,
    amended_period_no, amends, line_count, amount, net_days, issued_on, due_on, sha256,
    previous_number, previous_sha256, tax_id, tax_note
)
values (
    $invoice_no, $number, $series, $year, $place, $period_no, $merchant_id, $merchant_name,
    $currency, $amended_period_no, $amends, $line_count, $amount, $net_days, $issued_on, $due_on,
    $sha256, $previous_number, $previous_sha256, $tax_id, $tax_note
);

-- name: list
-- Invoices and credit notes, the newest first; nulls in the parameters filter nothing. `invoices` is
-- how many there are in all. Grain: one row per invoice or credit note.
select
    invoices.invoice_no, invoices.number, invoices.series, invoices.year, invoices.place,
    invoices.period_no, invoices.merchant_id, invoices.merchant_name, invoices.currency,
    invoices.amended_period_no, invoices.amends, invoices.line_count, invoices.amount,
    invoices.net_days, invoices.issued_on, invoices.due_on, invoices.sha256,
    invoices.previous_number, invoices.previous_sha256, invoices.tax_id, invoices.tax_note,
    invoice_periods.from_at,
    invoice_periods.to_at, invoice_periods.closed_at, invoice_periods.actor,
    count(*) over () as invoices
from invoices
inner join invoice_periods on invoice_periods.period_no = invoices.period_no
where ($number is null or invoices.number = $number)
    and ($merchant_id is null or invoices.merchant_id = $merchant_id)
    and ($period_no is null or invoices.period_no = $period_no)
order by invoices.invoice_no desc
limit $limit;

-- name: merchant_of
-- The merchant that was invoiced under a name, or of an id. Grain: one row, or none.
select merchant_id
from invoices
where lower(merchant_name) = lower($named)
    or cast(merchant_id as varchar) = lower($named)
order by invoice_no desc
limit 1;
