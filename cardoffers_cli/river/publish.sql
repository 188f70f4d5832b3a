-- What happened of each kind of event (`kernel/words/events.toml`), in the runs from $first_run_no to
-- $last_run_no, with the bytes that are sent of it. `place` tells those of one statement apart.

-- name: redemptions
-- makes: happened(place, run_no, subject_id, subject, redemption_no, institution_id, occurred_at,
--     body)
-- The event redemption.completed (rules.md#redemption-events): `transaction_ref` and `currency` stand
-- behind the contract's fields. Grain: one row per redemption.
create temp table happened as
select
    redemptions.redemption_no - (
        select min(redemptions.redemption_no)
        from redemptions
        where redemptions.run_no between $first_run_no and $last_run_no
    ) + 1 as place,
    redemptions.run_no,
    redemptions.redemption_id as subject_id,
    cast(null as varchar) as subject,
    redemptions.redemption_no,
    redemptions.institution_id,
    redemptions.created_at as occurred_at,
    '{"event":"redemption.completed"'
    || ',"redemption_id":"' || cast(redemptions.redemption_id as varchar)
    || '","institution_id":"' || cast(redemptions.institution_id as varchar)
    || '","offer_id":' || to_json(offers.offer_id)
    || ',"cardholder_token":' || to_json(cardholders.cardholder_token)
    || ',"cardholder_token_masked":' || to_json(masked(cardholders.cardholder_token))
    || ',"institution_payout_amount":'
    || amount_text(ledger_entries.institution_payout_amount, currencies.minor_unit)
    || ',"occurred_at":' || event_moment(redemptions.created_at)
    || coalesce(',"transaction_ref":' || to_json(redemptions.transaction_ref), '')
    || ',"currency":' || to_json(ledger_entries.currency)
    || '}' as body
from redemptions
inner join ledger_entries using (redemption_no, institution_id)
inner join offers on offers.offer_no = redemptions.offer_no
inner join cardholders
    on cardholders.cardholder_no = redemptions.cardholder_no
    and cardholders.institution_id = redemptions.institution_id
inner join currencies on currencies.currency = ledger_entries.currency
where redemptions.run_no between $first_run_no and $last_run_no;

-- name: reversals
-- makes: happened(place, run_no, subject_id, subject, redemption_no, institution_id, occurred_at,
--     body)
-- The event redemption.reversed (rules.md#reversed-events). The token stands masked alone: its
-- institution has it from the event of the redemption. Grain: one row per redemption that was reversed.
create temp table happened as
with taken_back as materialized (
    select
        redemption_entries.redemption_no, redemption_entries.redemption_id,
        redemption_entries.institution_id, redemption_entries.transaction_ref,
        redemption_entries.cardholder_no, redemption_entries.offer_no,
        redemption_entries.institution_payout_amount, redemption_entries.currency,
        redemption_entries.reversal_reason, redemption_entries.reversed_at, ledger_moves.run_no
    from ledger_moves
    inner join redemption_entries
        on redemption_entries.redemption_no = ledger_moves.redemption_no
        and redemption_entries.status = 'reversed'
    where ledger_moves.run_no between $first_run_no and $last_run_no
        and ledger_moves.status = 'reversed'
)
select
    row_number() over (order by taken_back.redemption_no) as place,
    taken_back.run_no,
    taken_back.redemption_id as subject_id,
    cast(null as varchar) as subject,
    taken_back.redemption_no,
    taken_back.institution_id,
    taken_back.reversed_at as occurred_at,
    '{"event":"redemption.reversed"'
    || ',"redemption_id":"' || cast(taken_back.redemption_id as varchar)
    || '","institution_id":"' || cast(taken_back.institution_id as varchar)
    || '","offer_id":' || to_json(offers.offer_id)
    || ',"cardholder_token_masked":' || to_json(masked(cardholders.cardholder_token))
    || ',"amount":' || amount_text(taken_back.institution_payout_amount, currencies.minor_unit)
    || ',"reason":' || to_json(taken_back.reversal_reason)
    || ',"occurred_at":' || event_moment(taken_back.reversed_at)
    || coalesce(',"transaction_ref":' || to_json(taken_back.transaction_ref), '')
    || ',"currency":' || to_json(taken_back.currency)
    || '}' as body
from taken_back
inner join offers on offers.offer_no = taken_back.offer_no
inner join cardholders using (cardholder_no, institution_id)
inner join currencies on currencies.currency = taken_back.currency;

-- name: closed_statements
-- makes: happened(place, run_no, subject_id, subject, redemption_no, institution_id, occurred_at,
--     body)
-- The event statement.closed (rules.md#events-of-statements). Grain: one row per statement.
create temp table happened as
select
    row_number() over (order by statements.statement_no) as place,
    statements.run_no,
    statement_id(statements.institution_id, statements.number) as subject_id,
    statements.number as subject,
    cast(null as bigint) as redemption_no,
    statements.institution_id,
    statements.closed_at as occurred_at,
    '{"event":"statement.closed"'
    || ',"statement_id":"' || cast(subject_id as varchar)
    || '","institution_id":"' || cast(statements.institution_id as varchar)
    || '","number":' || to_json(statements.number)
    || ',"from":' || event_moment(statements.from_at)
    || ',"to":' || event_moment(statements.to_at)
    || ',"carried_in":' || amount_text(statements.carried_in, currencies.minor_unit)
    || ',"entries":' || amount_text(statements.entries, currencies.minor_unit)
    || ',"adjustments":' || amount_text(statements.adjustments, currencies.minor_unit)
    || ',"carried_out":' || amount_text(statements.carried_out, currencies.minor_unit)
    || ',"payable":' || amount_text(statements.payable, currencies.minor_unit)
    || ',"occurred_at":' || event_moment(statements.closed_at)
    || ',"currency":' || to_json(statements.currency)
    || '}' as body
from statements
inner join currencies on currencies.currency = statements.currency
where statements.run_no between $first_run_no and $last_run_no;

-- name: returned_payouts
-- makes: happened(place, run_no, subject_id, subject, redemption_no, institution_id, occurred_at,
--     body)
-- The event payout.returned (rules.md#events-of-statements): what the bank said first of a payment that
-- came back or was rejected, after it was exported. Grain: one row per payment.
create temp table happened as
with returned as (
    select told_entries.payout_no, min(told_entries.entry_no) as entry_no
    from told_entries
    inner join payouts using (payout_no, institution_id)
    where told_entries.status in ('returned', 'rejected')
        and told_entries.run_no > payouts.run_no
    group by told_entries.payout_no
)
select
    row_number() over (order by returned.entry_no) as place,
    bank_files.run_no,
    payout_id(payouts.institution_id, payouts.payment_id) as subject_id,
    payouts.payment_id as subject,
    cast(null as bigint) as redemption_no,
    payouts.institution_id,
    bank_files.received_at as occurred_at,
    '{"event":"payout.returned"'
    || ',"payout_id":"' || cast(subject_id as varchar)
    || '","institution_id":"' || cast(payouts.institution_id as varchar)
    || '","statement_id":"'
    || cast(statement_id(payouts.institution_id, payouts.number) as varchar)
    || '","number":' || to_json(payouts.number)
    || ',"payment_id":' || to_json(payouts.payment_id)
    || ',"from":' || event_moment(statements.from_at)
    || ',"to":' || event_moment(statements.to_at)
    || ',"amount":' || amount_text(payouts.amount, currencies.minor_unit)
    || ',"occurred_at":' || event_moment(bank_files.received_at)
    || ',"currency":' || to_json(payouts.currency)
    || '}' as body
from returned
inner join payouts on payouts.payout_no = returned.payout_no
inner join statements using (number, institution_id)
inner join bank_entries on bank_entries.entry_no = returned.entry_no
inner join bank_files on bank_files.bank_file_no = bank_entries.bank_file_no
inner join currencies on currencies.currency = payouts.currency
where bank_files.run_no between $first_run_no and $last_run_no;

-- name: queue
-- reads: happened(place, run_no, subject_id, subject, redemption_no, institution_id, occurred_at,
--     body)
-- Writes the events of what happened to outbox, due at once, where the institution wants them; those
-- that $is_always writes are held back where it does not. Idempotent: an event that is there is not
-- written again. Of an institution that is not null, its own alone.
insert into outbox (
    event_no, kind, subject_id, subject, redemption_no, institution_id, run_no, moot_when, body,
    occurred_at, state, attempts, failures, next_attempt_at, is_held_back
)
with owners as (
    select
        institutions.institution_id,
        list_contains(wanted_events(institutions.webhook_events), $kind) as is_wanted
    from institutions
    where $institution_id is null or institutions.institution_id = $institution_id
)
select
    (select coalesce(max(outbox.event_no), 0) from outbox) + happened.place,
    $kind,
    happened.subject_id,
    happened.subject,
    happened.redemption_no,
    happened.institution_id,
    happened.run_no,
    nullif($moot_when, 'never'),
    happened.body,
    happened.occurred_at,
    'due', 0, 0,
    happened.occurred_at,
    case when not owners.is_wanted then true end
from happened
inner join owners on owners.institution_id = happened.institution_id
anti join outbox
    on outbox.kind = $kind
    and outbox.run_no between $first_run_no and $last_run_no
    and outbox.subject_id = happened.subject_id
where (owners.is_wanted or $is_always);
