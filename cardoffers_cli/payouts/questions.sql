-- name: payable
-- A statement, what it pays, and when a payment of its institution was exported last.
-- Grain: one row, none where there is no such statement.
select statements.institution_id, statements.number, statements.payable as amount,
    statements.currency, statements.closed_at, exists (from rehearsal) as is_rehearsal, (
        select max(exported_at)
        from payouts
        where payouts.institution_id = statements.institution_id
    ) as last_exported_at
from statements
where statements.number = $number;

-- name: find
-- The newest payments of statements or, with $sha256, all of a file, in the order of their numbers, and
-- what banks said of each. Grain: one row per statement, or payment of the file.
select
    payouts.*, coalesce(told.entries, 0) as entries, coalesce(told.came_back, false) as came_back
from payouts
left join (
    select
        payout_no, count(*) as entries, bool_or(tells_return(status, direction, code)) as came_back
    from told_entries
    group by payout_no
) as told using (payout_no)
where list_contains(cast($numbers as varchar[]), payouts.number)
    or payouts.sha256 = $sha256
qualify $sha256 is not null
    or payouts.attempt = max(payouts.attempt) over (partition by payouts.number)
order by payouts.number;

-- name: content
-- A file that was written for the bank. Grain: one row.
select content
from payment_files
where sha256 = $sha256;

-- name: keep_file
-- Writes a file for the bank.
insert into payment_files (sha256, content)
values ($sha256, $content);

-- name: next
-- The number of the next payout, from 1 on, and how many NACHA files of a bank of the payer were made
-- on a day; those that an approval is asked for have both already. Grain: one row.
with made as (
    select
        payout_no, form, sha256, coalesce(trace, '') as trace, cast(made_at as date) as made_on
    from payouts
    union all
    select
        cast(details ->> 'payout_no' as bigint)
            + coalesce(len(json_keys(details -> 'payments')), 1) - 1,
        details ->> 'form', details ->> 'sha256', split_part(details ->> 'payer_account', '/', 1),
        cast(details ->> 'made_at' as date)
    from approvals
    where action = 'payout_export'
        and used_at is null
        and answer is distinct from 'refused'
)
select
    coalesce(max(payout_no), 0) + 1 as payout_no,
    count(distinct sha256) filter (
        form = 'nacha' and starts_with(trace, $bank[:8]) and made_on = $day
    ) as file_no
from made;

-- name: withdraw
-- Writes that a payment of an institution was withdrawn; the first time counts.
update payouts
set withdrawn_at = $now, withdrawn_by = $actor, withdrawn_reason = $reason, withdrawn_run_no = $run_no
where payment_id = $payment_id
    and institution_id = $institution_id
    and withdrawn_at is null;

-- name: keep
-- Writes a payment of a statement that has none of this attempt.
insert into payouts (
    payout_no, institution_id, number, attempt, payment_id, trace, amount, currency, form, account,
    sha256, due_on, made_at, exported_at, run_no, actor, reason
)
values (
    $payout_no, $institution_id, $number, $attempt, $payment_id, $trace, $amount, $currency, $form,
    $account, $sha256, $due_on, $made_at, $exported_at, $run_no, $actor, $reason
);

-- name: states
-- What is paid of each statement that pays anything (rules.md#bank-verdicts), of an institution or
-- of all, of some statements, of those of a month, or in one state, the newest first, with its newest
-- payment. The age counts from the day it was due, else from the close. Payments that were withdrawn are
-- rows of their own, behind that of their statement, where they are asked for.
-- Grain: one row per statement, and such payment.
with every as (
    select
        paid_statements.institution_id, paid_statements.number, paid_statements.state,
        paid_statements.payable as amount, paid_statements.currency,
        cast(paid_statements.paid_amount as decimal(38, 4)) as paid_amount,
        paid_statements.bank_code, paid_statements.booked_at, paid_statements.since_at,
        payouts.payment_id, payouts.form, payouts.account, payouts.due_on, payouts.exported_at,
        payouts.attempt, cast(paid_statements.kept_amount as decimal(38, 4)) as kept_amount,
        paid_statements.is_back as came_back, null as withdrawn_reason
    from paid_statements
    left join payouts
        on payouts.payout_no = paid_statements.payout_no
        and payouts.withdrawn_at is null
    union all
    select
        institution_id, number, 'withdrawn', amount, currency, 0, null, null, due_on, payment_id,
        form, account, due_on, exported_at, attempt, 0, false, withdrawn_reason
    from payouts
    where $withdrawn
        and withdrawn_at is not null
)
select
    every.* exclude (institution_id, since_at), institutions.slug as institution,
    greatest(0, date_sub('day', every.since_at, $moment)) as age_days, statements.closed_at
from every
inner join institutions on institutions.institution_id = every.institution_id
inner join statements
    on statements.number = every.number
    and statements.institution_id = every.institution_id
where ($institution_id is null or every.institution_id = $institution_id)
    and ($numbers is null or list_contains(cast($numbers as varchar[]), every.number))
    and ($state is null or every.state = $state)
    and ($period is null or month_ended(statements.to_at) = $period)
order by
    statements.closed_at desc, every.number desc, every.withdrawn_reason nulls first,
    every.attempt desc
limit $limit;
