-- Reconciliation: what is said of each redemption and each credited row, of each statement that pays
-- anything and each entry of a bank, and what is wrong of it.

-- name: moved_by
-- What a credited row adds to what stands as credited (rules.md#what-was-credited).
create or replace macro moved_by(status, amount) as case status
    when 'credited' then amount
    when 'reversed' then -amount
    else 0
end;

-- name: is_verdict_final
-- Whether nothing is looked for any more until something new of it comes (rules.md#verdicts).
create or replace macro is_verdict_final(code) as
    code in (
        'credited', 'credited_before_reversal', 'not_owed', 'known_now', 'paid', 'bank_other'
    );

-- name: no_institution
-- Whose the verdicts of entries of banks are that no payout explains: of no institution.
create or replace macro no_institution() as cast('00000000-0000-0000-0000-000000000000' as uuid);

-- name: is_of_bank
-- Whether a subject is of the bank's side (rules.md#bank-verdicts).
create or replace macro is_of_bank(subject) as subject in ('statement', 'entry');

-- name: finding_of
-- The id of what a verdict says is wrong with a subject, null where nothing is: the same, found again,
-- has the same id, in whatever order things came in (rules.md#findings-of-reconciliation). A subject
-- is named by the id of its redemption, the reference of its credited row, the number of its statement
-- or the id of its entry; what has no name is no finding yet.
create or replace macro finding_of(institution_id, code, subject, named) as
    case
        when not is_verdict_final(code) and code <> 'credit_awaited'
            then derived_id(
                'finding' || chr(31) || cast(institution_id as varchar) || chr(31) || code
                || chr(31) || subject || chr(31) || named
            )
    end;

-- name: current_verdicts
-- What the newest run that found anything new said of each subject, with what stands as credited
-- (rules.md#what-was-credited); `known_now` is none.
-- Grain: one row per subject.
create or replace view current_verdicts as
with newest as (
    select
        reconciliation_verdicts.institution_id, reconciliation_verdicts.subject,
        reconciliation_verdicts.subject_no, max(reconciliation_verdicts.run_no) as run_no
    from reconciliation_verdicts
    group by
        reconciliation_verdicts.institution_id, reconciliation_verdicts.subject,
        reconciliation_verdicts.subject_no
)
select reconciliation_verdicts.*
from reconciliation_verdicts
inner join newest using (institution_id, subject, subject_no, run_no);

-- name: verdict_sums
-- What each verdict adds to the totals of its run. Grain: one row per verdict.
create or replace view verdict_sums as
select
    institution_id, subject, subject_no, run_no, code, currency, 1 as verdicts,
    case subject when 'redemption' then 1 else 0 end as redemptions,
    case when is_of_bank(subject) then 0 else credited_rows end as credited_rows,
    case subject when 'statement' then 1 else 0 end as statements,
    case when is_of_bank(subject) then credited_rows else 0 end as bank_entries,
    coalesce(amount, 0) as amount, credited_amount, moved_amount
from reconciliation_verdicts
where code <> 'known_now';

-- name: reconciliation_findings
-- What reconciliation found wrong, and how far that is (rules.md#findings-of-reconciliation): resolved
-- by the first run that found something else of its subject, accepted by a person after the last that
-- found it, or open. Amounts are those that were found last. Grain: one row per finding.
create or replace view reconciliation_findings as
with runs_of as (
    select institution_id, finding_id, min(run_no) as first_run_no, max(run_no) as newest_run_no
    from reconciliation_verdicts
    where finding_id is not null
    group by institution_id, finding_id
),
found as (
    select verdicts.* exclude (run_no, moved_amount), runs_of.first_run_no, runs_of.newest_run_no
    from reconciliation_verdicts as verdicts
    inner join runs_of
        on runs_of.institution_id = verdicts.institution_id
        and runs_of.finding_id = verdicts.finding_id
        and runs_of.newest_run_no = verdicts.run_no
),
ended as (
    select found.finding_id, min(reconciliation_verdicts.run_no) as run_no
    from found
    inner join reconciliation_verdicts
        on reconciliation_verdicts.institution_id = found.institution_id
        and reconciliation_verdicts.subject = found.subject
        and reconciliation_verdicts.subject_no = found.subject_no
        and reconciliation_verdicts.run_no > found.newest_run_no
    group by found.finding_id
),
accepted as (
    select
        finding_acceptances.finding_id, max(finding_acceptances.run_no) as run_no,
        max_by(finding_acceptances.actor, finding_acceptances.run_no) as actor,
        max_by(finding_acceptances.reason, finding_acceptances.run_no) as reason,
        max_by(finding_acceptances.accepted_at, finding_acceptances.run_no) as accepted_at
    from finding_acceptances
    group by finding_acceptances.finding_id
)
select
    found.*,
    ended.run_no as resolved_run_no,
    case
        when ended.run_no is not null then 'resolved'
        when accepted.run_no > found.newest_run_no then 'accepted'
        else 'open'
    end as state,
    accepted.actor as accepted_by,
    accepted.reason as accepted_reason,
    accepted.accepted_at
from found
left join ended on ended.finding_id = found.finding_id
left join accepted on accepted.finding_id = found.finding_id;

-- name: stories_of
-- What became of each of these redemptions (rules.md#stories): its ledger entry, what is known of its
-- credit, its statement at the bank and its webhook, and of all that one `story`, the first that holds,
-- with its moment and its amount; `kernel/words/languages/en.toml` has them in this order. A view would
-- put all verdicts, credited rows and attempts in groups. Grain: one row per redemption.
create or replace macro stories_of(redemption_nos) as table
with entries as materialized (
    select redemption_entries.*
    from redemption_entries
    where redemption_entries.redemption_no in (select unnest(redemption_nos))
),
verdicts as (
    select
        reconciliation_verdicts.subject_no, max(reconciliation_verdicts.run_no) as run_no,
        max_by(reconciliation_verdicts.code, reconciliation_verdicts.run_no) as code,
        max_by(reconciliation_verdicts.credited_amount, reconciliation_verdicts.run_no)
            as credited_amount,
        max_by(reconciliation_verdicts.credited_rows, reconciliation_verdicts.run_no)
            as credited_rows
    from reconciliation_verdicts
    where reconciliation_verdicts.subject = 'redemption'
        and reconciliation_verdicts.subject_no in (select entries.redemption_no from entries)
    group by reconciliation_verdicts.subject_no
),
credited as (
    select
        credit_links.redemption_no,
        max_by(credit_links.credit_no, (credit_links.credited_at, credit_links.credit_no))
            filter (where credit_links.status = 'credited') as credit_no,
        max(credit_links.credited_at) filter (where credit_links.status = 'credited')
            as credited_at,
        max(credit_links.credited_at) filter (where credit_links.status = 'failed') as failed_at
    from credit_links
    where credit_links.redemption_no in (select entries.redemption_no from entries)
    group by credit_links.redemption_no
),
tried as (
    select
        attempts.event_no, max(attempts.started_at) as tried_at,
        min(attempts.started_at) filter (where attempts.error is null) as arrived_at
    from attempts
    where attempts.redemption_no in (select entries.redemption_no from entries)
    group by attempts.event_no
),
judged as (
    select
        entries.*, verdicts.code as verdict, verdicts.credited_amount, verdicts.credited_rows,
        credited.credit_no, credited.credited_at, runs.as_of as reconciled_at,
        case when announced.state = 'delivered' then tried.arrived_at end as delivered_at,
        case
            when entries.status = 'reversed'
                then {'story': 'taken_back', 'at': entries.reversed_at}
            when verdicts.code = 'credit_failed'
                then {'story': 'credit_failed', 'at': credited.failed_at}
            when verdicts.code in ('amount_differs', 'reference_differs', 'credited_too_early')
                then {'story': 'credit_differs', 'at': credited.credited_at}
            when verdicts.code = 'credited_twice'
                then {'story': 'credited_twice', 'at': credited.credited_at}
            when verdicts.code in ('credited', 'file_only')
                then {'story': 'credited', 'at': credited.credited_at}
            when verdicts.code in ('not_credited', 'webhook_only')
                then {'story': 'credit_late', 'at': runs.as_of}
            when paid_statements.state in ('paid', 'paid_twice')
                then {'story': 'paid_to_institution', 'at': paid_statements.booked_at}
            when announced.state = 'exhausted'
                then {'story': 'telling_failed', 'at': tried.tried_at}
            when entries.status = 'settled' then {'story': 'settled', 'at': entries.settled_at}
            when announced.state = 'delivered' then {'story': 'told', 'at': tried.arrived_at}
            else {'story': 'on_hold', 'at': entries.settles_at}
        end as newest
    from entries
    left join verdicts on verdicts.subject_no = entries.redemption_no
    left join runs on runs.run_no = verdicts.run_no
    left join credited on credited.redemption_no = entries.redemption_no
    left join closed_settlements as closed
        on closed.settlement_no = entries.settlement_no
        and closed.document = 'statement'
    left join paid_statements on paid_statements.statement_no = closed.closing_no
    left join outbox as announced
        on announced.redemption_no = entries.redemption_no
        and is_announcement(announced.kind)
    left join tried on tried.event_no = announced.event_no
)
select
    judged.*, judged.newest.story, coalesce(judged.newest.at, judged.created_at) as story_at,
    case
        when judged.newest.story in ('credit_differs', 'credited_twice', 'credited')
            then judged.credited_amount
        else judged.institution_payout_amount
    end as story_amount
from judged;
