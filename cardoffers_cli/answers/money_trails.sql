-- name: stories
-- What became of redemptions (rules.md#stories). Grain: one row per redemption.
select
    stories.redemption_no, stories.redemption_id, stories.currency, stories.story, stories.story_at,
    stories.story_amount, stories.settles_at, stories.reversal_reason, stories.verdict,
    stories.credited_amount
from stories_of(cast($redemption_nos as bigint[])) as stories
where stories.institution_id = $institution_id;

-- name: is_any_closed
-- Whether a statement or an invoice took any settlement of an institution.
select exists (from closed_settlements where institution_id = $institution_id) as is_any;

-- name: documents
-- The lines of redemptions on statements, with what is paid of these, on invoices and on credit notes,
-- in the order of their closing. Grain: one row per line.
select
    lines.redemption_no, lines.title as kind, lines.number, lines.kind as line, lines.amount,
    lines.currency, lines.closed_at, paid_statements.state as bank_state,
    paid_statements.bank_code, paid_statements.booked_at
from documented_amounts as lines
left join paid_statements using (number, institution_id)
where lines.institution_id = $institution_id
    and lines.redemption_no in (select unnest(cast($redemption_nos as bigint[])))
order by lines.redemption_no, lines.closed_at, lines.title desc, lines.number, lines.kind desc;

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
    inner join newest using (institution_id, run_no)
    union all
    select
        settlements.institution_id, settlements.currency, null, null, null,
        case closed.document when 'statement' then settlements.institution_payout_amount end,
        case closed.document when 'invoice' then settlements.merchant_funded_amount end
    from settlements
    inner join closed_settlements as closed using (settlement_no, institution_id)
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
