-- name: outbox
-- Writes redemption.completed of every redemption of this run, due at once. Idempotent: redemptions of a run
-- are written once, and an event that is there is not written again.
insert into outbox (
    redemption_no, event, redemption_id, institution_id, body, occurred_at, state, attempts,
    failures, next_attempt_at
)
select
    redemptions.redemption_no,
    'redemption.completed',
    redemptions.redemption_id,
    redemptions.institution_id,
    redemption_event(
        redemptions.redemption_id,
        redemptions.institution_id,
        offers.offer_id,
        cardholders.cardholder_token,
        ledger_entries.institution_payout_amount,
        currencies.minor_unit,
        redemptions.created_at,
        redemptions.transaction_ref,
        ledger_entries.currency
    ),
    redemptions.created_at,
    'due', 0, 0,
    redemptions.created_at
from redemptions
inner join ledger_entries
    on ledger_entries.redemption_no = redemptions.redemption_no
    and ledger_entries.institution_id = redemptions.institution_id
inner join offers on offers.offer_no = redemptions.offer_no
inner join cardholders
    on cardholders.cardholder_no = redemptions.cardholder_no
    and cardholders.institution_id = redemptions.institution_id
inner join currencies on currencies.currency = ledger_entries.currency
where redemptions.run_no = $run_no
    and redemptions.redemption_no not in (
        select outbox.redemption_no
        from outbox
        inner join redemptions as written
            on written.redemption_no = outbox.redemption_no
            and written.run_no = $run_no
        where outbox.event = 'redemption.completed'
    );

-- name: reversals
-- Writes redemption.reversed of every redemption that this run reversed, due at once, where its
-- institution wants these events. Idempotent: a redemption is reversed once, and an event that is
-- there is not written again.
insert into outbox (
    redemption_no, event, redemption_id, institution_id, body, occurred_at, state, attempts,
    failures, next_attempt_at
)
with taken_back as materialized (
    select
        redemption_entries.redemption_no, redemption_entries.redemption_id,
        redemption_entries.institution_id, redemption_entries.transaction_ref,
        redemption_entries.cardholder_no, redemption_entries.offer_no,
        redemption_entries.institution_payout_amount, redemption_entries.currency,
        redemption_entries.reversal_reason, redemption_entries.reversed_at
    from redemption_entries
    inner join institutions on institutions.institution_id = redemption_entries.institution_id
    where redemption_entries.redemption_no in (
        select ledger_moves.redemption_no
        from ledger_moves
        where ledger_moves.run_no = $run_no
            and ledger_moves.status = 'reversed'
    )
        and institutions.webhook_events = 'completed,reversed'
)
select
    taken_back.redemption_no,
    'redemption.reversed',
    taken_back.redemption_id,
    taken_back.institution_id,
    reversal_event(
        taken_back.redemption_id,
        taken_back.institution_id,
        offers.offer_id,
        cardholders.cardholder_token,
        taken_back.institution_payout_amount,
        currencies.minor_unit,
        taken_back.reversal_reason,
        taken_back.reversed_at,
        taken_back.transaction_ref,
        taken_back.currency
    ),
    taken_back.reversed_at,
    'due', 0, 0,
    taken_back.reversed_at
from taken_back
inner join offers on offers.offer_no = taken_back.offer_no
inner join cardholders
    on cardholders.cardholder_no = taken_back.cardholder_no
    and cardholders.institution_id = taken_back.institution_id
inner join currencies on currencies.currency = taken_back.currency
where not exists (
    select 1
    from outbox
    where outbox.redemption_no = taken_back.redemption_no
        and outbox.event = 'redemption.reversed'
);
