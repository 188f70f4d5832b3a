-- name: settled_amounts
-- Ledger entries and adjustments that a settlement took. A line says what changed hands: an entry that
-- was reversed later stands here as it was settled, and its adjustment beside it, with the settlement
-- of the entry. Grain: one row per entry or adjustment.
create or replace view settled_amounts as
select
    'entry' as kind, ledger_entries.created_at, ledger_entries.redemption_no,
    ledger_entries.institution_id, ledger_entries.offer_no, ledger_entries.merchant_id,
    ledger_entries.settlement_no, ledger_entries.settlement_no as entry_settlement_no,
    ledger_entries.currency, ledger_entries.merchant_funded_amount,
    ledger_entries.commission_amount, ledger_entries.institution_payout_amount
from ledger_entries
where ledger_entries.settlement_no is not null
union all
select
    'adjustment', adjustments.created_at, adjustments.redemption_no, adjustments.institution_id,
    ledger_entries.offer_no, ledger_entries.merchant_id, adjustments.settlement_no,
    ledger_entries.settlement_no, adjustments.currency, adjustments.merchant_funded_amount,
    adjustments.commission_amount, adjustments.institution_payout_amount
from adjustments
inner join ledger_entries using (redemption_no, institution_id)
where adjustments.settlement_no is not null;

