-- name: asked
-- Makes asked: the purchases of an institution with these numbers, which lie between two, so that
-- the engine reads what is there only. Grain: one row per purchase found.
create or replace temp table asked as
select
    purchases.purchase_no, purchases.institution_id, purchases.transaction_ref,
    purchases.cardholder_no, purchases.identifier_no, purchases.merchant_id as sent_merchant_id,
    purchases.amount, purchases.currency, purchases.transacted_at, purchases.received_at,
    purchases.import_no, purchases.line
from purchases
where purchases.institution_id = $institution_id
    and purchases.purchase_no >= list_min(cast($purchase_nos as bigint[]))
    and purchases.purchase_no <= list_max(cast($purchase_nos as bigint[]))
    and purchases.purchase_no in (select unnest(cast($purchase_nos as bigint[])));

-- name: judged
-- Makes judged: the newest decision of every purchase of asked, if there is one; latest_decisions
-- would put all decisions in groups. Its amount is what refunds had left then
-- (rules.md#net-amounts).
-- Grain: one row per decided purchase of asked.
create or replace temp table judged as
with newest as (
    select
        decisions.purchase_no, max(decisions.run_no) as run_no,
        max_by(decisions.outcome, decisions.run_no) as outcome,
        arg_max_null(decisions.merchant_no, decisions.run_no) as merchant_no
    from decisions
    where decisions.purchase_no in (select asked.purchase_no from asked)
    group by decisions.purchase_no
),
gone as (
    select newest.purchase_no, sum(refund_links.amount) as amount
    from newest
    inner join refund_links
        on refund_links.purchase_no = newest.purchase_no
        and refund_links.run_no < newest.run_no
    group by newest.purchase_no
)
select
    asked.purchase_no, asked.institution_id, asked.transaction_ref, asked.cardholder_no,
    cast(asked.amount - coalesce(gone.amount, 0) as decimal(18, 4)) as amount, asked.currency,
    asked.transacted_at, newest.run_no, newest.outcome, merchants.merchant_id
from newest
inner join asked on asked.purchase_no = newest.purchase_no
left join gone on gone.purchase_no = newest.purchase_no
left join merchants on merchants.merchant_no = newest.merchant_no;

-- name: purchases
-- Every purchase of asked with what was received, what was decided and what became of what it
-- redeemed. Grain: one row per purchase.
with stories as materialized (
    select found.*
    from stories_of((
        select list(redemptions.redemption_no)
        from asked
        inner join redemptions using (purchase_no, institution_id)
    )) as found
),
sent as materialized (
    select deliveries.*
    from deliveries
    where deliveries.redemption_no in (select stories.redemption_no from stories)
        and is_announcement(deliveries.kind)
)
select
    asked.purchase_no, asked.transaction_ref, asked.amount, asked.currency, asked.transacted_at,
    asked.received_at, imports.file_name as file, imports.file_kind, imports.import_id, asked.line,
    identifiers.merchant_identifier_type, identifiers.merchant_identifier,
    purchase_details.merchant_descriptor, asked.sent_merchant_id, cardholders.cardholder_token,
    judged.outcome as decided, judged.merchant_id, merchants.name as merchant_name,
    runs.as_of as decided_at, runs.run_id, stories.redemption_no, stories.redemption_id,
    redeemed.offer_id as redeemed_offer_id, stories.status as redemption_status,
    stories.institution_payout_amount, stories.settles_at, stories.settled_at, stories.reversed_at,
    stories.reversal_reason, stories.story, stories.story_at, stories.story_amount,
    case
        when sent.state is null
            or (
                sent.state in ('due', 'failed')
                and (
                    sent.webhook_url is null
                    or asked.institution_id not in (
                        select webhook_secrets.institution_id from webhook_secrets
                    )
                )
            )
            then 'no_webhook'
        when sent.state = 'exhausted' then 'failed'
        when sent.state in ('delivered', 'stopped') then sent.state
        when sent.attempts > 0 then 'to_retry'
        else 'to_send'
    end as delivery,
    stories.delivered_at, sent.state as webhook_state, sent.attempts as webhook_attempts,
    sent.next_attempt_at as webhook_next_attempt_at, attempts.error as webhook_error, stories.verdict,
    stories.credited_amount, stories.credited_rows, stories.credited_at, credits.credit_ref,
    stories.reconciled_at, coalesce(institutions.credit_days, 7) as credit_days
from asked
inner join institutions on institutions.institution_id = asked.institution_id
inner join cardholders
    on cardholders.cardholder_no = asked.cardholder_no
    and cardholders.institution_id = asked.institution_id
left join imports
    on imports.import_no = asked.import_no
    and imports.institution_id = asked.institution_id
left join purchase_details
    on purchase_details.purchase_no = asked.purchase_no
    and purchase_details.institution_id = asked.institution_id
left join identifiers on identifiers.identifier_no = asked.identifier_no
left join judged on judged.purchase_no = asked.purchase_no
left join merchants on merchants.merchant_id = judged.merchant_id
left join runs on runs.run_no = judged.run_no
left join stories
    on stories.purchase_no = asked.purchase_no
    and stories.run_no = judged.run_no
left join sent on sent.redemption_no = stories.redemption_no
left join attempts
    on attempts.event_no = sent.event_no
    and attempts.institution_id = sent.institution_id
    and attempts.number = sent.attempts
left join offers as redeemed on redeemed.offer_no = stories.offer_no
left join credits
    on credits.credit_no = stories.credit_no
    and credits.institution_id = asked.institution_id
order by asked.transaction_ref;

-- name: facing
-- Makes facing: every offer that a purchase of judged was held against, with what became of it.
-- These are the offers of its merchant that stand in the institution's program or that the cardholder
-- has a link to, by the version that was the newest before that run. While nobody knows the merchant
-- these are the offers of the cardholder's links. Grain: one row per purchase and offer.
create or replace temp table facing as
with ever as (
    select judged.purchase_no, link_starts.offer_no
    from judged
    inner join link_starts
        on link_starts.cardholder_no = judged.cardholder_no
        and link_starts.institution_id = judged.institution_id
        and link_starts.run_no < judged.run_no
    union
    select judged.purchase_no, offer_versions.offer_no
    from judged
    inner join offer_versions on offer_versions.merchant_id = judged.merchant_id
    inner join offers on offers.offer_no = offer_versions.offer_no
    inner join program_offers using (offer_id, institution_id)
),

numbered as (
    select ever.purchase_no, ever.offer_no, max(offer_versions.run_no) as newest_no
    from ever
    inner join judged on judged.purchase_no = ever.purchase_no
    inner join offer_versions
        on offer_versions.offer_no = ever.offer_no
        and offer_versions.run_no < judged.run_no
    group by ever.purchase_no, ever.offer_no
)

select
    numbered.purchase_no, numbered.offer_no, numbered.newest_no,
    case
        when judged.merchant_id is null then judged.outcome
        else coalesce(outcomes.outcome, 'not_enrolled')
    end as outcome
from numbered
inner join judged on judged.purchase_no = numbered.purchase_no
inner join offer_versions as newest
    on newest.offer_no = numbered.offer_no
    and newest.run_no = numbered.newest_no
left join outcomes
    on outcomes.purchase_no = numbered.purchase_no
    and outcomes.offer_no = numbered.offer_no
    and outcomes.run_no = judged.run_no
where judged.merchant_id is null
    or newest.merchant_id = judged.merchant_id;

-- name: outcomes
-- What became of every purchase of judged, and with each of the offers that it was held against; null
-- where there are none. Grain: one row per purchase and offer, or purchase.
select judged.transaction_ref, judged.outcome as decided, facing.outcome
from judged
left join facing on facing.purchase_no = judged.purchase_no;

-- name: evaluations
-- Every offer of facing with what was known when its purchase was decided: the terms in force at the
-- purchase and the dates and budget that were the newest before that run, the links before it, and
-- what purchases with an earlier turn held of the budget and of the uses. The budget counts over all
-- institutions that share it. Of those that hold it (holders) the purchases are read only where a
-- moment is the same, for the references. Grain: one row per purchase and offer.
with added as (
    select judged.purchase_no, link_starts.offer_no, link_starts.counts_from
    from judged
    inner join link_starts
        on link_starts.cardholder_no = judged.cardholder_no
        and link_starts.institution_id = judged.institution_id
        and link_starts.run_no < judged.run_no
),

numbered as (
    select
        facing.purchase_no, facing.offer_no,
        version_judged_by(facing.offer_no, judged.transacted_at, judged.run_no) as version_no,
        facing.newest_no, facing.outcome
    from facing
    inner join judged on judged.purchase_no = facing.purchase_no
),

terms as (
    select
        judged.purchase_no, judged.institution_id, judged.transaction_ref, judged.cardholder_no,
        judged.amount, judged.transacted_at, judged.run_no, numbered.offer_no, judged_by.version,
        case when judged_by.version > 1 then judged_by.known_at end as version_since,
        judged_by.min_spend, judged_by.cashback_amount, judged_by.commission_rate,
        judged_by.max_redemptions_per_cardholder, judged_by.cashback_percent,
        judged_by.commission_basis, judged_by.max_commission_amount,
        newest.budget_amount, newest.starts_at, newest.expires_at, numbered.outcome
    from numbered
    inner join judged on judged.purchase_no = numbered.purchase_no
    inner join numbered_versions as judged_by
        on judged_by.offer_no = numbered.offer_no
        and judged_by.run_no = numbered.version_no
    inner join offer_versions as newest
        on newest.offer_no = numbered.offer_no
        and newest.run_no = numbered.newest_no
),

fitting as (
    select
        terms.purchase_no, terms.institution_id, terms.transaction_ref, terms.cardholder_no,
        terms.transacted_at, terms.run_no, terms.offer_no
    from terms
    where terms.outcome in (
        'redeemed', 'outranked', 'budget_exhausted', 'redemption_limit_reached'
    )
),

holders as materialized (
    select
        fitting.purchase_no, fitting.offer_no, ledger_entries.merchant_funded_amount,
        earlier.purchased_at, earlier.institution_id, earlier.transaction_ref,
        ledger_entries.cardholder_no = fitting.cardholder_no as is_own,
        earlier.run_no < fitting.run_no
        or earlier.purchased_at < fitting.transacted_at as is_earlier
    from fitting
    inner join ledger_entries on ledger_entries.offer_no = fitting.offer_no
    inner join redemptions as earlier
        on earlier.redemption_no = ledger_entries.redemption_no
        and earlier.run_no <= fitting.run_no
        and earlier.purchase_no <> fitting.purchase_no
        and (
            earlier.run_no < fitting.run_no
            or earlier.purchased_at <= fitting.transacted_at
        )
    anti join ledger_moves
        on ledger_moves.redemption_no = ledger_entries.redemption_no
        and ledger_moves.status = 'reversed'
        and ledger_moves.run_no < fitting.run_no
),

holding as (
    select
        holders.purchase_no, holders.offer_no, holders.merchant_funded_amount,
        holders.purchased_at, holders.is_own
    from holders
    where holders.is_earlier
    union all
    select
        holders.purchase_no, holders.offer_no, holders.merchant_funded_amount,
        holders.purchased_at, holders.is_own
    from holders
    inner join fitting using (purchase_no, offer_no)
    where not holders.is_earlier
        and purchase_turn(holders.purchased_at, holders.institution_id, holders.transaction_ref)
        < purchase_turn(fitting.transacted_at, fitting.institution_id, fitting.transaction_ref)
),

held as (
    select
        holding.purchase_no, holding.offer_no, sum(holding.merchant_funded_amount) as held_amount,
        count(*) as held_by, max(holding.purchased_at) as last_held_at,
        count(*) filter (where holding.is_own) as uses,
        max(holding.purchased_at) filter (where holding.is_own) as last_used_at
    from holding
    group by holding.purchase_no, holding.offer_no
)

select
    terms.purchase_no, offers.offer_id, offers.currency, terms.outcome, terms.amount,
    terms.transacted_at, terms.min_spend, terms.cashback_amount, terms.commission_rate,
    terms.budget_amount, terms.starts_at, terms.expires_at, terms.max_redemptions_per_cardholder,
    terms.version, terms.version_since, added.counts_from as added_at, terms.cashback_percent,
    reward_of(
        terms.amount, terms.cashback_amount, terms.cashback_percent, currencies.minor_unit
    ) as reward_amount,
    terms.cashback_amount + commission_on(
        null, terms.cashback_amount, terms.commission_rate, terms.commission_basis,
        terms.max_commission_amount, currencies.minor_unit
    ) as most_amount,
    case when fitting.offer_no is not null then coalesce(held.held_amount, 0) end as held_amount,
    case when fitting.offer_no is not null then coalesce(held.held_by, 0) end as held_by,
    held.last_held_at,
    case when fitting.offer_no is not null then coalesce(held.uses, 0) end as uses,
    held.last_used_at
from terms
inner join offers on offers.offer_no = terms.offer_no
inner join currencies on currencies.currency = offers.currency
left join added
    on added.purchase_no = terms.purchase_no
    and added.offer_no = terms.offer_no
left join fitting
    on fitting.purchase_no = terms.purchase_no
    and fitting.offer_no = terms.offer_no
left join held
    on held.purchase_no = terms.purchase_no
    and held.offer_no = terms.offer_no
order by
    terms.purchase_no, reward_amount desc, terms.expires_at, offers.offer_id;

-- name: titles
-- The titles of offers in every language they have. Grain: one row per offer and language.
select offer_texts.offer_id, offer_texts.language, offer_texts.title
from offer_texts
where offer_texts.offer_id in (select unnest(cast($offer_ids as varchar[])))
    and offer_texts.title is not null;

-- name: rejects
-- The errors of rows with these refs that were not accepted. Grain: one row per error.
select
    rejects.transaction_ref, imports.file_name as file, imports.file_kind, imports.import_id,
    imports.imported_at, rejects.line, rejects.field as "column", rejects.code, rejects.message
from rejects
inner join imports using (import_no, institution_id)
where rejects.institution_id = $institution_id
    and rejects.transaction_ref in (select unnest(cast($refs as varchar[])))
order by rejects.import_no, rejects.line, rejects.field nulls first, rejects.code;

-- name: duplicates
-- The rows that came with these refs when there was a purchase of them already.
-- Grain: one row per line.
select
    duplicates.transaction_ref, imports.file_name as file, imports.file_kind, imports.import_id,
    imports.imported_at, duplicates.line, duplicates.is_conflict as conflict
from duplicates
inner join imports using (import_no, institution_id)
where duplicates.institution_id = $institution_id
    and duplicates.transaction_ref in (select unnest(cast($refs as varchar[])))
order by duplicates.import_no, duplicates.line;

-- name: withdrawn
-- The purchases of these refs that left with their file (rules.md#withdrawn-files), the newest first.
-- Grain: one row per purchase.
select
    purchases.transaction_ref, imports.file_name as file, imports.import_id, imports.imported_at,
    purchases.line, imports.withdrawn_at, imports.actor, imports.reason
from withdrawn_purchases as purchases
inner join withdrawn_imports as imports using (import_no, institution_id)
where purchases.institution_id = $institution_id
    and purchases.transaction_ref in (select unnest(cast($refs as varchar[])))
order by imports.run_no desc;

-- name: refunds
-- The refunds of the purchases of asked, and those with one of these refs, each with what it took
-- back, and what its offer asked for when the purchase was decided. They are found by their numbers
-- first, as how far a refund is, is told of few only. Grain: one row per refund.
with named as materialized (
    select refunds.refund_no
    from refunds
    where refunds.institution_id = $institution_id
        and (
            list_contains(cast($refs as varchar[]), refunds.refund_ref)
            or list_contains(cast($refs as varchar[]), refunds.original_transaction_ref)
        )
    union
    select refund_outcomes.refund_no
    from refund_outcomes
    where refund_outcomes.purchase_no in (select asked.purchase_no from asked)
),
wanted as materialized (
    select refund_states.*
    from refund_states
    where refund_states.institution_id = $institution_id
        and refund_states.refund_no in (select named.refund_no from named)
),
entries as materialized (
    select found.*
    from redemption_entries as found
    where found.redemption_no in (select wanted.redemption_no from wanted)
)
select
    wanted.refund_ref, wanted.kind, wanted.amount, wanted.currency, wanted.refunded_at,
    wanted.received_at, wanted.original_transaction_ref, purchases.transaction_ref, wanted.state,
    wanted.outcome, wanted.how, wanted.actor, wanted.reason, wanted.moved_at,
    wanted.purchase_amount, wanted.net_after, entries.redemption_id, offer_versions.min_spend,
    coalesce(-reduced.institution_payout_amount, entries.institution_payout_amount)
        as institution_payout_amount,
    imports.file_name as file, wanted.line
from wanted
left join purchases using (purchase_no, institution_id)
left join entries using (redemption_no, institution_id)
left join adjustments as reduced on reduced.refund_no = wanted.refund_no
left join offer_versions
    on offer_versions.offer_no = entries.offer_no
    and offer_versions.run_no = entries.version_no
left join imports
    on imports.import_no = wanted.import_no
    and imports.institution_id = wanted.institution_id
order by wanted.refunded_at, wanted.refund_ref;

-- name: near
-- The refs that match the pattern of refs near to one; the caller tells which of them are. One
-- expression is several times as quick as putting every ref into the form that they share. Of
-- purchases the newest $newest are looked through, and those that are named. Grain: one row per ref.
with known as (
    select purchases.transaction_ref
    from purchases
    where purchases.institution_id = $institution_id
        and purchases.purchase_no > (select last_purchase.purchase_no - $newest from last_purchase)
    union all
    select purchases.transaction_ref
    from purchases
    where purchases.institution_id = $institution_id
        and purchases.purchase_no in (select unnest(cast($purchase_nos as bigint[])))
    union all
    select rejects.transaction_ref
    from rejects
    where rejects.institution_id = $institution_id
),

final as (
    select known.transaction_ref
    from known
    where regexp_full_match(known.transaction_ref, $pattern)
        and known.transaction_ref <> $ref
)

select distinct final.transaction_ref
from final
order by final.transaction_ref
limit 1000;

-- name: known_merchants
-- Since when the merchant of the purchases of judged is known, and by whom, where a person answered
-- whose their identifier is. Grain: one row per purchase with such an answer.
select
    asked.purchase_no, max(merchant_answers.answered_at) as since,
    max_by(merchant_answers.actor, merchant_answers.answer_no) as actor,
    max_by(merchant_answers.reason, merchant_answers.answer_no) as reason
from asked
inner join judged on judged.purchase_no = asked.purchase_no
inner join merchant_answers using (identifier_no, merchant_id)
where merchant_answers.answer in ('accepted', 'new')
group by asked.purchase_no;
