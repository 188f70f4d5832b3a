-- name: asked
-- makes: asked(institution_id, currency, credit_days, is_credited, is_paid, is_reached,
--     after_run_no, after_redemption_no, after_credit_no)
-- Makes asked: the institutions that sent credited rows (`is_credited`) and those that are paid by
-- payouts (`is_paid`): with a statement that pays anything, and an account or a payment; or the one of
-- them that is named. Where none is, and banks told of anything, that is of no institution; so it is
-- where an entry that stands there is of a payout of the named one by now, as else it would count on
-- both sides. With how far the last run went; nowhere before the first. Grain: one row per institution.
create temp table asked as
with reached as (
    select
        reconciliations.institution_id, max(reconciliations.run_no) as run_no,
        max(reconciliations.last_redemption_no) as redemption_no,
        max(reconciliations.last_credit_no) as credit_no
    from reconciliations
    group by reconciliations.institution_id
),
known as (
    select
        institutions.institution_id, institutions.currency, institutions.credit_days,
        institutions.institution_id in (select credits.institution_id from credits) as is_credited,
        institutions.institution_id in (select paid_statements.institution_id from paid_statements)
        and (
            institutions.institution_id in (
                select institution_accounts.institution_id
                from institution_accounts
            )
            or institutions.institution_id in (select payouts.institution_id from payouts)
            or institutions.institution_id in (
                select reconciliations.institution_id
                from reconciliations
                where reconciliations.statements > 0
            )
        ) as is_paid
    from institutions
    union all
    select no_institution(), null, null, false, true
    where exists (from bank_entries)
),
known_by_now as (
    select current_verdicts.subject_no as entry_no
    from current_verdicts
    inner join told_entries on told_entries.entry_no = current_verdicts.subject_no
    where current_verdicts.subject = 'entry'
        and current_verdicts.code <> 'known_now'
        and told_entries.institution_id = $institution_id
)
select
    known.institution_id, known.currency, coalesce(known.credit_days, 7) as credit_days,
    known.is_credited, known.is_paid,
    reached.run_no is not null as is_reached, coalesce(reached.run_no, 0) as after_run_no,
    coalesce(reached.redemption_no, -1) as after_redemption_no,
    coalesce(reached.credit_no, -1) as after_credit_no
from known
left join reached on reached.institution_id = known.institution_id
where (known.is_credited or known.is_paid)
    and (
        $institution_id is null
        or known.institution_id = $institution_id
        or (known.institution_id = no_institution() and exists (from known_by_now))
    );

-- name: is_any
-- reads: asked()
-- Whether there is anything to reconcile.
select exists (from asked) as is_any;

-- name: is_first
-- reads: asked(is_reached)
-- Whether no run looked at any of these institutions before.
select not coalesce(bool_or(asked.is_reached), false) as is_first
from asked;

-- name: referring
-- reads: asked(institution_id, currency, after_credit_no)
-- makes: referring(credit_no, institution_id, redemption_id, transaction_ref, status, amount,
--     credited_at, currency, is_known_currency, is_told)
-- Makes referring: the credited rows whose redemption is to be found: those that came since, and
-- those that a run before knew none of (`is_told`). Grain: one row per credited row.
create temp table referring as
with unknown as (
    select current_verdicts.subject_no as credit_no
    from current_verdicts
    where current_verdicts.subject = 'credit'
        and current_verdicts.code = 'credited_unknown'
)
select
    credits.credit_no, credits.institution_id, credits.redemption_id, credits.transaction_ref,
    credits.status, credits.amount, credits.credited_at, credits.currency,
    credits.currency = asked.currency as is_known_currency,
    credits.credit_no <= asked.after_credit_no as is_told
from credits
inner join asked on asked.institution_id = credits.institution_id
where credits.credit_no > asked.after_credit_no
    or credits.credit_no in (select unknown.credit_no from unknown);

