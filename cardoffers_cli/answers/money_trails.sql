-- name: credits
-- What the last reconciliation said of redemptions, and the last row that credited each.
-- Grain: one row per redemption asked for, of an institution that sends credited rows.
with wanted as (
    select redemptions.redemption_no, redemptions.redemption_id
    from redemptions
    where redemptions.institution_id = $institution_id
        and redemptions.redemption_id in (select unnest(cast($redemption_ids as uuid[])))
),
said as (
    select
        reconciliation_verdicts.subject_no as redemption_no,
        max_by(reconciliation_verdicts.code, reconciliation_verdicts.run_no) as verdict,
        max_by(reconciliation_verdicts.credited_amount, reconciliation_verdicts.run_no)
            as credited_amount,
        max_by(reconciliation_verdicts.credited_rows, reconciliation_verdicts.run_no)
            as credited_rows,
        max_by(reconciliation_verdicts.currency, reconciliation_verdicts.run_no) as currency,
        max(reconciliation_verdicts.run_no) as run_no
    from reconciliation_verdicts
    where reconciliation_verdicts.institution_id = $institution_id
        and reconciliation_verdicts.subject = 'redemption'
        and reconciliation_verdicts.subject_no in (select wanted.redemption_no from wanted)
    group by reconciliation_verdicts.subject_no
),
credited as (
    select
        credit_links.redemption_no,
        max_by(credit_links.credit_no, (credit_links.credited_at, credit_links.credit_no))
            as credit_no
    from credit_links
    where credit_links.institution_id = $institution_id
        and credit_links.status = 'credited'
        and credit_links.redemption_no in (select wanted.redemption_no from wanted)
    group by credit_links.redemption_no
)
select
    wanted.redemption_id, said.verdict, said.credited_amount, said.currency, said.credited_rows,
    credits.credit_ref, credits.credited_at, runs.as_of as reconciled_at,
    coalesce(institutions.credit_days, 7) as credit_days
from wanted
inner join said on said.redemption_no = wanted.redemption_no
inner join runs on runs.run_no = said.run_no
inner join institutions on institutions.institution_id = $institution_id
left join credited on credited.redemption_no = wanted.redemption_no
left join credits
    on credits.credit_no = credited.credit_no
    and credits.institution_id = $institution_id;

-- name: is_any_closed
-- Whether a statement or an invoice took any settlement of an institution.
select exists (
    select 1
    from statement_settlements
    where statement_settlements.institution_id = $institution_id
    union all
    select 1
    from invoiced_settlements
    where invoiced_settlements.institution_id = $institution_id
) as is_any;

-- name: documents
-- The lines of redemptions on statements, invoices and credit notes, in the order of their closing.
-- Grain: one row per line.
with wanted as materialized (
    select redemptions.redemption_no, redemptions.redemption_id
    from redemptions
    where redemptions.institution_id = $institution_id
        and redemptions.redemption_id in (select unnest(cast($redemption_ids as uuid[])))
),
settled as materialized (
    select
        wanted.redemption_id, settled_amounts.kind, settled_amounts.settlement_no,
        settled_amounts.entry_settlement_no, settled_amounts.merchant_id,
        settled_amounts.currency, settled_amounts.institution_payout_amount,
        settled_amounts.merchant_funded_amount
    from settled_amounts
    inner join wanted on wanted.redemption_no = settled_amounts.redemption_no
    where settled_amounts.institution_id = $institution_id
),
lines as (
    select
        settled.redemption_id, 'statement' as kind, statements.number, settled.kind as line,
        settled.institution_payout_amount as amount, settled.currency, statements.closed_at
    from settled
    inner join statement_settlements
        on statement_settlements.settlement_no = settled.settlement_no
        and statement_settlements.institution_id = $institution_id
    inner join statements
        on statements.statement_no = statement_settlements.statement_no
        and statements.institution_id = $institution_id
    union all
    select
        settled.redemption_id,
        case when invoices.amends is null then 'invoice' else 'credit note' end,
        invoices.number, settled.kind, settled.merchant_funded_amount, settled.currency,
        invoice_periods.closed_at
    from settled
    inner join invoiced_settlements
        on invoiced_settlements.settlement_no = settled.settlement_no
        and invoiced_settlements.institution_id = $institution_id
    inner join invoiced_settlements as of_entry
        on of_entry.settlement_no = settled.entry_settlement_no
        and of_entry.institution_id = $institution_id
    inner join invoices
        on invoices.period_no = invoiced_settlements.period_no
        and invoices.merchant_id = settled.merchant_id
        and invoices.currency = settled.currency
        and invoices.amended_period_no
        is not distinct from nullif(of_entry.period_no, invoiced_settlements.period_no)
    inner join invoice_periods on invoice_periods.period_no = invoices.period_no
)
select
    lines.redemption_id, lines.kind, lines.number, lines.line, lines.amount, lines.currency,
    lines.closed_at
from lines
order by lines.redemption_id, lines.closed_at, lines.kind desc, lines.number, lines.line desc;

-- name: totals
-- What was credited, as the last reconciliation of each institution said, and what stands on
-- statements and on invoices. Grain: one row per institution and currency that has any of these.
with newest as (
    select reconciliations.institution_id, max(reconciliations.run_no) as run_no
    from reconciliations
    group by reconciliations.institution_id
),
parts as (
    select
        reconciliation_totals.institution_id, reconciliation_totals.currency,
        reconciliation_totals.redemptions,
        case when reconciliation_totals.code = 'credited' then reconciliation_totals.redemptions end
            as credited,
        reconciliation_totals.credited_amount, null as stated_amount, null as invoiced_amount
    from reconciliation_totals
    inner join newest
        on newest.institution_id = reconciliation_totals.institution_id
        and newest.run_no = reconciliation_totals.run_no
    union all
    select
        settlements.institution_id, settlements.currency, null, null, null,
        settlements.institution_payout_amount, null
    from settlements
    inner join statement_settlements
        on statement_settlements.settlement_no = settlements.settlement_no
        and statement_settlements.institution_id = settlements.institution_id
    union all
    select
        settlements.institution_id, settlements.currency, null, null, null, null,
        settlements.merchant_funded_amount
    from settlements
    inner join invoiced_settlements
        on invoiced_settlements.settlement_no = settlements.settlement_no
        and invoiced_settlements.institution_id = settlements.institution_id
)
select
    institutions.slug as institution, parts.currency,
    cast(sum(parts.redemptions) as bigint) as redemptions,
    cast(sum(parts.credited) as bigint) as credited,
    cast(sum(parts.credited_amount) as decimal(38, 4)) as credited_amount,
    cast(sum(parts.stated_amount) as decimal(38, 4)) as stated_amount,
    cast(sum(parts.invoiced_amount) as decimal(38, 4)) as invoiced_amount
from parts
inner join institutions on institutions.institution_id = parts.institution_id
group by institutions.slug, parts.currency
order by institutions.slug, parts.currency;
