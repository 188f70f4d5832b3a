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
    from closed_settlements
    where closed_settlements.institution_id = $institution_id
) as is_any;

-- name: documents
-- The lines of redemptions on statements, invoices and credit notes, in the order of their closing.
-- Grain: one row per line.
with wanted as materialized (
    select redemptions.redemption_no, redemptions.redemption_id
    from redemptions
    where redemptions.institution_id = $institution_id
        and redemptions.redemption_id in (select unnest(cast($redemption_ids as uuid[])))
)
select
    wanted.redemption_id, lines.title as kind, lines.number, lines.kind as line, lines.amount,
    lines.currency, lines.closed_at
from wanted
inner join documented_amounts as lines
    on lines.redemption_no = wanted.redemption_no
    and lines.institution_id = $institution_id
order by wanted.redemption_id, lines.closed_at, lines.title desc, lines.number, lines.kind desc;

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
        case closed.document when 'statement' then settlements.institution_payout_amount end,
        case closed.document when 'invoice' then settlements.merchant_funded_amount end
    from settlements
    inner join closed_settlements as closed
        on closed.settlement_no = settlements.settlement_no
        and closed.institution_id = settlements.institution_id
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
