-- name: documents_add_up
-- Statements that are not what their settlements moved in the journal, or of which what is payable and
-- carried out is not the sum of the rest; invoices and credit notes that are not the sum of their lines,
-- and lines of a closed period that are on none. Grain: one row per document, or lines without one.
with summed as (
    select
        'statement' as document, statement_no as closing_no,
        cast(institution_id as varchar) as key,
        cast(sum(entry_count + adjustment_count) as bigint) as line_count,
        sum(entries + adjustments) as amount, sum(entry_count) as entry_count,
        sum(entries) as entries
    from stated_amounts
    group by statement_no, institution_id
    having statement_no is not null
    union all by name
    select document, closing_no, key, count(*) as line_count, sum(merchant_funded_amount) as amount
    from document_lines
    where document = 'invoice'
    group by document, closing_no, key
)
select
    documents.number, summed.key, documents.amount, summed.amount as lines_amount,
    documents.line_count, summed.line_count as lines_found
from documents
full join summed
    on summed.document = documents.document
    and summed.closing_no = documents.closing_no
    and summed.key = documents.key
left join statements on statements.number = documents.number
where coalesce(documents.amount, 0) <> coalesce(summed.amount, 0)
    or coalesce(documents.line_count, 0) <> coalesce(summed.line_count, 0)
    or statements.entries <> coalesce(summed.entries, 0)
    or statements.entry_count <> coalesce(summed.entry_count, 0)
    or statements.payable <> greatest(statements.carried_in + documents.amount, 0)
    or statements.carried_out <> least(statements.carried_in + documents.amount, 0)
order by documents.number, summed.key;

-- name: documents_take_each_settlement_once
-- Settlements on a statement or of a period of invoices that is not there, is of another institution or
-- currency, or ends before them; and those that were there when it was closed and are on none.
-- Grain: one row per settlement and kind of document.
with closings as (
    select
        'statement' as document, statement_no as closing_no, institution_id, currency, to_at, run_no
    from statements
    union all
    select 'invoice', period_no, null, null, to_at, run_no
    from invoice_periods
),
settled as (
    select kinds.document, settlements.*
    from settlements
    cross join (values ('statement'), ('invoice')) as kinds (document)
)
select settled.settlement_id, settled.document, settled.settled_at
from settled
left join closed_settlements as closed using (document, settlement_no)
left join closings using (document, closing_no)
where (
    closed.closing_no is not null
    and (
        closings.closing_no is null
        or closed.institution_id <> settled.institution_id
        or closings.institution_id <> settled.institution_id
        or closings.currency <> settled.currency
        or closings.to_at <= settled.settled_at
        or closings.run_no < settled.run_no
    )
)
or (
    closed.closing_no is null
    and exists (
        select 1
        from closings as later
        where later.document = settled.document
            and coalesce(later.institution_id, settled.institution_id) = settled.institution_id
            and later.to_at > settled.settled_at
            and later.run_no > settled.run_no
    )
)
order by settled.settlement_no, settled.document;

-- name: documents_follow_each_other
-- Documents whose number leaves a gap in its series and year, or that name another number or digest as
-- the one before; statements whose period does not begin where the one before ends, or that carry in
-- another amount than that carried out; credit notes that amend what is no invoice of their merchant.
-- Grain: one row per document.
with ordered as (
    select
        documents.*, statements.carried_in,
        lag(documents.number) over of_chain as number_before,
        lag(documents.sha256) over of_chain as sha256_before,
        lag(documents.to_at) over of_chain as to_before,
        lag(statements.carried_out) over of_chain as carried_before,
        row_number() over (
            partition by documents.chain, documents.series, documents.year
            order by documents.from_at, documents.document_no
        ) as place_in_order
    from documents
    left join statements on statements.number = documents.number
    window of_chain as (
        partition by documents.chain
        order by documents.from_at, documents.document_no
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
    or ordered.carried_in <> coalesce(ordered.carried_before, 0)
    or (ordered.document = 'statement' and ordered.from_at <> ordered.to_before)
    or (ordered.series = 'CN') <> (ordered.amends is not null)
    or (ordered.amends is null) <> (ordered.amended_period_no is null)
    or (ordered.amends is not null and amended.number is null)
order by ordered.document, ordered.document_no;