-- name: settled_lines
-- The same with their settlement and purchase, and only with what never changes (rules.md#statements):
-- no token. Grain: one row per entry or adjustment.
create or replace view settled_lines as
select
    settled_amounts.*, redemptions.redemption_id, offers.offer_id, settlements.settlement_id,
    settlements.settled_at, currencies.minor_unit, redemptions.transaction_ref,
    cast(redemptions.purchased_at as date) as purchased_on, redemptions.purchase_amount
from settled_amounts
inner join settlements using (settlement_no, institution_id)
inner join redemptions using (redemption_no, institution_id)
inner join offers on offers.offer_no = settled_amounts.offer_no
inner join currencies on currencies.currency = settled_amounts.currency;

-- name: documents
-- Statements, invoices and credit notes, by what they have in common: the lines of each are of its
-- `closing_no` and `key`, and each follows the one before it of its `chain`. Grain: one row per document.
create or replace view documents as
select
    'statement' as document, 'statement' as title, statement_no as closing_no,
    cast(institution_id as varchar) as key, cast(institution_id as varchar) as chain,
    statement_no as document_no, institution_id, number, series, year, place, from_at, to_at,
    currency, entry_count + adjustment_count as line_count, entries + adjustments as amount,
    payable, sha256, previous_number, previous_sha256, closed_at, run_no, actor
from statements
union all by name
select
    'invoice' as document, case when amends is null then 'invoice' else 'credit note' end as title,
    period_no as closing_no, concat_ws(' ', merchant_id, currency, amended_period_no) as key,
    series as chain, invoice_no as document_no, merchant_id, number, series, year, place,
    invoice_periods.from_at, invoice_periods.to_at, currency, line_count, amount, amends,
    amended_period_no, sha256, previous_number, previous_sha256, invoice_periods.closed_at,
    invoice_periods.run_no, invoice_periods.actor
from invoices
inner join invoice_periods using (period_no);

-- name: newest_legal_invoices
-- What the accounting system said last of invoices and credit notes. Grain: one row per number.
create or replace view newest_legal_invoices as
select number, legal_number, tax
from legal_invoices
qualify run_no = max(run_no) over (partition by number);

-- name: document_lines
-- The lines of statements, and of invoices and credit notes (rules.md#invoices), with the statement or
-- the period of invoices that they are of (`closing_no`), and the document in it (`key`). An adjustment
-- of an entry that was invoiced in an earlier period is of a credit note on that (`amended_period_no`);
-- one of the same period stands on the invoice itself. Grain: one row per entry or adjustment that is
-- on a document of a kind.
create or replace view document_lines as
select
    closed.document, closed.closing_no,
    nullif(of_entry.closing_no, closed.closing_no) as amended_period_no,
    case closed.document
        when 'statement' then cast(settled_lines.institution_id as varchar)
        else concat_ws(
            ' ', settled_lines.merchant_id, settled_lines.currency, amended_period_no
        )
    end as key,
    settled_lines.*, closed_offers.merchant_name, closed_offers.offer_title
from settled_lines
inner join closed_settlements as closed using (settlement_no, institution_id)
left join closed_settlements as of_entry
    on closed.document = 'invoice'
    and of_entry.document = 'invoice'
    and of_entry.settlement_no = settled_lines.entry_settlement_no
    and of_entry.institution_id = settled_lines.institution_id
left join closed_offers
    on closed_offers.document = closed.document
    and closed_offers.closing_no = closed.closing_no
    and closed_offers.offer_no = settled_lines.offer_no
    and closed_offers.merchant_id = settled_lines.merchant_id;

-- name: documented_amounts
-- The same lines where only a few are asked for: with their document and its amount, and without what
-- their redemption says. Grain: one row per entry or adjustment that is on a document of a kind.
create or replace view documented_amounts as
select
    settled_amounts.redemption_no, settled_amounts.institution_id, settled_amounts.kind,
    documents.document, documents.title, documents.number, documents.closed_at, documents.run_no,
    documents.actor, settled_amounts.currency,
    case documents.document
        when 'statement' then settled_amounts.institution_payout_amount
        else settled_amounts.merchant_funded_amount
    end as amount
from settled_amounts
inner join closed_settlements as closed using (settlement_no, institution_id)
left join closed_settlements as of_entry
    on of_entry.document = closed.document
    and of_entry.settlement_no = settled_amounts.entry_settlement_no
inner join documents
    on documents.document = closed.document
    and documents.closing_no = closed.closing_no
    and documents.key in (
        cast(settled_amounts.institution_id as varchar),
        concat_ws(
            ' ', settled_amounts.merchant_id, settled_amounts.currency,
            nullif(of_entry.closing_no, closed.closing_no)
        )
    );

-- name: stated_amounts
-- What settlements moved in the accounts of institutions, by the journal, and the statement that took
-- each, if one did. Grain: one row per settlement.
create or replace view stated_amounts as
select
    settlements.settlement_no, settlements.institution_id, settlements.settled_at,
    closed.closing_no as statement_no, settlements.entries as entry_count,
    settlements.adjustments as adjustment_count,
    coalesce(-sum(posted.amount) filter (where posted.event = 'settled'), 0) as entries,
    coalesce(-sum(posted.amount) filter (where posted.event = 'deducted'), 0) as adjustments
from settlements
left join closed_settlements as closed
    on closed.settlement_no = settlements.settlement_no
    and closed.institution_id = settlements.institution_id
    and closed.document = 'statement'
left join (
    select entries.run_no, entries.event, lines.party_id, lines.currency, lines.amount
    from journal_lines as lines
    inner join journal_entries as entries on entries.entry_no = lines.entry_no
    where lines.account = 'institutions:open'
) as posted
    on posted.run_no = settlements.run_no
    and posted.party_id = settlements.institution_id
    and posted.currency = settlements.currency
group by all;

-- name: csv_guarded
-- A text that a spreadsheet does not read as a formula (rules.md#exports).
create or replace macro csv_guarded(content) as
    if(regexp_matches(content, '^[=+@\t\r-]'), '''' || content, content);

-- name: csv_text
-- A text as a cell of CSV (RFC 4180), empty where there is none; most need neither guard nor quotes,
-- which one search finds out.
create or replace macro csv_text(content) as case
    when not regexp_matches(content, '^[=+@\t\r-]|[",\r\n]') then content
    when regexp_matches(content, '[",\r\n]')
        then '"' || replace(csv_guarded(content), '"', '""') || '"'
    else coalesce(csv_guarded(content), '')
end;

-- name: moment_text
-- A moment as it is written: ISO 8601 with milliseconds and `Z` (rules.md#times).
create or replace macro moment_text(moment) as strftime(moment, '%Y-%m-%dT%H:%M:%S.%gZ');
