-- name: counted_to
-- The run up to which an institution's links are counted; -1 where nothing is.
select coalesce(max(link_counts.counted_to), -1) as counted_to
from link_counts
where link_counts.institution_id = $institution_id;

-- name: link_totals
-- makes: link_totals(offer_no, links, new_links)
-- Makes link_totals: all links of an institution's cardholders, and how many of them are not among
-- the kept counts. Of links only the newest rows are read, as they lie in the order of runs.
-- Grain: one row per offer with links.
create temp table link_totals as
with parts as (
    select link_counts.offer_no, link_counts.links, 0 as new_links
    from link_counts
    where link_counts.institution_id = $institution_id
    union all
    select links.offer_no, count(*) as links, count(*) as new_links
    from links
    where links.institution_id = $institution_id
        and links.run_no > $counted_to
    group by links.offer_no
)

select
    parts.offer_no, cast(sum(parts.links) as bigint) as links,
    cast(sum(parts.new_links) as bigint) as new_links
from parts
group by parts.offer_no;

-- name: new_links
-- reads: link_totals(new_links)
-- How many links are not among the kept counts.
select coalesce(sum(link_totals.new_links), 0) as new_links
from link_totals;

-- name: forget
-- Takes the kept counts of an institution away; `keep` follows in the same transaction.
delete from link_counts
where link_counts.institution_id = $institution_id;

-- name: keep
-- reads: link_totals(offer_no, links)
-- Writes link_counts, up to the newest run that made links.
insert into link_counts (institution_id, offer_no, links, counted_to)
with newest as (
    select max(links.run_no) as run_no
    from links
    where links.institution_id = $institution_id
)

select cast($institution_id as uuid), link_totals.offer_no, link_totals.links, newest.run_no
from link_totals
cross join newest;
