-- name: next_numbers
-- The numbers of the next statement, invoice and period of invoices of all. Grain: one row.
select
    (select coalesce(max(statements.statement_no), 0) + 1 from statements) as statement_no,
    (select coalesce(max(invoices.invoice_no), 0) + 1 from invoices) as invoice_no,
    (select coalesce(max(invoice_periods.period_no), 0) + 1 from invoice_periods) as period_no;

-- name: take
-- Writes closed_settlements: settlements made before $to_at, of an institution or, for invoices, of all,
-- that no document of the kind took (rules.md#statements); taken again they are there, so none is
-- written twice. Grain: one row per settlement.
insert into closed_settlements (document, settlement_no, institution_id, closing_no)
select $document, settlements.settlement_no, settlements.institution_id, $closing_no
from settlements
anti join closed_settlements
    on closed_settlements.document = $document
    and closed_settlements.settlement_no = settlements.settlement_no
where settlements.settled_at < $to_at
    and ($institution_id is null or settlements.institution_id = $institution_id);

-- name: name_offers
-- Writes closed_offers: what the offers on the documents of a closing are called now, in the first of
-- $languages; the names of a closing are written with it, once. Grain: one row per offer and merchant.
insert into closed_offers
    (document, closing_no, offer_no, merchant_id, merchant_name, offer_title)
with closed_amounts as (
    select distinct settled_amounts.offer_no, settled_amounts.merchant_id
    from settled_amounts
    inner join closed_settlements as closed using (settlement_no, institution_id)
    where closed.document = $document
        and closed.closing_no = $closing_no
)
select
    $document, $closing_no, closed_amounts.offer_no, closed_amounts.merchant_id, merchants.name,
    offer_title(offer_titles.titles, $languages)
from closed_amounts
inner join offers on offers.offer_no = closed_amounts.offer_no
inner join merchants on merchants.merchant_id = closed_amounts.merchant_id
left join offer_titles on offer_titles.offer_id = offers.offer_id;

-- name: statement_sums
-- What the settlements of a statement moved in the account of its institution or, where $statement_no
-- is null, those made before $to_at that no statement took. Grain: one row.
select
    cast(coalesce(sum(entry_count), 0) as bigint) as entry_count,
    cast(coalesce(sum(adjustment_count), 0) as bigint) as adjustment_count,
    coalesce(sum(entries), 0) as entries, coalesce(sum(adjustments), 0) as adjustments,
    $currency as currency
from stated_amounts
where institution_id = $institution_id
    and statement_no is not distinct from $statement_no
    and ($statement_no is not null or settled_at < $to_at);

-- name: pending
-- Entries of an institution that are on hold, and how many of them were due before $to_at and wait
-- for a run of settle. Grain: one row.
select
    count(*) as pending_count,
    coalesce(sum(ledger_entries.institution_payout_amount), 0) as pending,
    count(*) filter (where ledger_entries.settles_at < $to_at) as overdue_count,
    $currency as currency
from ledger_entries
where ledger_entries.institution_id = $institution_id
    and ledger_entries.status = 'pending'
    and ledger_entries.created_at < $to_at;

-- name: drafts
-- What a period is to be invoiced as, or was: invoices first, then credit notes, in the order of their
-- numbers. `amends` is the number of the invoice that a credit note amends. Grain: one row per
-- invoice or credit note.
with summed as (
    select
        merchant_id, currency, amended_period_no, count(*) as line_count,
        sum(merchant_funded_amount) as amount
    from document_lines
    where document = 'invoice'
        and closing_no = $period_no
    group by merchant_id, currency, amended_period_no
)
select
    summed.merchant_id, merchants.name as merchant_name, summed.currency,
    summed.amended_period_no, amended.number as amends, summed.line_count, summed.amount,
    coalesce(merchants.net_days, 30) as net_days, merchants.tax_id, merchants.tax_note,
    merchants.address, merchants.country
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

-- name: newest_invoice
-- The newest of a series, or none: numbers go on behind it. Grain: one row, or none.
select number, sha256, year, place
from invoices
where series = $series
order by year desc, place desc
limit 1;

-- name: write_statement
-- Writes statements, one row: a period that was closed.
insert into statements (
    statement_no, institution_id, number, series, year, place, from_at, to_at, currency,
    entry_count, adjustment_count, carried_in, entries, adjustments, carried_out, payable,
    pending_count, pending, sha256, previous_number, previous_sha256, closed_at, run_no, actor,
    tax_id, tax_note, address, country, issuer, issuer_address, issuer_tax_id, time_zone
)
values (
    $statement_no, $institution_id, $number, $series, $year, $place, $from_at, $to_at, $currency,
    $entry_count, $adjustment_count, $carried_in, $entries, $adjustments, $carried_out, $payable,
    $pending_count, $pending, $sha256, $previous_number, $previous_sha256, $closed_at, $run_no,
    $actor, $tax_id, $tax_note, $address, $country, $issuer, $issuer_address, $issuer_tax_id,
    $time_zone
);

-- name: write_invoice
-- Writes invoices, one row.
insert into invoices (
    invoice_no, number, series, year, place, period_no, merchant_id, merchant_name, currency,
    amended_period_no, amends, line_count, amount, net_days, issued_on, due_on, sha256,
    previous_number, previous_sha256, tax_id, tax_note, address, country, issuer, issuer_address,
    issuer_tax_id, pay_to, time_zone
)
values (
    $invoice_no, $number, $series, $year, $place, $period_no, $merchant_id, $merchant_name,
    $currency, $amended_period_no, $amends, $line_count, $amount, $net_days, $issued_on, $due_on,
    $sha256, $previous_number, $previous_sha256, $tax_id, $tax_note, $address, $country, $issuer,
    $issuer_address, $issuer_tax_id, $pay_to, $time_zone
);

-- name: write_period
-- Writes invoice_periods, one row.
insert into invoice_periods (period_no, from_at, to_at, closed_at, run_no, actor)
values ($period_no, $from_at, $to_at, $closed_at, $run_no, $actor);

-- name: write_legal_invoice
-- Writes legal_invoices, one row: all that the accounting system says of an invoice.
insert into legal_invoices (run_no, number, legal_number, tax)
values ($run_no, $number, $legal_number, $tax);

-- name: write_settlement
-- Writes invoice_settlements, one row.
insert into invoice_settlements (run_no, number, settled_as, amount, reason)
values ($run_no, $number, $settled_as, $amount, $reason);

-- name: periods
-- The periods that were invoiced, the newest first. Grain: one row per period.
select period_no, from_at as from_, to_at as "to", closed_at, actor
from invoice_periods
order by from_at desc;

-- name: statements
-- Statements, the newest period first; nulls in the parameters filter nothing. `in_all` is how many
-- there are of them. Grain: one row per statement.
select
    statements.* exclude (from_at, to_at, run_no), statements.from_at as from_,
    statements.to_at as "to", institutions.slug as institution,
    coalesce(runs.machine_at, statements.closed_at) as recorded_at,
    exists (from rehearsal) as is_rehearsal, count(*) over () as in_all
from statements
inner join institutions on institutions.institution_id = statements.institution_id
left join runs on runs.run_no = statements.run_no
where ($party_id is null or statements.institution_id = $party_id)
    and ($number is null or statements.number = $number)
    and ($closing_no is null or statements.statement_no = $closing_no)
order by statements.from_at desc, statements.number
limit $limit;

-- name: invoices
-- Invoices and credit notes, the newest first; nulls in the parameters filter nothing. `in_all` is how
-- many there are of them. Grain: one row per invoice or credit note.
select
    invoices.*, newest_legal_invoices.legal_number, newest_legal_invoices.tax,
    invoice_periods.from_at as from_, invoice_periods.to_at as "to", invoice_periods.closed_at,
    invoice_periods.actor,
    coalesce(runs.machine_at, invoice_periods.closed_at) as recorded_at,
    exists (from rehearsal) as is_rehearsal, count(*) over () as in_all
from invoices
inner join invoice_periods on invoice_periods.period_no = invoices.period_no
left join runs on runs.run_no = invoice_periods.run_no
left join newest_legal_invoices on newest_legal_invoices.number = invoices.number
where ($number is null or invoices.number = $number)
    and ($party_id is null or invoices.merchant_id = $party_id)
    and ($closing_no is null or invoices.period_no = $closing_no)
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

-- name: settlements
-- The settlements that a statement took, the first one first. Grain: one row per settlement.
select
    settlements.settled_at, settlements.currency, settlements.entries, settlements.adjustments,
    settlements.institution_payout_amount, settlements.settlement_id
from settlements
inner join closed_settlements using (settlement_no, institution_id)
where closed_settlements.document = 'statement'
    and closed_settlements.institution_id = $institution_id
    and closed_settlements.closing_no = $statement_no
order by settlements.settled_at, settlements.settlement_no;

-- name: subtotals
-- What the lines of a document come to by offer or, on an invoice, by institution. Grain: one row per
-- offer or institution.
select
    if(document = 'statement', offer_id, institutions.slug) as subject,
    any_value(offer_title) filter (where document = 'statement') as offer_title,
    lines.currency, count(*) as line_count,
    sum(if(document = 'statement', institution_payout_amount, merchant_funded_amount)) as amount
from document_lines as lines
inner join institutions on institutions.institution_id = lines.institution_id
where document = $document
    and closing_no = $closing_no
    and key = $key
group by document, subject, lines.currency
order by subject;

-- name: lines
-- The lines of a document, in their order for ever: the first $limit, or all where that is null.
-- Grain: one row per entry or adjustment.
select
    kind, created_at, redemption_id, offer_id, merchant_id, settlement_id, settled_at, currency,
    merchant_funded_amount, commission_amount, institution_payout_amount, transaction_ref,
    purchased_on, purchase_amount, merchant_name, offer_title
from document_lines
where document = $document
    and closing_no = $closing_no
    and ($key is null or key = $key)
order by created_at, redemption_id, kind desc
limit $limit;

-- name: csv_lines
-- The same lines as they stand in the CSV file, or without a $key those of all documents of a closing,
-- in the order of drafts. Their digests are kept, so this is never changed; concat_ws leaves out the
-- columns that only the other kind has. Grain: one row per entry or adjustment.
select
    key,
    concat_ws(
        ',', kind, moment_text(created_at), cast(redemption_id as varchar), csv_text(offer_id),
        case when document = 'statement' then merchant_id || ',' || settlement_id end,
        moment_text(settled_at), currency,
        case when document = 'statement' then amount_text(merchant_funded_amount, minor_unit) end,
        amount_text(commission_amount, minor_unit),
        amount_text(institution_payout_amount, minor_unit),
        case when document = 'invoice' then amount_text(merchant_funded_amount, minor_unit) end,
        csv_text(transaction_ref), coalesce(cast(purchased_on as varchar), ''),
        coalesce(amount_text(purchase_amount, minor_unit), ''), csv_text(merchant_name),
        csv_text(offer_title)
    ) as line
from document_lines
where document = $document
    and closing_no = $closing_no
    and ($key is null or key = $key)
order by
    amended_period_no is not null, case when document = 'invoice' then merchant_id end,
    case when document = 'invoice' then currency end, amended_period_no, created_at, redemption_id,
    kind desc;
