-- name: one_event_per_redemption
-- Redemptions without exactly one redemption.completed, and such events without their redemption.
-- Where hashes add up, as in one_entry_per_redemption, nothing more is looked at. Grain: one row per
-- redemption.
with hashed as (
    select
        (select sum(hash(redemptions.redemption_no)) from redemptions) as numbers,
        (
            select sum(hash(cast(every.number as bigint)))
            from range(1, (select max(redemptions.redemption_no) + 1 from redemptions))
                as every(number)
        ) as every_number,
        (
            select sum(hash(redemptions.redemption_no, redemptions.redemption_id))
            from redemptions
        ) as redemptions,
        (
            select sum(hash(outbox.redemption_no, outbox.redemption_id))
            from outbox
            where outbox.event = 'redemption.completed'
        ) as events
),
doubt as (
    select hashed.numbers is distinct from hashed.every_number
        or hashed.redemptions is distinct from hashed.events as is_there
    from hashed
),
both_sides as (
    select redemptions.redemption_no, redemptions.redemption_id, 1 as redemptions, 0 as events
    from redemptions
    where (select doubt.is_there from doubt)
    union all
    select outbox.redemption_no, outbox.redemption_id, 0, 1
    from outbox
    where (select doubt.is_there from doubt)
        and outbox.event = 'redemption.completed'
),
counted as (
    select
        both_sides.redemption_no, both_sides.redemption_id,
        sum(both_sides.redemptions) as redemptions, sum(both_sides.events) as events
    from both_sides
    group by both_sides.redemption_no, both_sides.redemption_id
)
select counted.redemption_id, counted.redemptions, counted.events
from counted
where counted.redemptions <> 1 or counted.events <> 1
order by counted.redemption_no;

-- name: events_agree_with_the_ledger
-- Events redemption.completed whose body cannot be read as a JSON object, or says anything else than the redemption, its
-- ledger entry and its purchase; `differs` names the fields. The amount is compared as it is written,
-- as a number of JSON would lose digits. What only newer bodies say is compared where it is there.
-- Grain: one row per event.
with bodies as (
    select
        outbox.redemption_no, outbox.redemption_id, outbox.institution_id, outbox.occurred_at,
        outbox.body,
        case when json_valid(outbox.body) then json(outbox.body) end as document
    from outbox
    where outbox.event = 'redemption.completed'
),
said as (
    select
        bodies.redemption_no, bodies.redemption_id, bodies.institution_id, bodies.occurred_at,
        coalesce(json_type(bodies.document) = 'OBJECT', false) as is_readable,
        json_extract_string(bodies.document, '$.event') as event,
        json_extract_string(bodies.document, '$.redemption_id') as said_redemption_id,
        json_extract_string(bodies.document, '$.institution_id') as said_institution_id,
        json_extract_string(bodies.document, '$.offer_id') as offer_id,
        json_extract_string(bodies.document, '$.cardholder_token') as cardholder_token,
        json_extract_string(bodies.document, '$.cardholder_token_masked') as masked_token,
        try_cast(
            regexp_extract(
                bodies.body, '"institution_payout_amount": ?([0-9]+([.][0-9]+)?)[,}]', 1
            ) as decimal(18, 4)
        ) as institution_payout_amount,
        json_extract_string(bodies.document, '$.occurred_at') as said_occurred_at,
        json_extract_string(bodies.document, '$.transaction_ref') as transaction_ref,
        json_extract_string(bodies.document, '$.currency') as currency
    from bodies
),
compared as (
    select
        said.redemption_no, said.redemption_id, said.is_readable,
        concat_ws(
            ', ',
            case when said.event is distinct from 'redemption.completed' then 'event' end,
            case
                when said.said_redemption_id
                    is distinct from cast(redemptions.redemption_id as varchar)
                    or said.redemption_id <> redemptions.redemption_id
                    then 'redemption_id'
            end,
            case
                when said.said_institution_id
                    is distinct from cast(redemptions.institution_id as varchar)
                    then 'institution_id'
            end,
            case when said.offer_id is distinct from offers.offer_id then 'offer_id' end,
            case
                when said.cardholder_token is distinct from cardholders.cardholder_token
                    then 'cardholder_token'
            end,
            case
                when said.masked_token is distinct from masked(cardholders.cardholder_token)
                    then 'cardholder_token_masked'
            end,
            case
                when said.institution_payout_amount
                    is distinct from ledger_entries.institution_payout_amount
                    then 'institution_payout_amount'
            end,
            case
                when said.said_occurred_at
                    is distinct from strftime(redemptions.created_at, '%Y-%m-%dT%H:%M:%S.%gZ')
                    or said.occurred_at <> redemptions.created_at
                    then 'occurred_at'
            end,
            case
                when said.transaction_ref <> purchases.transaction_ref then 'transaction_ref'
            end,
            case when said.currency <> ledger_entries.currency then 'currency' end
        ) as differs
    from said
    inner join redemptions
        on redemptions.redemption_no = said.redemption_no
        and redemptions.institution_id = said.institution_id
    inner join ledger_entries
        on ledger_entries.redemption_no = redemptions.redemption_no
        and ledger_entries.institution_id = redemptions.institution_id
    inner join offers on offers.offer_no = ledger_entries.offer_no
    left join cardholders
        on cardholders.cardholder_no = ledger_entries.cardholder_no
        and cardholders.institution_id = ledger_entries.institution_id
    left join purchases
        on purchases.purchase_no = redemptions.purchase_no
        and purchases.institution_id = redemptions.institution_id
)
select compared.redemption_id, compared.is_readable, compared.differs
from compared
where not compared.is_readable
    or compared.differs <> ''
