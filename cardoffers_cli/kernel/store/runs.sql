-- name: next_no
-- The number of the next run.
select coalesce(max(run_no), 0) + 1 as run_no
from runs;

-- name: rehearse
-- Makes a new store a rehearsal: rehearsal, one row.
insert into rehearsal values (true);

-- name: machine_at
-- The machine's clock; in a rehearsal that of the job counts alone. Grain: one row.
select coalesce((select $as_of from rehearsal), $machine_at) as machine_at;

-- name: write
-- Writes runs, one row; of one that has only begun without counts, of a rehearsal with one clock.
insert into runs (run_no, run_id, kind, as_of, machine_at, actor, counts)
values (
    $run_no, $run_id, $kind, $as_of, coalesce((select $as_of from rehearsal), $machine_at), $actor,
    $counts
);

-- name: finish
-- Writes the counts of one run; the same counts again change nothing.
update runs
set counts = $counts
where run_no = $run_no;

-- name: counts
-- Whether a run is there and has been finished, and whether another of its kind was, or the terms
-- of an offer were changed, since. Grain: one row, or none.
select
    runs.counts is not null as is_finished,
    exists (
        select 1
        from runs as later
        where later.kind = runs.kind
            and later.run_no > runs.run_no
            and later.counts is not null
    ) as is_overtaken,
    exists (select 1 from offer_versions where run_no > runs.run_no) as has_other_terms
from runs
where runs.run_no = $run_no
    and runs.run_id = $run_id;

-- name: unposted
-- makes: posted(entry_no, event, document, account, party_id, item, currency, amount)
-- Makes posted: what a run did to money, or what happened to payments, which is of no run, and is not
-- in the journal yet, with the numbers of the entries that it becomes. Grain: that of unposted.
create temp table posted as
select
    (select coalesce(max(journal_entries.entry_no), 0) from journal_entries)
    + dense_rank() over (order by unposted.event, unposted.document) as entry_no,
    unposted.event, unposted.document, unposted.account, unposted.party_id, unposted.item,
    unposted.currency, unposted.amount
from unposted
where unposted.run_no is not distinct from $run_no;

-- name: post_entries
-- reads: posted(entry_no, event, document)
-- Writes journal_entries.
insert into journal_entries (entry_no, run_no, event, posted_on, document)
select distinct
    posted.entry_no, runs.run_no, posted.event, cast(runs.as_of as date), posted.document
from posted
inner join runs on runs.run_no = $run_no
order by posted.entry_no;

-- name: post_lines
-- reads: posted(entry_no, account, party_id, item, currency, amount)
-- Writes journal_lines.
insert into journal_lines (entry_no, account, party_id, item, currency, amount)
select posted.entry_no, posted.account, posted.party_id, posted.item, posted.currency, posted.amount
from posted
order by all;
