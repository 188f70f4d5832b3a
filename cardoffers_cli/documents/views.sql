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
inner join ledger_entries
    on ledger_entries.redemption_no = adjustments.redemption_no
    and ledger_entries.institution_id = adjustments.institution_id
where adjustments.settlement_no is not null;

-- name: settled_lines
-- The same with their settlement, and only with what never changes (rules.md#statements): no title, no
-- token. Grain: one row per entry or adjustment.
create or replace view settled_lines as
select
    settled_amounts.*, redemptions.redemption_id, offers.offer_id, settlements.settlement_id,
    settlements.settled_at, currencies.minor_unit
from settled_amounts
inner join settlements
    on settlements.settlement_no = settled_amounts.settlement_no
    and settlements.institution_id = settled_amounts.institution_id
inner join redemptions
    on redemptions.redemption_no = settled_amounts.redemption_no
    and redemptions.institution_id = settled_amounts.institution_id
inner join offers on offers.offer_no = settled_amounts.offer_no
inner join currencies on currencies.currency = settled_amounts.currency;

-- name: unstated_settlements
-- Settlements that are on no statement. Grain: one row per settlement.
create or replace view unstated_settlements as
select settlements.*
from settlements
anti join statement_settlements on statement_settlements.settlement_no = settlements.settlement_no;

-- name: document_lines
-- The lines of statements, and of invoices and credit notes (rules.md#invoices), with the statement or
-- the period of invoices that they are of (`closing_no`), and the document in it (`key`). An adjustment
-- of an entry that was invoiced in an earlier period is of a credit note on that (`amended_period_no`);
-- one of the same period stands on the invoice itself. Grain: one row per entry or adjustment that is
-- on a document of a kind.
create or replace view document_lines as
select
    'statement' as document, statement_settlements.statement_no as closing_no,
    cast(settled_lines.institution_id as varchar) as key,
    cast(null as bigint) as amended_period_no, settled_lines.*
from settled_lines
inner join statement_settlements
    on statement_settlements.settlement_no = settled_lines.settlement_no
    and statement_settlements.institution_id = settled_lines.institution_id
union all
select
    'invoice', invoiced_settlements.period_no,
    concat_ws(
        ' ', settled_lines.merchant_id, settled_lines.currency,
        nullif(of_entry.period_no, invoiced_settlements.period_no)
    ),
    nullif(of_entry.period_no, invoiced_settlements.period_no), settled_lines.*
from settled_lines
inner join invoiced_settlements
    on invoiced_settlements.settlement_no = settled_lines.settlement_no
    and invoiced_settlements.institution_id = settled_lines.institution_id
inner join invoiced_settlements as of_entry
    on of_entry.settlement_no = settled_lines.entry_settlement_no
    and of_entry.institution_id = settled_lines.institution_id;

-- name: invoice_sums
-- What the lines of invoices and credit notes come to. Grain: one row per invoice or credit note.
create or replace view invoice_sums as
select
    closing_no as period_no, merchant_id, currency, amended_period_no, count(*) as line_count,
    sum(merchant_funded_amount) as amount
from document_lines
where document = 'invoice'
group by closing_no, merchant_id, currency, amended_period_no;

-- name: csv_guarded
-- A text that a spreadsheet does not read as a formula (rules.md#exports).
create or replace macro csv_guarded(content) as case
    when regexp_matches(content, '^[=+@\t\r-]') then '''' || content
    else content
end;

-- name: csv_text
-- A text as a cell of CSV (RFC 4180).
create or replace macro csv_text(content) as case
    when regexp_matches(csv_guarded(content), '[",\r\n]')
        then '"' || replace(csv_guarded(content), '"', '""') || '"'
    else csv_guarded(content)
end;

-- name: moment_text
-- A moment as it is written: ISO 8601 with milliseconds and `Z` (rules.md#times).
create or replace macro moment_text(moment) as strftime(moment, '%Y-%m-%dT%H:%M:%S.%gZ');
