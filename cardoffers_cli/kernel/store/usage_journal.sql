-- name: make_calls
-- SQLite. Grain: one row per call that counts towards a key's limit; kept while it matters.
create table if not exists calls (
    key_id text not null,
    called_at integer not null
);

-- name: index_calls
-- SQLite. Finds the calls of a key, and of these the latest, without reading the others.
create index if not exists calls_of_key on calls (key_id, called_at);

-- name: make_uses
-- SQLite. Grain: one row per key that was used since the store was last told. The seal tells
-- whether the row is as it was written.
create table if not exists uses (
    key_id text not null primary key,
    used_at integer not null,
    seal integer
);

-- name: make_failures
-- SQLite. Grain: one row per code, key (empty where nobody knows it) and minute since the store was
-- last told, with the event and the request of the first. A closed row is on its way to the store
-- and counts no further failures. The seal tells whether the row is as it was written.
create table if not exists failures (
    event_id text not null primary key,
    code text not null,
    key_id text not null,
    minute integer not null,
    is_closed integer not null,
    happened_at integer not null,
    institution_id text,
    request_id text not null,
    times integer not null,
    seal integer
);

-- name: index_failures
-- SQLite. One open row per code, key and minute.
create unique index if not exists open_failures on failures (code, key_id, minute)
where is_closed = 0;

-- name: forget_calls
-- SQLite. Removes a key's calls that no window can hold any more.
delete from calls
where key_id = $key_id
    and called_at <= $before;

-- name: nearby_calls
-- SQLite. The calls of a key that share a window with a new one, before it or (clocks differ) after
-- it: how many, and when the one that has to leave before there is room was made.
with nearby as (
    select called_at
    from calls
    where key_id = $key_id
        and called_at > $now - $window
        and called_at < $now + $window
)
select
    (select count(*) from nearby) as counted,
    (select called_at from nearby order by called_at desc limit 1 offset $most - 1) as leaves_first;

-- name: count_call
-- SQLite. Writes down one call of a key.
insert into calls (key_id, called_at) values ($key_id, $now);

-- name: note_use
-- SQLite. Writes down that a key was used; the latest use stays. A row that is not as it was
-- written gets no seal that fits.
insert into uses (key_id, used_at, seal) values ($key_id, $used_at, seal($key_id, $used_at))
on conflict (key_id) do update set
    used_at = max(used_at, excluded.used_at),
    seal = case
        when coalesce(seal, seal(key_id, used_at)) = seal(key_id, used_at)
            then seal(key_id, max(used_at, excluded.used_at))
        else seal
    end;

-- name: note_failure
-- SQLite. Writes down a failed use, or counts it to the open row of its code, key and minute. One
-- that is known by its event is not counted again. The seal is as in note_use.
insert into failures (
    event_id, code, key_id, minute, is_closed, happened_at, institution_id, request_id, times, seal
)
select
    $event_id, $code, $key_id, $minute, 0, $happened_at, $institution_id, $request_id, 1,
    seal($event_id, $code, $key_id, $happened_at, $institution_id, $request_id, 1)
where not exists (
    select 1
    from failures
    where event_id = $event_id
)
on conflict (code, key_id, minute) where is_closed = 0 do update set
    times = times + 1,
    seal = case
        when coalesce(
            seal, seal(event_id, code, key_id, happened_at, institution_id, request_id, times)
        ) = seal(event_id, code, key_id, happened_at, institution_id, request_id, times)
            then seal(
                event_id, code, key_id, happened_at, institution_id, request_id, times + 1
            )
        else seal
    end;

-- name: close_failures
-- SQLite. Closes what is open: it is about to be told to the store.
update failures
set is_closed = 1
where is_closed = 0;

-- name: failures
-- SQLite. The failed uses that are closed, in the order of time, and whether each is as it was
-- written.
select
    event_id, code, key_id, happened_at, institution_id, request_id, times,
    coalesce(
        seal = seal(event_id, code, key_id, happened_at, institution_id, request_id, times), true
    ) as is_whole
from failures
where is_closed = 1
order by happened_at, event_id;

-- name: uses
-- SQLite. The last use of each key that was used since the store was last told, and whether it is
-- as it was written.
select key_id, used_at, coalesce(seal = seal(key_id, used_at), true) as is_whole
from uses
order by key_id;

-- name: forget_failure
-- SQLite. Removes a failed use that the store has.
delete from failures
where event_id = $event_id;

-- name: forget_use
-- SQLite. Removes a use that the store has, unless there was a later one.
delete from uses
where key_id = $key_id
    and used_at = $used_at;
