-- name: trial_balance
-- What each account opened a period with, what was debited and credited in it, and what it closed
-- with; without a period of all that there is. Opening and closing are positive where debits
-- prevail. Grain: one row per account and currency, and if wanted per party.
with lines as (
    select
        journal_lines.account, journal_lines.currency, journal_lines.amount,
        case when $by_party then journal_lines.party_id end as party_id,
        coalesce(entries.posted_on < $from_at, false) as is_before
    from journal_lines
    inner join journal_entries as entries on entries.entry_no = journal_lines.entry_no
    where ($to_at is null or entries.posted_on < $to_at)
        and ($institution_id is null or journal_lines.party_id = $institution_id)
)
select
    lines.account, coalesce(institutions.slug, merchants.name) as party, lines.currency,
    coalesce(sum(lines.amount) filter (where lines.is_before), 0) as opening,
    coalesce(sum(lines.amount) filter (where not lines.is_before and lines.amount > 0), 0)
        as debit,
    coalesce(sum(-lines.amount) filter (where not lines.is_before and lines.amount < 0), 0)
        as credit,
    sum(lines.amount) as closing
from lines
left join institutions on institutions.institution_id = lines.party_id
left join merchants on merchants.merchant_id = lines.party_id
group by lines.account, lines.party_id, party, lines.currency
order by lines.currency, lines.account, party, lines.party_id;

-- name: lines
-- The lines of the journal that were posted in a period; parties by what never changes, an
-- institution's slug or a merchant's id, and codes yet to be filled in. Grain: one row per line.
select
    entries.entry_no, entries.posted_on as posting_date, entries.document, lines.account,
    cast(null as varchar) as account_code, cast(null as varchar) as tax_code,
    coalesce(institutions.slug, cast(lines.party_id as varchar)) as party,
    concat_ws(' ', replace(entries.event, '_', ' '), coalesce(lines.item, entries.document))
        as description,
    greatest(lines.amount, 0) as debit, greatest(-lines.amount, 0) as credit, lines.currency
from journal_lines as lines
inner join journal_entries as entries on entries.entry_no = lines.entry_no
left join institutions on institutions.institution_id = lines.party_id
where entries.posted_on >= $from_at
    and entries.posted_on < $to_at
order by entries.entry_no, lines.account, party, lines.item, lines.currency;

-- name: receivables
-- What merchants owe of each invoice: credit notes are of the invoice that they amend, and received is
-- what the bank booked for its number, ours or the legal one; the amount is with tax. Of an institution,
-- the invoices that have lines of it. Grain: one row per invoice.
with billed as (
    select
        lines.item as number,
        sum(lines.amount) filter (where entries.event in ('invoice_closed', 'tax_set')) as amount,
        -coalesce(sum(lines.amount) filter (where entries.event in ('received', 'allocated')), 0)
            as received_amount,
        sum(lines.amount) as open_amount
    from journal_lines as lines
    inner join journal_entries as entries on entries.entry_no = lines.entry_no
    where lines.account = 'merchants:billed'
    group by lines.item
)
select
    billed.number, newest_legal_invoices.legal_number, merchants.name as merchant,
    invoices.currency, invoices.issued_on, invoices.due_on, billed.amount, billed.received_amount,
    billed.amount - billed.received_amount - billed.open_amount as settled_amount,
    billed.open_amount,
    case
        when billed.open_amount < 0 then 'over'
        when billed.open_amount = 0 then if(settled_amount > 0, 'settled', 'paid')
        when billed.open_amount < billed.amount then 'part'
        else 'open'
    end as state,
    if(
        billed.open_amount > 0, greatest(date_diff('day', invoices.due_on, cast($now as date)), 0), null
    ) as days_overdue,
    30 * if(days_overdue > 90, 3, days_overdue // 30) as age
from billed
inner join invoices on invoices.number = billed.number
inner join merchants on merchants.merchant_id = invoices.merchant_id
left join newest_legal_invoices on newest_legal_invoices.number = billed.number
where $institution_id is null
    or exists (
        select true
        from document_lines
        where document_lines.document = 'invoice'
            and document_lines.closing_no = invoices.period_no
            and document_lines.merchant_id = invoices.merchant_id
            and document_lines.currency = invoices.currency
            and document_lines.institution_id = $institution_id
    )
order by invoices.due_on, billed.number;
