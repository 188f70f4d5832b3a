-- The journal: which accounts an event moves, and what was done and is not posted yet. A debit is
-- positive and a credit negative; the lines of an entry come to zero in each currency.

-- name: posting_rules
-- What events debit (sign 1) and credit (-1): whose account, which item in it, and which amount
-- (rules.md#double-entry-journal). A reversal is a redemption of negative amounts, and a deduction a
-- settlement. Grain: one row per account that these events move.
create or replace view posting_rules as
select rules.*
from (
    values
        (['redeemed', 'reversed'], 'merchants:on_hold', 'merchant', null, 'funded', 1),
        (['redeemed', 'reversed'], 'institutions:on_hold', 'institution', null, 'payout', -1),
        (['redeemed', 'reversed'], 'commission:on_hold', null, null, 'commission', -1),
        (['settled', 'deducted'], 'merchants:on_hold', 'merchant', null, 'funded', -1),
        (['settled', 'deducted'], 'institutions:on_hold', 'institution', null, 'payout', 1),
        (['settled', 'deducted'], 'commission:on_hold', null, null, 'commission', 1),
        (['settled', 'deducted'], 'merchants:unbilled', 'merchant', null, 'funded', 1),
        (['settled', 'deducted'], 'institutions:open', 'institution', null, 'payout', -1),
        (['settled', 'deducted'], 'commission:revenue', null, null, 'commission', -1),
        (['statement_closed'], 'institutions:open', 'institution', null, 'payout', 1),
        (['statement_closed'], 'institutions:due', 'institution', 'item', 'payout', -1),
        (['invoice_closed'], 'merchants:billed', 'merchant', 'item', 'funded', 1),
        (['invoice_closed'], 'merchants:unbilled', 'merchant', null, 'funded', -1),
        (['tax_set'], 'merchants:billed', 'merchant', 'item', 'funded', 1),
        (['tax_set'], 'tax:passed_through', null, null, 'funded', -1),
        (['payment_exported'], 'institutions:due', 'institution', 'item', 'payout', 1),
        (['payment_exported'], 'payments:under_way', 'institution', 'document', 'payout', -1),
        (['payment_undone'], 'payments:under_way', 'institution', 'document', 'payout', 1),
        (['payment_undone'], 'institutions:due', 'institution', 'item', 'payout', -1),
        (['booked', 'returned'], 'payments:under_way', 'institution', 'document', 'payout', 1),
        (['booked', 'returned'], 'bank', null, null, 'payout', -1),
        (['received'], 'bank', null, null, 'funded', 1),
        (['received', 'allocated'], 'merchants:billed', 'merchant', 'item', 'funded', -1),
        (['set_off', 'write_off', 'dispute'], 'merchants:billed', 'merchant', 'item', 'funded', -1),
        (['set_off', 'write_off', 'dispute'], 'settled_elsewhere', 'merchant', null, 'funded', 1),
        (['not_explained', 'allocated'], 'suspense', null, 'document', 'payout', 1),
        (['not_explained'], 'bank', null, null, 'payout', -1)
) as rules (events, account, party, item, measure, sign);

-- name: posted_events
-- What happened to money, and the amounts of it; of what happens to payments without its run, because
-- the files of a bank may come in any order. Entries that left with a withdrawn file
-- (rules.md#withdrawn-files) stay, with their reversal. A payment is undone where it was withdrawn, or
-- told to have come back while no booking of it stands. Grain: rows to be summed.
create or replace view posted_events as
with moved_entries as (
    select ledger_moves.run_no, ledger_moves.status, ledger_entries.* exclude (status)
    from ledger_moves
    inner join ledger_entries on ledger_entries.redemption_no = ledger_moves.redemption_no
    union all by name
    select
        cast(moves.content ->> 'run_no' as bigint) as run_no, moves.content ->> 'status' as status,
        entries.institution_id, cast(entries.content ->> 'merchant_id' as uuid) as merchant_id,
        entries.content ->> 'currency' as currency,
        cast(entries.content ->> 'merchant_funded_amount' as decimal(18, 4))
            as merchant_funded_amount,
        cast(entries.content ->> 'commission_amount' as decimal(18, 4)) as commission_amount,
        cast(entries.content ->> 'institution_payout_amount' as decimal(18, 4))
            as institution_payout_amount
    from withdrawn_rows as moves
    inner join withdrawn_rows as entries
        on entries.table_name = 'ledger_entries'
        and entries.content ->> 'redemption_no' = moves.content ->> 'redemption_no'
    where moves.table_name = 'ledger_moves'
),
undone_payments as (
    select payouts.payout_no
    from payouts
    left join bank_bookings on bank_bookings.payout_no = payouts.payout_no
    group by payouts.payout_no, payouts.withdrawn_at
    having payouts.withdrawn_at is not null
        or (
            bool_or(bank_bookings.status in ('returned', 'rejected'))
            and sum(moved_by_bank(bank_bookings.status, bank_bookings.direction, 1)) < 1
        )
)
select
    run_no, case status when 'pending' then 'redeemed' else 'reversed' end as event,
    institution_id, merchant_id, currency,
    case status when 'pending' then 1 else -1 end * sum(merchant_funded_amount) as funded,
    case status when 'pending' then 1 else -1 end * sum(commission_amount) as commission,
    case status when 'pending' then 1 else -1 end * sum(institution_payout_amount) as payout
from moved_entries
where status <> 'settled'
group by run_no, status, institution_id, merchant_id, currency
union all by name
select
    if(reversed.is_end, moves.run_no, reduced.run_no) as run_no, 'reversed' as event,
    reduced.institution_id, entries.merchant_id, reduced.currency,
    sum(if(reversed.is_end, -1, 1) * reduced.merchant_funded_amount) as funded,
    sum(if(reversed.is_end, -1, 1) * reduced.commission_amount) as commission,
    sum(if(reversed.is_end, -1, 1) * reduced.institution_payout_amount) as payout
from adjustments as reduced
inner join ledger_entries as entries using (redemption_no, institution_id)
cross join (values (false), (true)) as reversed (is_end)
left join ledger_moves as moves
    on moves.redemption_no = reduced.redemption_no
    and moves.status = 'reversed'
where reduced.refund_no is not null and (moves.run_no is not null or not reversed.is_end)
group by all
union all by name
select
    settlements.run_no,
    case settled_amounts.kind when 'entry' then 'settled' else 'deducted' end as event,
    settlements.institution_id, settled_amounts.merchant_id, settlements.currency,
    sum(settled_amounts.merchant_funded_amount) as funded,
    sum(settled_amounts.commission_amount) as commission,
    sum(settled_amounts.institution_payout_amount) as payout
from settlements
inner join settled_amounts on settled_amounts.settlement_no = settlements.settlement_no
group by all
union all by name
select
    run_no, document || '_closed' as event, number as document, coalesce(amends, number) as item,
    institution_id, merchant_id, currency, payable as payout, amount as funded
from documents
union all by name
select
    legal.run_no, 'tax_set' as event, legal.number as document,
    coalesce(invoices.amends, invoices.number) as item, invoices.merchant_id, invoices.currency,
    coalesce(legal.tax, 0) - coalesce(
        lag(legal.tax) over (partition by legal.number order by legal.run_no), 0
    ) as funded
from legal_invoices as legal
inner join invoices on invoices.number = legal.number
union all by name
select
    settled.run_no, replace(settled.settled_as, '-', '_') as event, settled.number as document,
    settled.number as item, invoices.merchant_id, invoices.currency, settled.amount as funded
from invoice_settlements as settled
inner join invoices on invoices.number = settled.number
union all by name
select
    'payment_exported' as event, payment_id as document, number as item, institution_id, currency,
    amount as payout
from payouts
union all by name
select
    'payment_undone' as event, payouts.payment_id as document, payouts.number as item,
    payouts.institution_id, payouts.currency, payouts.amount as payout
from payouts
semi join undone_payments on undone_payments.payout_no = payouts.payout_no
union all by name
select
    case
        when invoices.invoice_no is not null then 'received'
        when payouts.payout_no is null or moved = 0 then 'not_explained'
        when moved > 0 then 'booked'
        else 'returned'
    end as event,
    if(event in ('booked', 'returned'), payouts.payment_id, cast(entry_id as varchar)) as document,
    coalesce(invoices.amends, invoices.number) as item, payouts.institution_id,
    invoices.merchant_id, bookings.currency, bookings.amount as funded,
    bookings.amount * case
        when event <> 'not_explained' then moved
        when direction = 'debit' then 1
        else -1
    end as payout
from (
    select bank_bookings.*, moved_by_bank(status, direction, 1) as moved
    from bank_bookings
    where status in ('booked', 'returned', 'unexplained')
        and amount is not null
        and currency is not null
) as bookings
left join payouts on payouts.payout_no = bookings.payout_no
left join invoices on invoices.invoice_no = bookings.invoice_no
union all by name
select
    'allocated' as event, cast(parts.entry_id as varchar) as document,
    coalesce(invoices.amends, invoices.number) as item, invoices.merchant_id, parts.currency,
    if(parts.number <> 'suspense', parts.amount, null) as funded,
    if(parts.number = 'suspense', -parts.amount, null) as payout
from allocated_parts as parts
left join invoices on invoices.number = parts.number;

-- name: postings
-- What the events come to by the rules. Grain: one row per run (of payments none), event, document,
-- account, party, item and currency.
create or replace view postings as
select
    events.run_no, events.event, events.document, rules.account,
    case rules.party
        when 'merchant' then events.merchant_id
        when 'institution' then events.institution_id
    end as party_id,
    case rules.item when 'document' then events.document when 'item' then events.item end as item,
    events.currency,
    sum(
        rules.sign * case rules.measure
            when 'funded' then events.funded
            when 'commission' then events.commission
            else events.payout
        end
    ) as amount
from posted_events as events
inner join posting_rules as rules on list_contains(rules.events, events.event)
group by all;

-- name: unposted
-- What was done and is not in the journal, and, with the sign changed, what is there and was not done. Grain: that of
-- postings, without what comes to nothing.
create or replace view unposted as
with both_sides as (
    select postings.*
    from postings
    union all by name
    select
        case
            when entries.event not in (
                'payment_exported', 'payment_undone', 'booked', 'returned', 'received',
                'not_explained', 'allocated'
            )
                then entries.run_no
        end as run_no,
        entries.event, entries.document, lines.account, lines.party_id, lines.item,
        lines.currency, -lines.amount as amount
    from journal_lines as lines
    left join journal_entries as entries on entries.entry_no = lines.entry_no
)
select
    run_no, event, document, account, party_id, item, currency,
    cast(sum(amount) as decimal(38, 4)) as amount
from both_sides
group by run_no, event, document, account, party_id, item, currency
having sum(amount) <> 0;
