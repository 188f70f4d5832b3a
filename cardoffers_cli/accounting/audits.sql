-- name: journal_balances
-- Entries of the journal whose lines do not come to zero in a currency, or that have none, lines
-- without an entry, and entries behind a gap in the numbers. Grain: one row per entry and currency.
select
    coalesce(entries.entry_no, lines.entry_no) as entry_no, entries.place, lines.currency,
    sum(lines.amount) as amount
from (
    select journal_entries.entry_no, row_number() over (order by journal_entries.entry_no) as place
    from journal_entries
) as entries
full join journal_lines as lines on lines.entry_no = entries.entry_no
group by coalesce(entries.entry_no, lines.entry_no), entries.place, lines.currency
having coalesce(sum(lines.amount), 1) <> 0
    or coalesce(entries.entry_no, lines.entry_no) is distinct from entries.place
order by entry_no, lines.currency;

-- name: journal_is_what_was_done
-- What moved money and is not in the journal, and lines of it that nothing that was done comes
-- to (rules.md#double-entry-journal). Grain: one row per run, event, document, account, party and item.
select unposted.*
from unposted
order by all;