order by compared.redemption_no;

-- name: reversed_events_agree
-- Events redemption.reversed that are not of a reversed redemption, are not the only one that it has,
-- or whose body is another than its ledger entry and its purchase make today; events of no known kind.
-- Of a purchase that is not at hand the reference is not compared. Grain: one row per event.
with reversals as (
    select
        outbox.redemption_no, outbox.redemption_id, outbox.institution_id, outbox.event,
        outbox.occurred_at, outbox.body,
        count(*) over (partition by outbox.redemption_no, outbox.event) as events
    from outbox
    where outbox.event is distinct from 'redemption.completed'
)
select reversals.redemption_id, reversals.event, reversals.events, ledger_entries.status
from reversals
left join redemptions
    on redemptions.redemption_no = reversals.redemption_no
    and redemptions.institution_id = reversals.institution_id
    and redemptions.redemption_id = reversals.redemption_id
left join ledger_entries
    on ledger_entries.redemption_no = redemptions.redemption_no
    and ledger_entries.institution_id = redemptions.institution_id
    and ledger_entries.reversed_at = reversals.occurred_at
left join offers on offers.offer_no = ledger_entries.offer_no
left join currencies on currencies.currency = ledger_entries.currency
left join purchases
    on purchases.purchase_no = redemptions.purchase_no
    and purchases.institution_id = redemptions.institution_id
left join cardholders
    on cardholders.cardholder_no = ledger_entries.cardholder_no
    and cardholders.institution_id = ledger_entries.institution_id
where reversals.event is distinct from 'redemption.reversed'
    or reversals.events <> 1
    or ledger_entries.status is distinct from 'reversed'
    or reversals.body is distinct from reversal_event(
        redemptions.redemption_id, redemptions.institution_id, offers.offer_id,
        cardholders.cardholder_token, ledger_entries.institution_payout_amount,
        currencies.minor_unit, ledger_entries.reversal_reason, ledger_entries.reversed_at,
        coalesce(
            purchases.transaction_ref,
            case
                when json_valid(reversals.body)
                    then json_extract_string(reversals.body, '$.transaction_ref')
            end
        ),
        ledger_entries.currency
    )
order by reversals.redemption_no, reversals.event;

-- name: attempts_are_consecutive
-- Events whose attempts are not numbered 1, 2, 3 … up to what the event counts. Grain: one row per
-- event.
with counted as (
    select
        attempts.redemption_no, attempts.event, count(*) as attempts,
        count(distinct attempts.number) as numbers, min(attempts.number) as first_number,
        max(attempts.number) as last_number
    from attempts
    group by attempts.redemption_no, attempts.event
)
select
    outbox.redemption_id, outbox.event, outbox.attempts, coalesce(counted.attempts, 0) as attempts_found,
    counted.first_number, counted.last_number
from outbox
left join counted
    on counted.redemption_no = outbox.redemption_no
    and counted.event = outbox.event
where outbox.attempts <> coalesce(counted.attempts, 0)
    or counted.attempts <> counted.numbers
    or counted.first_number <> 1
    or counted.last_number <> counted.attempts
order by outbox.redemption_no, outbox.event;