-- name: credit_links
-- reads: referring(credit_no, institution_id, redemption_id, transaction_ref, status, amount,
--     credited_at, is_known_currency)
-- Writes which redemption each of these rows is of (rules.md#reconciliation): the one of its id or,
-- where it has none, of the purchase with its reference, which is found by the hash. An institution
-- has one currency for ever. Idempotent: a row that has a link is not referring.
insert into credit_links (
    credit_no, institution_id, redemption_no, status, amount, credited_at, run_no, is_of_other_ref
)
with hashed as (
    select
        referring.credit_no, referring.institution_id, referring.transaction_ref,
        referring.status, referring.amount, referring.credited_at,
        ref_hash(referring.institution_id, referring.transaction_ref) as ref_hash
    from referring
    where referring.redemption_id is null
        and referring.is_known_currency
)
select
    referring.credit_no, referring.institution_id, redemptions.redemption_no, referring.status,
    referring.amount, referring.credited_at, $run_no,
    coalesce(referring.transaction_ref <> redemptions.transaction_ref, false)
from referring
inner join redemptions using (redemption_id, institution_id)
where referring.is_known_currency
union all
select
    hashed.credit_no, hashed.institution_id, redemptions.redemption_no, hashed.status,
    hashed.amount, hashed.credited_at, $run_no, false
from hashed
inner join purchase_refs on purchase_refs.ref_hash = hashed.ref_hash
inner join redemptions using (purchase_no, institution_id)
inner join purchases
    on purchases.purchase_no = redemptions.purchase_no
    and purchases.institution_id = hashed.institution_id
    and purchases.transaction_ref = hashed.transaction_ref;

-- name: to_reconcile
-- reads: asked(institution_id, credit_days, is_credited, after_run_no, after_redemption_no)
-- makes: to_reconcile(redemption_no, institution_id, currency, amount, created_at, credit_days,
--     reversed_at, is_delivered, is_expected)
-- Makes to_reconcile: the redemptions to look at: those that came since, those that new credited rows
-- are of or that were reversed since, and those whose verdict is not final. `is_delivered` says that
-- its event was, `is_expected` that it is still to be. Grain: one row per redemption.
create temp table to_reconcile as
with touched as (
    select credit_links.redemption_no
    from credit_links
    inner join asked on asked.institution_id = credit_links.institution_id
    where credit_links.run_no = $run_no
        and credit_links.redemption_no <= asked.after_redemption_no
    union all
    select ledger_moves.redemption_no
    from ledger_moves
    where ledger_moves.status = 'reversed'
        and ledger_moves.run_no > (select min(asked.after_run_no) from asked)
    union all
    select current_verdicts.subject_no
    from current_verdicts
    where current_verdicts.subject = 'redemption'
        and not is_verdict_final(current_verdicts.code)
)
select
    ledger_entries.redemption_no, ledger_entries.institution_id, ledger_entries.currency,
    ledger_entries.institution_payout_amount as amount, ledger_entries.created_at,
    asked.credit_days, ledger_entries.reversed_at, coalesce(outbox.state = 'delivered', false) as is_delivered,
    institutions.webhook_url is not null
    and coalesce(outbox.state <> 'delivered', false)
    and not coalesce(outbox.is_held_back, false) as is_expected
from ledger_entries
inner join asked on asked.institution_id = ledger_entries.institution_id
inner join institutions on institutions.institution_id = ledger_entries.institution_id
left join outbox
    on outbox.redemption_no = ledger_entries.redemption_no
    and outbox.institution_id = ledger_entries.institution_id
    and is_announcement(outbox.kind)
where asked.is_credited
    and (
        ledger_entries.redemption_no > asked.after_redemption_no
        or ledger_entries.redemption_no in (select touched.redemption_no from touched)
    );

-- name: credited
-- reads: to_reconcile(redemption_no, institution_id, reversed_at)
-- makes: credited(redemption_no, credited_rows, payments, credited_amount, moved_amount,
--     amount_at_reversal, is_failed, is_of_other_ref, first_credited_at)
-- Makes credited: what stands of the credited rows of each redemption (rules.md#what-was-credited), at
-- the end and when it was reversed, whether the last row failed, whether one names another purchase, and
-- the date of the first that was credited. Most have one row; only those of
-- several are put into order. Below the lowest sum so far nothing more can be taken back, so what is
-- above that stands. Grain: one row per redemption that has any.
create temp table credited as
with moves as materialized (
    select
        to_reconcile.redemption_no, to_reconcile.reversed_at, credit_links.credit_no,
        credit_links.credited_at, coalesce(credit_links.is_of_other_ref, false) as is_of_other_ref,
        credit_links.status, moved_by(credit_links.status, credit_links.amount) as amount,
        moved_by(credit_links.status, 1) as payment
    from to_reconcile
    inner join credit_links using (redemption_no, institution_id)
),
several as (
    select moves.redemption_no
    from moves
    group by moves.redemption_no
    having count(*) > 1
),
ordered as (
    select
        moves.redemption_no, moves.reversed_at, moves.credited_at, moves.status, moves.amount,
        moves.payment, moves.is_of_other_ref,
        row_number() over (
            partition by moves.redemption_no order by moves.credited_at, moves.credit_no
        ) as turn_no
    from moves
    where moves.redemption_no in (select several.redemption_no from several)
),
summed as (
    select
        ordered.redemption_no, ordered.reversed_at, ordered.credited_at, ordered.status,
        ordered.amount, ordered.payment, ordered.is_of_other_ref, ordered.turn_no,
        sum(ordered.amount) over (
            partition by ordered.redemption_no order by ordered.turn_no
        ) as amount_so_far
    from ordered
),
standing as (
    select
        summed.redemption_no, summed.reversed_at, summed.credited_at, summed.status, summed.amount,
        summed.payment, summed.is_of_other_ref, summed.turn_no,
        summed.amount_so_far - least(
            0,
            min(summed.amount_so_far) over (
                partition by summed.redemption_no order by summed.turn_no
            )
        ) as amount_left
    from summed
),
since_nothing as (
    select standing.redemption_no, max(standing.turn_no) as turn_no
    from standing
    where standing.amount_left = 0
    group by standing.redemption_no
)
select
    standing.redemption_no, count(*) as credited_rows,
    coalesce(
        sum(standing.payment) filter (where standing.turn_no > coalesce(since_nothing.turn_no, 0)),
        0
    ) as payments,
    max_by(standing.amount_left, standing.turn_no) as credited_amount,
    sum(standing.amount) as moved_amount,
    coalesce(
        max_by(standing.amount_left, standing.turn_no)
            filter (where standing.credited_at <= standing.reversed_at),
        0
    ) as amount_at_reversal,
    max_by(standing.status, standing.turn_no) = 'failed' as is_failed,
    bool_or(standing.is_of_other_ref) as is_of_other_ref,
    min(standing.credited_at) filter (where standing.status = 'credited') as first_credited_at
from standing
left join since_nothing on since_nothing.redemption_no = standing.redemption_no
group by standing.redemption_no
union all
select
    moves.redemption_no, 1, greatest(moves.payment, 0), greatest(moves.amount, 0), moves.amount,
    case when moves.credited_at <= moves.reversed_at then greatest(moves.amount, 0) else 0 end,
    moves.status = 'failed', moves.is_of_other_ref,
    case when moves.status = 'credited' then moves.credited_at end
from moves
where moves.redemption_no not in (select several.redemption_no from several);

-- name: banked
-- reads: asked(institution_id, is_paid)
-- makes: banked(institution_id, subject, subject_no, code, named, currency, amount, paid_amount,
--     moved_amount, entries, since_at, bank_code)
-- Makes banked: the verdict of each statement that pays anything, and of each entry of no payout
-- (rules.md#bank-verdicts); one whose payout is known by now, or that counts no more, ends. `named` is what a finding is
-- derived from: where it is null the verdict is none, as an unpaid one is that is younger than
-- `days`. An entry without an amount stands with none, in a currency of the programs.
-- Grain: one row per subject.
create temp table banked as
with alone as (
    select current_verdicts.subject_no as entry_no
    from current_verdicts
    where current_verdicts.subject = 'entry'
        and current_verdicts.code <> 'known_now'
),
entries as (
    select
        told_entries.entry_no, told_entries.entry_id,
        coalesce(told_entries.currency, (select min(institutions.currency) from institutions))
            as currency,
        coalesce(told_entries.amount, 0) as amount, bookings.status, told_entries.direction,
        told_entries.code, told_entries.told_at as since_at,
        bookings.entry_no is null or bookings.payout_no is not null as is_known
    from told_entries
    left join bank_bookings as bookings on bookings.entry_no = told_entries.entry_no
    where no_institution() in (select asked.institution_id from asked)
)
select
    paid_statements.institution_id, 'statement' as subject, paid_statements.statement_no as subject_no,
    paid_statements.state as code,
    case
        when paid_statements.state <> 'unpaid'
            or date_sub('day', paid_statements.since_at, $now) >= $days
            then paid_statements.number
    end as named,
    paid_statements.currency, cast(paid_statements.payable as decimal(18, 4)) as amount,
    paid_statements.paid_amount, paid_statements.moved_amount, paid_statements.entries,
    paid_statements.since_at, paid_statements.bank_code
from paid_statements
inner join asked on asked.institution_id = paid_statements.institution_id
where asked.is_paid
union all
select
    no_institution(), 'entry', entries.entry_no,
    case
        when entries.is_known then 'known_now'
        when entries.status = 'not_in_book' then 'not_in_book'
        when entries.status = 'unexplained' then 'entry_not_explained'
        when is_unexplained(entries.status, entries.direction) then 'bank_unknown'
        else 'bank_other'
    end,
    cast(entries.entry_id as varchar), entries.currency, null,
    case when entries.is_known then 0 else entries.amount end,
    case
        when entries.is_known then 0
        else moved_by_bank(entries.status, entries.direction, entries.amount)
    end,
    case when entries.is_known then 0 else 1 end, entries.since_at, entries.code
from entries
where not entries.is_known
    or entries.entry_no in (select alone.entry_no from alone);

-- name: judged
-- reads: referring(credit_no, institution_id, status, amount, credited_at, currency, is_told),
--     to_reconcile(redemption_no, institution_id, currency, amount, created_at, credit_days,
--     reversed_at, is_delivered, is_expected), credited(redemption_no, credited_rows, payments,
--     credited_amount, moved_amount, amount_at_reversal, is_failed, is_of_other_ref,
--     first_credited_at),
--     banked(institution_id, subject, subject_no, code, named, currency, amount, paid_amount,
--     moved_amount, entries, since_at, bank_code)
-- makes: judged(institution_id, subject, subject_no, code, named, currency, amount, credited_amount,
--     moved_amount, credited_rows, since_at, bank_code)
-- Makes judged: the verdict of each redemption that was looked at, and of each credited row whose
-- redemption was looked for (rules.md#verdicts); a row that has none any more, as its redemption is
-- known now, ends with amounts of zero. And those of the bank's side, which alone are `named`.
-- Grain: one row per subject.
create temp table judged as
with linked as (
    select credit_links.credit_no
    from credit_links
    where credit_links.run_no = $run_no
),
alone as (
    select
        referring.institution_id, referring.credit_no, referring.currency, referring.credited_at,
        moved_by(referring.status, referring.amount) as amount,
        referring.credit_no in (select linked.credit_no from linked) as is_known, referring.is_told
    from referring
)
select
    to_reconcile.institution_id, 'redemption' as subject, to_reconcile.redemption_no as subject_no,
    case
        when to_reconcile.reversed_at is not null and coalesce(credited.credited_amount, 0) = 0
            then 'not_owed'
        when to_reconcile.reversed_at is not null
            and credited.credited_amount > credited.amount_at_reversal
            then 'credited_after_reversal'
        when to_reconcile.reversed_at is not null then 'credited_before_reversal'
        when credited.credited_amount > to_reconcile.amount and credited.payments > 1
            then 'credited_twice'
        when credited.credited_amount <> to_reconcile.amount and credited.credited_amount > 0
            then 'amount_differs'
        when credited.credited_amount = to_reconcile.amount and credited.is_of_other_ref
            then 'reference_differs'
        when credited.credited_amount = to_reconcile.amount
            and credited.first_credited_at < to_reconcile.created_at - interval 1 day
            then 'credited_too_early'
        when coalesce(credited.credited_amount, 0) = to_reconcile.amount and to_reconcile.is_expected
            then 'file_only'
        when coalesce(credited.credited_amount, 0) = to_reconcile.amount then 'credited'
        when credited.is_failed then 'credit_failed'
        when date_sub('day', to_reconcile.created_at, $now) < to_reconcile.credit_days
            then 'credit_awaited'
        when to_reconcile.is_delivered then 'webhook_only'
        else 'not_credited'
    end as code,
    null as named, to_reconcile.currency, to_reconcile.amount,
    cast(coalesce(credited.credited_amount, 0) as decimal(38, 4)) as credited_amount,
    cast(coalesce(credited.moved_amount, 0) as decimal(38, 4)) as moved_amount,
    coalesce(credited.credited_rows, 0) as credited_rows, to_reconcile.created_at as since_at,
    null as bank_code
from to_reconcile
left join credited on credited.redemption_no = to_reconcile.redemption_no
union all
select
    alone.institution_id, 'credit', alone.credit_no,
    case when alone.is_known then 'known_now' else 'credited_unknown' end,
    null, alone.currency, null, case when alone.is_known then 0 else alone.amount end,
    case when alone.is_known then 0 else alone.amount end,
    case when alone.is_known then 0 else 1 end, alone.credited_at, null
from alone
where alone.is_told
    or not alone.is_known
union all
select
    banked.institution_id, banked.subject, banked.subject_no, banked.code, banked.named,
    banked.currency, banked.amount, banked.paid_amount, banked.moved_amount, banked.entries,
    banked.since_at, banked.bank_code
from banked;

-- name: first_verdicts
-- reads: judged(institution_id, subject, subject_no, code, named, currency, amount, credited_amount,
--     moved_amount, credited_rows, since_at, bank_code)
-- Writes the verdicts of institutions of which nothing was said before, those that tell of something
-- wrong with the id of the finding.
insert into reconciliation_verdicts (
    institution_id, subject, subject_no, run_no, code, finding_id, currency, amount,
    credited_amount, moved_amount, credited_rows, since_at, bank_code
)
select
    judged.institution_id, judged.subject, judged.subject_no, $run_no, judged.code,
    finding_of(
        judged.institution_id, judged.code, judged.subject,
        coalesce(cast(redemptions.redemption_id as varchar), credits.credit_ref, judged.named)
    ),
    judged.currency, judged.amount, judged.credited_amount, judged.moved_amount,
    judged.credited_rows, judged.since_at, judged.bank_code
from judged
left join redemptions
    on judged.subject = 'redemption'
    and redemptions.redemption_no = judged.subject_no
    and redemptions.institution_id = judged.institution_id
    and not is_verdict_final(judged.code)
left join credits
    on judged.subject = 'credit'
    and credits.credit_no = judged.subject_no
    and credits.institution_id = judged.institution_id
    and not is_verdict_final(judged.code);

-- name: later_verdicts
-- reads: judged(institution_id, subject, subject_no, code, named, currency, amount, credited_amount,
--     moved_amount, credited_rows, since_at, bank_code)
-- Writes the verdicts that are not what was said of their subject before, as first_verdicts does.
-- Idempotent: what is said already is not said again.
insert into reconciliation_verdicts (
    institution_id, subject, subject_no, run_no, code, finding_id, currency, amount,
    credited_amount, moved_amount, credited_rows, since_at, bank_code
)
with looked_at as materialized (
    select
        judged.institution_id, judged.subject, judged.subject_no, judged.code, judged.named,
        judged.currency, judged.amount, judged.credited_amount, judged.moved_amount,
        judged.credited_rows, judged.since_at, judged.bank_code,
        not is_verdict_final(judged.code) and judged.named is not null as is_named
    from judged
),
said as (
    select
        looked_at.subject, looked_at.subject_no,
        max_by(
            (
                reconciliation_verdicts.code, reconciliation_verdicts.credited_amount,
                reconciliation_verdicts.moved_amount, reconciliation_verdicts.credited_rows,
                reconciliation_verdicts.bank_code,
                is_of_bank(reconciliation_verdicts.subject)
                and reconciliation_verdicts.finding_id is not null
            ),
            reconciliation_verdicts.run_no
        ) as newest
    from looked_at
    inner join reconciliation_verdicts using (subject, subject_no, institution_id)
    group by looked_at.subject, looked_at.subject_no
)
select
    looked_at.institution_id, looked_at.subject, looked_at.subject_no, $run_no, looked_at.code,
    finding_of(
        looked_at.institution_id, looked_at.code, looked_at.subject,
        coalesce(cast(redemptions.redemption_id as varchar), credits.credit_ref, looked_at.named)
    ),
    looked_at.currency, looked_at.amount, looked_at.credited_amount, looked_at.moved_amount,
    looked_at.credited_rows, looked_at.since_at, looked_at.bank_code
from looked_at
left join said using (subject, subject_no)
left join redemptions
    on looked_at.subject = 'redemption'
    and redemptions.redemption_no = looked_at.subject_no
    and redemptions.institution_id = looked_at.institution_id
    and not is_verdict_final(looked_at.code)
left join credits
    on looked_at.subject = 'credit'
    and credits.credit_no = looked_at.subject_no
    and credits.institution_id = looked_at.institution_id
    and not is_verdict_final(looked_at.code)
where said.newest is distinct from (
        looked_at.code, looked_at.credited_amount, looked_at.moved_amount, looked_at.credited_rows,
        looked_at.bank_code, looked_at.is_named
    );

-- name: totals
-- reads: asked(institution_id, after_run_no)
-- Writes what the verdicts that hold now come to, once for each run: what those of the run before
-- came to, with what this run said, and without what it said anew.
insert into reconciliation_totals (
    institution_id, run_no, code, currency, verdicts, redemptions, credited_rows, statements,
    bank_entries, amount, credited_amount, moved_amount
)
with replaced as (
    select before.institution_id, before.subject, before.subject_no, max(before.run_no) as run_no
    from reconciliation_verdicts as before
    semi join reconciliation_verdicts as said
        on said.institution_id = before.institution_id
        and said.subject = before.subject
        and said.subject_no = before.subject_no
        and said.run_no = $run_no
    where before.run_no < $run_no
    group by before.institution_id, before.subject, before.subject_no
),
parts as (
    select
        institution_id, code, currency, verdicts, redemptions, credited_rows, statements,
        bank_entries, amount, credited_amount, moved_amount, 1 as sign
    from reconciliation_totals
    semi join asked
        on asked.institution_id = reconciliation_totals.institution_id
        and asked.after_run_no = reconciliation_totals.run_no
    union all
    select
        institution_id, code, currency, verdicts, redemptions, credited_rows, statements,
        bank_entries, amount, credited_amount, moved_amount, 1 as sign
    from verdict_sums
    where verdict_sums.run_no = $run_no
    union all
    select
        institution_id, code, currency, verdicts, redemptions, credited_rows, statements,
        bank_entries, amount, credited_amount, moved_amount, -1 as sign
    from verdict_sums
    semi join replaced using (institution_id, subject, subject_no, run_no)
)
select
    institution_id, $run_no, code, currency, sum(sign * verdicts), sum(sign * redemptions),
    sum(sign * credited_rows), sum(sign * statements), sum(sign * bank_entries),
    sum(sign * amount), sum(sign * credited_amount), sum(sign * moved_amount)
from parts
group by institution_id, code, currency
having sum(sign * verdicts) <> 0;

-- name: sides
-- reads: asked(institution_id, is_credited, is_paid)
-- makes: sides(institution_id, is_of_bank, currency, subjects, rows, amount, moved_amount,
--     last_subject_no, last_row_no)
-- Makes sides: both sides counted where they stand, whatever the verdicts say: redemptions and their
-- cashback, credited rows and what they moved; statements and what they pay, entries of banks and what
-- they moved, whatever the currency. Grain: one row per institution, table and currency.
create temp table sides as
select
    ledger_entries.institution_id, false as is_of_bank, ledger_entries.currency,
    count(*) as subjects, 0 as rows, sum(ledger_entries.institution_payout_amount) as amount,
    0 as moved_amount, max(ledger_entries.redemption_no) as last_subject_no, null as last_row_no
from ledger_entries
inner join asked on asked.institution_id = ledger_entries.institution_id
where asked.is_credited
group by ledger_entries.institution_id, ledger_entries.currency
union all
select
    credits.institution_id, false, credits.currency, 0, count(*), 0,
    sum(moved_by(credits.status, credits.amount)), null, max(credits.credit_no)
from credits
semi join asked on asked.institution_id = credits.institution_id
group by credits.institution_id, credits.currency
union all
select statements.institution_id, true, 'all', count(*), 0, sum(statements.payable), 0, null, null
from statements
inner join asked on asked.institution_id = statements.institution_id
where asked.is_paid
    and statements.payable > 0
group by statements.institution_id
union all
select
    asked.institution_id, true, 'all', 0, count(*), 0,
    coalesce(
        sum(moved_by_bank(bank_bookings.status, bank_bookings.direction, bank_bookings.amount)), 0
    ),
    null, null
from bank_bookings
inner join asked
    on asked.institution_id = coalesce(bank_bookings.institution_id, no_institution())
group by asked.institution_id;

-- name: reconciliations
-- reads: asked(institution_id), sides(institution_id, is_of_bank, subjects, rows, last_subject_no,
--     last_row_no)
-- Writes how many redemptions and credited rows there are, statements to be paid and entries of banks,
-- and how far this run went; once for each run.
insert into reconciliations (
    institution_id, run_no, redemptions, credited_rows, verdicts, last_redemption_no,
    last_credit_no, statements, bank_entries
)
with counted as (
    select institution_id, sum(verdicts) as verdicts
    from reconciliation_totals
    where run_no = $run_no
        and redemptions + credited_rows > 0
    group by institution_id
)
select
    asked.institution_id, $run_no,
    coalesce(sum(sides.subjects) filter (where not sides.is_of_bank), 0),
    coalesce(sum(sides.rows) filter (where not sides.is_of_bank), 0),
    coalesce(any_value(counted.verdicts), 0), coalesce(max(sides.last_subject_no), -1),
    coalesce(max(sides.last_row_no), -1),
    coalesce(sum(sides.subjects) filter (where sides.is_of_bank), 0),
    coalesce(sum(sides.rows) filter (where sides.is_of_bank), 0)
from asked
left join sides on sides.institution_id = asked.institution_id
left join counted on counted.institution_id = asked.institution_id
group by asked.institution_id;

-- name: differences
-- reads: sides(institution_id, is_of_bank, currency, subjects, rows, amount, moved_amount)
-- Where the totals of a run are not those of both sides. Grain: one row per institution, side and
-- currency.
with both_sides as (
    select
        institution_id, statements + bank_entries > 0 as is_of_bank,
        case when statements + bank_entries > 0 then 'all' else currency end as currency,
        redemptions + statements as subjects, credited_rows + bank_entries as rows, amount,
        moved_amount
    from reconciliation_totals
    where run_no = $run_no
    union all
    select institution_id, is_of_bank, currency, -subjects, -rows, -amount, -moved_amount
    from sides
)
select
    coalesce(institutions.slug, 'the bank') as slug, both_sides.currency,
    sum(both_sides.subjects) as subjects, sum(both_sides.rows) as rows,
    sum(both_sides.amount) as amount, sum(both_sides.moved_amount) as moved_amount
from both_sides
left join institutions on institutions.institution_id = both_sides.institution_id
group by institutions.slug, both_sides.is_of_bank, both_sides.currency
having sum(both_sides.subjects) <> 0
    or sum(both_sides.rows) <> 0
    or sum(both_sides.amount) <> 0
    or sum(both_sides.moved_amount) <> 0
order by institutions.slug, both_sides.currency;

-- name: said
-- What the verdicts of a run come to, with the age of the oldest and how many are of 7 days, of 30 and
-- of 60, where they are findings. `is_of_bank` says of which side; what is of no institution comes last.
-- Grain: one row per verdict and currency.
with told as (
    select
        reconciliation_totals.code, reconciliation_totals.currency,
        sum(reconciliation_totals.verdicts) as rows,
        sum(
            case
                when reconciliation_totals.redemptions + reconciliation_totals.statements = 0
                    then reconciliation_totals.credited_amount
                else reconciliation_totals.amount
            end
        ) as amount,
        sum(reconciliation_totals.credited_amount) as credited_amount,
        sum(reconciliation_totals.redemptions) as redemptions,
        sum(reconciliation_totals.credited_rows) as credited_rows,
        sum(reconciliation_totals.statements) as statements,
        sum(reconciliation_totals.bank_entries) as bank_entries
    from reconciliation_totals
    where reconciliation_totals.run_no = $run_no
    group by reconciliation_totals.code, reconciliation_totals.currency
),
aged as (
    select
        reconciliation_findings.code, reconciliation_findings.currency,
        max(date_sub('day', reconciliation_findings.since_at, $now)) as oldest_days,
        count(*) filter (where date_sub('day', reconciliation_findings.since_at, $now) >= 7)
            as from_7_days,
        count(*) filter (where date_sub('day', reconciliation_findings.since_at, $now) >= 30)
            as from_30_days,
        count(*) filter (where date_sub('day', reconciliation_findings.since_at, $now) >= 60)
            as from_60_days
    from reconciliation_findings
    where reconciliation_findings.state <> 'resolved'
        and reconciliation_findings.institution_id in (
            select reconciliations.institution_id
            from reconciliations
            where reconciliations.run_no = $run_no
        )
    group by reconciliation_findings.code, reconciliation_findings.currency
)
select
    told.code, cast(told.rows as bigint) as rows, told.amount, told.currency,
    told.credited_amount, cast(told.redemptions as bigint) as redemptions,
    cast(told.credited_rows as bigint) as credited_rows,
    cast(told.bank_entries as bigint) as bank_entries, aged.oldest_days, aged.from_7_days,
    aged.from_30_days, aged.from_60_days, told.statements + told.bank_entries > 0 as is_of_bank
from told
left join aged on aged.code = told.code and aged.currency = told.currency
order by told.statements + told.bank_entries > 0 and told.statements = 0, told.code, told.currency;

-- name: control
-- What a run counted of all sides, and its verdicts, of all institutions together.
with judged as (
    select sum(reconciliation_totals.verdicts) as verdicts
    from reconciliation_totals
    where reconciliation_totals.run_no = $run_no
        and reconciliation_totals.statements + reconciliation_totals.bank_entries > 0
)
select
    cast(coalesce(sum(reconciliations.redemptions), 0) as bigint) as redemptions,
    cast(coalesce(sum(reconciliations.credited_rows), 0) as bigint) as credited_rows,
    cast(coalesce(sum(reconciliations.verdicts), 0) as bigint) as verdicts,
    cast(coalesce(sum(reconciliations.statements), 0) as bigint) as statements,
    cast(coalesce(sum(reconciliations.bank_entries), 0) as bigint) as bank_entries,
    cast(coalesce(any_value(judged.verdicts), 0) as bigint) as bank_verdicts
from reconciliations
cross join judged
where reconciliations.run_no = $run_no;

-- name: states
-- The findings of the institutions of a run, by how far they are.
select
    count(*) filter (where reconciliation_findings.state = 'open') as open,
    count(*) filter (where reconciliation_findings.state = 'accepted') as accepted,
    count(*) filter (where reconciliation_findings.state = 'resolved') as resolved
from reconciliation_findings
where reconciliation_findings.institution_id in (
        select reconciliations.institution_id
        from reconciliations
        where reconciliations.run_no = $run_no
    );
