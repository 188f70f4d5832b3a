-- name: outbox
-- Writes the event of every redemption of this run, due at once. Idempotent: redemptions of a run
-- are written once, and an event that is there is not written again.
insert into outbox (
    redemption_no, redemption_id, institution_id, body, occurred_at, state, attempts, failures,
    next_attempt_at
)
select
    redemptions.redemption_no,
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
    );
