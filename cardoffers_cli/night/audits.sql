-- name: before
-- The audits of nights before one, the newest first. Grain: one row per night that has them.
select nights.as_of, night_steps.counts
from night_steps
inner join nights on nights.night_no = night_steps.night_no
where night_steps.name = 'audits'
    and night_steps.night_no < $night_no
order by night_steps.night_no desc;

-- name: up_to
-- The last run whose rows are all there: the one before the first that has not ended. A run that a
-- crash left so counts no more after two days, and the night's own writes nothing by itself.
select
    coalesce(
        min(runs.run_no) filter (
            where runs.counts is null
                and runs.run_no <> $run_no
                and runs.as_of > cast($now as timestamp) - interval 2 days
        ) - 1,
        max(runs.run_no)
    ) as run_no
from runs;