-- name: attempts_end
-- Events that were tried more than 9 times along their schedule; one that was made due again by hand
-- has the whole schedule before it again. Attempts by hand, and those that a crash cut off, are not
-- of the schedule. Grain: one row per event.
with again as (
    select runs.run_no
    from runs
    where runs.kind = 'webhook_retry'
),
counted as (
    select
        attempts.redemption_no, attempts.event,
        count(*) filter (where attempts.error is null or attempts.error <> 'unknown') as attempts
    from attempts
    where not attempts.is_manual
    group by attempts.redemption_no, attempts.event
),
allowed as (
    select
        counted.redemption_no, counted.event, any_value(counted.attempts) as attempts,
        9 * (1 + count(again.run_no)) as most
    from counted
    inner join redemptions on redemptions.redemption_no = counted.redemption_no
    left join again on again.run_no > redemptions.run_no
    group by counted.redemption_no, counted.event
)
select
    outbox.redemption_id, outbox.event, coalesce(allowed.attempts, 0) as attempts,
    outbox.failures
from outbox
left join allowed
    on allowed.redemption_no = outbox.redemption_no
    and allowed.event = outbox.event
where allowed.attempts > allowed.most
    or outbox.failures not between 0 and 9
    or (outbox.failures = 9 and outbox.state not in ('exhausted', 'delivered'))
    or (outbox.failures < 9 and outbox.state = 'exhausted')
order by outbox.redemption_no, outbox.event;

-- name: nothing_is_sent_after_success
-- Attempts of the schedule that came after one that had delivered the event. Grain: one row per
-- attempt.
with delivered as (
    select attempts.redemption_no, attempts.event, min(attempts.number) as number
    from attempts
    where attempts.error is null
    group by attempts.redemption_no, attempts.event
)
select outbox.redemption_id, outbox.event, attempts.number, delivered.number as delivered_by
from attempts
inner join delivered
    on delivered.redemption_no = attempts.redemption_no
    and delivered.event = attempts.event
inner join outbox
    on outbox.redemption_no = attempts.redemption_no
    and outbox.event = attempts.event
where attempts.number > delivered.number
    and not attempts.is_manual
order by attempts.redemption_no, attempts.event, attempts.number;

-- name: events_follow_attempts
-- Events whose state is not what their attempts made of them. Grain: one row per event.
with tried as (
    select
        attempts.redemption_no, attempts.event, bool_or(attempts.error is null) as is_delivered
    from attempts
    group by attempts.redemption_no, attempts.event
),
scheduled as (
    select
        attempts.redemption_no, attempts.event,
        max_by(attempts.next_attempt_at is null, attempts.number) as was_last
    from attempts
    where not attempts.is_manual
        and attempts.error <> 'unknown'
    group by attempts.redemption_no, attempts.event
)
select outbox.redemption_id, outbox.event, outbox.state, outbox.attempts
from outbox
left join tried
    on tried.redemption_no = outbox.redemption_no
    and tried.event = outbox.event
left join scheduled
    on scheduled.redemption_no = outbox.redemption_no
    and scheduled.event = outbox.event
where outbox.state not in ('due', 'delivered', 'failed', 'exhausted')
    or (outbox.state = 'delivered') <> coalesce(tried.is_delivered, false)
    or (outbox.state = 'exhausted' and not coalesce(scheduled.was_last, false))
    or (outbox.state = 'failed' and coalesce(scheduled.was_last, true))
    or (outbox.state in ('due', 'failed')) <> (outbox.next_attempt_at is not null)
order by outbox.redemption_no, outbox.event;

-- name: alerts_are_of_exhausted_events
-- Last attempts of the schedule that failed and left no alert in the inbox, and alerts without such
-- an attempt. The id of a message tells what it is about: redemption and number, and the event where
-- that is not the first. Grain: one row per attempt or message.
with exhausted as (
    select
        outbox.redemption_id, attempts.number,
        derived_id(
            cast(outbox.institution_id as varchar) || chr(31) || 'webhook_exhausted' || chr(31)
            || cast(outbox.redemption_id as varchar) || ' '
            || case when outbox.event = 'redemption.completed' then '' else outbox.event || ' ' end
            || cast(attempts.number as varchar)
        ) as message_id
    from attempts
    inner join outbox
        on outbox.redemption_no = attempts.redemption_no
        and outbox.event = attempts.event
    where not attempts.is_manual
        and attempts.error <> 'unknown'
        and attempts.next_attempt_at is null
),
alerts as (
    select inbox_messages.message_id
    from inbox_messages
    where inbox_messages.kind = 'webhook_exhausted'
)
select exhausted.redemption_id, exhausted.number, alerts.message_id
from exhausted
full join alerts on alerts.message_id = exhausted.message_id
where exhausted.message_id is null
    or alerts.message_id is null
order by exhausted.redemption_id, exhausted.number, alerts.message_id;
