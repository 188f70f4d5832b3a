-- name: known_by_id
-- What this id is of, among what has its id written down. Grain: one row, or none.
select 'redemption' as kind
from redemptions
where redemptions.institution_id = $institution_id
    and redemptions.redemption_id = try_cast($id as uuid)
union all
select 'entry'
from ledger_entries
where ledger_entries.institution_id = $institution_id
    and ledger_entries.entry_id = try_cast($id as uuid)
union all
select 'settlement'
from settlements
where settlements.institution_id = $institution_id
    and settlements.settlement_id = try_cast($id as uuid)
union all
select 'import'
from imports
where imports.institution_id = $institution_id
    and imports.import_id = try_cast($id as uuid);

-- name: known_by_line
-- Whether rows with this ref were rejected, or came again.
select 'ref' as kind
from rejects
where rejects.institution_id = $institution_id
    and rejects.transaction_ref = $id
union
select 'ref'
from duplicates
where duplicates.institution_id = $institution_id
    and duplicates.transaction_ref = $id;

-- name: known_by_refund
-- Whether a refund was received with this ref.
select 'refund' as kind
from refunds
where refunds.institution_id = $institution_id
    and refunds.refund_ref = $id;

-- name: follow_refund
-- Makes followed: the purchase that a refund is of, or none while it waits. Grain: one row.
create or replace temp table followed as
select refund_states.purchase_no, cast(null as integer) as offer_no
from refund_states
where refund_states.institution_id = $institution_id
    and refund_states.refund_ref = $id;

-- name: known_by_credit
-- Whether a credited row was received with this ref.
select 'credit' as kind
from credits
where credits.institution_id = $institution_id
    and credits.ref_hash = ref_hash(cast($institution_id as uuid), $id)
    and credits.credit_ref = $id;

-- name: follow_credit
-- Makes followed: the purchase whose redemption a credited row is of, by its redemption_id or, where
-- it has none, by the reference of the purchase; none where that is not there. Grain: one row.
create or replace temp table followed as
with credit_of_ref as materialized (
    select
        credits.redemption_id, credits.transaction_ref,
        ref_hash(credits.institution_id, credits.transaction_ref) as ref_hash
    from credits
    where credits.institution_id = $institution_id
        and credits.credit_ref = $id
)
select redemptions.purchase_no, redemptions.offer_no
from credit_of_ref
inner join redemptions on redemptions.redemption_id = credit_of_ref.redemption_id
where redemptions.institution_id = $institution_id
union all
select purchases.purchase_no, null
from credit_of_ref
inner join purchase_refs on purchase_refs.ref_hash = credit_of_ref.ref_hash
inner join purchases using (purchase_no, transaction_ref)
where credit_of_ref.redemption_id is null
    and purchases.institution_id = $institution_id;

-- name: takes_calls
-- Whether an institution ever sent a purchase in a call.
select true as is_so
from imports
where imports.institution_id = $institution_id
    and imports.file_kind = 'call'
limit 1;

-- name: follow_ref
-- Makes followed: the purchase with the ref asked for ($purchase_nos), if its row was ever accepted.
-- Grain: one row per purchase.
create or replace temp table followed as
select unnest(cast($purchase_nos as bigint[])) as purchase_no, cast(null as integer) as offer_no;

-- name: follow_redemption
-- Makes followed: the purchase of a redemption. Grain: one row per purchase.
create or replace temp table followed as
select redemptions.purchase_no, redemptions.offer_no
from redemptions
where redemptions.institution_id = $institution_id
    and redemptions.redemption_id = try_cast($id as uuid);

-- name: follow_entry
-- Makes followed: the purchase of a ledger entry. Grain: one row per purchase.
create or replace temp table followed as
select entries.purchase_no, entries.offer_no
from redemption_entries as entries
where entries.institution_id = $institution_id
    and entries.entry_id = try_cast($id as uuid);

-- name: follow_settlement
-- Makes followed: the purchases whose entries, or adjustments, a settlement took.
-- Grain: one row per purchase.
create or replace temp table followed as
with wanted as (
    select settlements.settlement_no
    from settlements
    where settlements.institution_id = $institution_id
        and settlements.settlement_id = try_cast($id as uuid)
),
taken as (
    select ledger_entries.redemption_no
    from ledger_entries
    inner join wanted on wanted.settlement_no = ledger_entries.settlement_no
    union
    select adjustments.redemption_no
    from adjustments
    inner join wanted on wanted.settlement_no = adjustments.settlement_no
)
select redemptions.purchase_no, redemptions.offer_no
from taken
inner join redemptions on redemptions.redemption_no = taken.redemption_no
where redemptions.institution_id = $institution_id;

-- name: follow_import
-- Makes followed: the purchases that an import brought. Grain: one row per purchase.
create or replace temp table followed as
select purchases.purchase_no, cast(null as integer) as offer_no
from purchases
inner join imports using (import_no, institution_id)
where purchases.institution_id = $institution_id
    and imports.import_id = try_cast($id as uuid);

-- name: follow_link
-- Makes followed: the purchases that were held against the offer of a link, with that offer. Most
-- links are passed over by the beginning of the hash that their id is made of.
-- Grain: one row per purchase; one with no purchase while there is none.
create or replace temp table followed as
with wanted as (
    select links.cardholder_no, links.offer_no
    from links
    inner join cardholders using (cardholder_no, institution_id)
    inner join offers on offers.offer_no = links.offer_no
    where links.institution_id = $institution_id
        and starts_with(
            sha256(
                cast(cast($institution_id as uuid) as varchar) || chr(31)
                || cardholders.cardholder_token || chr(31) || offers.offer_id
            ),
            $beginning
        )
        and link_id(links.institution_id, cardholders.cardholder_token, offers.offer_id)
        = try_cast($id as uuid)
),
bought as (
    select distinct purchases.purchase_no, wanted.offer_no
    from wanted
    inner join purchases
        on purchases.cardholder_no = wanted.cardholder_no
        and purchases.institution_id = $institution_id
    inner join outcomes using (purchase_no, offer_no)
)
select bought.purchase_no, wanted.offer_no
from wanted
left join bought on bought.offer_no = wanted.offer_no;

-- name: follow_transaction
-- Makes followed: the purchase with this transaction_id. Most are passed over by the beginning of
-- the hash that their id is made of; the whole id costs twice as much. Grain: one row per purchase.
create or replace temp table followed as
select purchases.purchase_no, cast(null as integer) as offer_no
from purchases
where purchases.institution_id = $institution_id
    and starts_with(
        sha256(
            'purchase' || chr(31) || cast(cast($institution_id as uuid) as varchar) || chr(31)
            || purchases.transaction_ref
        ),
        $beginning
    )
    and transaction_id(purchases.institution_id, purchases.transaction_ref)
    = try_cast($id as uuid);

-- name: refs
-- Makes followed_refs: the refs that rejected rows and repeated ones are told of, which are those
-- followed, or the ref asked for. Grain: one row per ref.
create or replace temp table followed_refs as
select purchases.transaction_ref
from followed
inner join purchases on purchases.purchase_no = followed.purchase_no
where purchases.institution_id = $institution_id
    and $is_single
union
select cast($id as varchar)
where $is_single;

-- name: imports_followed
-- Makes followed_imports: the import that was asked for, if it is one. Grain: one row, or none.
create or replace temp table followed_imports as
select imports.import_no
from imports
where imports.institution_id = $institution_id
    and imports.import_id = try_cast($id as uuid)
    and not $is_single;

-- name: refunds_followed
-- Makes refunds_followed: the refunds of the purchases followed, those that name one of the refs, and
-- those of the import, or of the ref, that was asked for. Grain: one row per refund.
create or replace temp table refunds_followed as
select
    refund_states.refund_no, refund_states.refund_ref, refund_states.kind, refund_states.amount,
    refund_states.currency, refund_states.refunded_at, refund_states.received_at,
    refund_states.import_no, refund_states.line, refund_states.state
from refund_states
where refund_states.institution_id = $institution_id
    and (
        refund_states.purchase_no in (select followed.purchase_no from followed)
        or refund_states.original_transaction_ref in (from followed_refs)
        or ($is_single and refund_states.refund_ref = $id)
        or refund_states.import_no in (from followed_imports)
    );

-- name: credits_followed
-- Makes credits_followed: the credited rows of the redemptions followed, those that name one of the
-- refs, and those of the import, or of the ref, that was asked for. Grain: one row per credited row.
create or replace temp table credits_followed as
with wanted as (
    select credits.credit_no
    from credits
    inner join redemptions on redemptions.redemption_id = credits.redemption_id
    where redemptions.institution_id = $institution_id
        and redemptions.purchase_no in (select followed.purchase_no from followed)
    union
    select credits.credit_no
    from credits
    where (credits.redemption_id is null and credits.transaction_ref in (from followed_refs))
        or credits.import_no in (from followed_imports)
    union
    select credits.credit_no
    from credits
    where $is_single
        and credits.credit_ref = $id
)
select
    credits.credit_ref, credits.status, credits.failure_code, credits.amount, credits.currency,
    credits.credited_at, credits.received_at, credits.import_no, credits.line
from credits
where credits.institution_id = $institution_id
    and credits.credit_no in (select wanted.credit_no from wanted);

-- name: links_followed
-- Makes links_followed: the links that the purchases followed were held against.
-- Grain: one row per link.
create or replace temp table links_followed as
with wanted as (
    select purchases.cardholder_no, outcomes.offer_no
    from followed
    inner join purchases
        on purchases.purchase_no = followed.purchase_no
        and purchases.institution_id = $institution_id
    inner join outcomes
        on outcomes.purchase_no = followed.purchase_no
        and outcomes.offer_no = coalesce(followed.offer_no, outcomes.offer_no)
    union
    select links.cardholder_no, links.offer_no
    from links
    inner join followed
        on followed.offer_no = links.offer_no
        and followed.purchase_no is null
    inner join cardholders using (cardholder_no, institution_id)
    inner join offers on offers.offer_no = links.offer_no
    where links.institution_id = $institution_id
        and link_id(links.institution_id, cardholders.cardholder_token, offers.offer_id)
        = try_cast($id as uuid)
)
select links.offer_no, links.added_at, links.run_no
from wanted
inner join links using (cardholder_no, offer_no)
where links.institution_id = $institution_id
    and $is_single;

-- name: events
-- Everything that happened to what is followed, the earliest first. What happened to many at once
-- stands in one row; of a single one every step and place is told.
-- Grain: one row per moment, event and detail.
with bought as (
    select
        purchases.purchase_no, purchases.transaction_ref, purchases.amount, purchases.currency,
        purchases.transacted_at, purchases.received_at, purchases.import_no, purchases.line,
        purchases.cardholder_no,
        coalesce(purchases.merchant_name, purchases.merchant_identifier) as seller
    from (select distinct followed.purchase_no from followed) as followed
    inner join identified_purchases as purchases on purchases.purchase_no = followed.purchase_no
    where purchases.institution_id = $institution_id
),

earned as (
    select
        entries.redemption_no, offers.offer_id, entries.currency, entries.institution_payout_amount
    from bought
    inner join redemption_entries as entries
        on entries.purchase_no = bought.purchase_no
        and entries.institution_id = $institution_id
    inner join offers on offers.offer_no = entries.offer_no
),

told as (
    select
        links_followed.added_at as happened_at, cast(null as bigint) as run_no, 1 as step,
        'enrolled' as event, offers.offer_id as detail, runs.actor,
        cast(null as decimal(18, 4)) as amount, cast(null as varchar) as currency
    from links_followed
    inner join offers on offers.offer_no = links_followed.offer_no
    left join runs on runs.run_no = links_followed.run_no
    union all
    select
        bought.transacted_at, null, 2, 'bought', bought.seller, null, bought.amount, bought.currency
    from bought
    where $is_single
    union all
    select
        bought.received_at, imports.run_no, 3, 'received',
        case
            when imports.file_kind = 'call' then 'call ' || cast(imports.import_id as varchar)
            else parse_filename(imports.file_name)
        end
        || case
            when not $is_single then ''
            when imports.file_kind = 'call' then ', item ' || cast(bought.line as varchar)
            else ', line ' || cast(bought.line as varchar)
        end,
        null, bought.amount, bought.currency
    from bought
    left join imports
        on imports.import_no = bought.import_no
        and imports.institution_id = $institution_id
    union all
    select
        imports.imported_at, imports.run_no, 3, 'rejected',
        rejects.code
        || case
            when $is_single
                then ': ' || rejects.message || ' (' || parse_filename(imports.file_name)
                || ', line ' || cast(rejects.line as varchar) || ')'
            else ''
        end,
        null, null, null
    from rejects
    inner join imports using (import_no, institution_id)
    where rejects.institution_id = $institution_id
        and (
            rejects.transaction_ref in (from followed_refs)
            or rejects.import_no in (from followed_imports)
        )
    union all
    select
        imports.imported_at, imports.run_no, 4, 'came again',
        case when duplicates.is_conflict then 'other content' else 'the same' end
        || case
            when $is_single
                then ' (' || parse_filename(imports.file_name)
                || ', line ' || cast(duplicates.line as varchar) || ')'
            else ''
        end,
        null, null, null
    from duplicates
    inner join imports using (import_no, institution_id)
    where duplicates.institution_id = $institution_id
        and (
            duplicates.transaction_ref in (from followed_refs)
            or duplicates.import_no in (from followed_imports)
        )
    union all
    select
        gone.refunded_at, null, 2, 'came back', gone.kind || ' ' || gone.refund_ref, null,
        gone.amount, gone.currency
    from refunds_followed as gone
    where $is_single
    union all
    select
        gone.received_at, imports.run_no, 3, 'refund received',
        parse_filename(imports.file_name)
        || case when $is_single then ', line ' || cast(gone.line as varchar) else '' end,
        null, gone.amount, gone.currency
    from refunds_followed as gone
    left join imports
        on imports.import_no = gone.import_no
        and imports.institution_id = $institution_id
    union all
    select
        runs.as_of, refund_outcomes.run_no, 5,
        case
            when refund_outcomes.outcome = 'purchase_not_received' then 'refund waits'
            when refund_links.refund_no is null then 'refund refused'
            else 'refund linked'
        end,
        case when $is_single then gone.refund_ref || ': ' else '' end || refund_outcomes.outcome
        || coalesce(' (' || refund_links.how || coalesce(': ' || refund_links.reason, '') || ')', ''),
        runs.actor, gone.amount, gone.currency
    from refunds_followed as gone
    inner join refund_outcomes
        on refund_outcomes.refund_no = gone.refund_no
        and refund_outcomes.institution_id = $institution_id
    inner join runs on runs.run_no = refund_outcomes.run_no
    left join refund_links
        on refund_links.refund_no = gone.refund_no
        and refund_links.run_no = refund_outcomes.run_no
    union all
    select
        refund_dismissals.dismissed_at, refund_dismissals.run_no, 5, 'refund dismissed',
        case when $is_single then gone.refund_ref || ': ' else '' end || refund_dismissals.reason,
        refund_dismissals.actor, gone.amount, gone.currency
    from refunds_followed as gone
    inner join refund_dismissals
        on refund_dismissals.refund_no = gone.refund_no
        and refund_dismissals.institution_id = $institution_id
    union all
    select
        runs.as_of, decisions.run_no, 5, 'decided', decisions.outcome, runs.actor,
        bought.amount, bought.currency
    from bought
    inner join decisions on decisions.purchase_no = bought.purchase_no
    inner join runs on runs.run_no = decisions.run_no
    union all
    select
        ledger_moves.moved_at, ledger_moves.run_no, 6, ledger_moves.status,
        coalesce(ledger_moves.reason, '')
        || case when $is_single then ' (' || earned.offer_id || ')' else '' end,
        ledger_moves.actor, earned.institution_payout_amount, earned.currency
    from earned
    inner join ledger_moves on ledger_moves.redemption_no = earned.redemption_no
    union all
    select
        settlements.settled_at, settlements.run_no, 7, 'deducted',
        'settlement ' || cast(settlements.settlement_id as varchar), null,
        adjustments.institution_payout_amount, adjustments.currency
    from earned
    inner join adjustments
        on adjustments.redemption_no = earned.redemption_no
        and adjustments.institution_id = $institution_id
    inner join settlements using (settlement_no, institution_id)
    union all
    select
        bank_bookings.booked_at, null, 11, 'bank: ' || bank_bookings.status,
        'statement ' || bank_bookings.number || coalesce(', ' || bank_bookings.code, ''), null,
        bank_bookings.amount, bank_bookings.currency
    from (
        select distinct lines.number
        from earned
        inner join documented_amounts as lines
            on lines.redemption_no = earned.redemption_no
            and lines.institution_id = $institution_id
    ) as stated
    inner join bank_bookings
        on bank_bookings.number = stated.number
        and bank_bookings.institution_id = $institution_id
    where bank_bookings.booked_at is not null
    union all
    select
        lines.closed_at, lines.run_no, case lines.document when 'statement' then 9 else 10 end,
        case lines.document when 'statement' then 'stated' else 'invoiced' end,
        lines.title || ' ' || lines.number, lines.actor, lines.amount, lines.currency
    from earned
    inner join documented_amounts as lines
        on lines.redemption_no = earned.redemption_no
        and lines.institution_id = $institution_id
    union all
    select
        case when $is_single then attempts.started_at else runs.as_of end, attempts.run_no, 8,
        case when outbox.moot_when = 'not_announced' then 'reversal ' else '' end
        || case when attempts.error is null then 'delivered' else 'not delivered' end,
        case when $is_single then 'attempt ' || cast(attempts.number as varchar) || ': ' else '' end
        || coalesce(attempts.error, 'status ' || cast(attempts.http_status as varchar), ''),
        null, earned.institution_payout_amount, earned.currency
    from earned
    inner join attempts
        on attempts.redemption_no = earned.redemption_no
        and attempts.institution_id = $institution_id
    inner join outbox using (event_no, institution_id)
    left join runs on runs.run_no = attempts.run_no
    union all
    select
        given.credited_at, null, 9,
        case given.status when 'credited' then 'credited' else 'credit ' || given.status end,
        given.credit_ref || coalesce(': ' || given.failure_code, ''), null, given.amount,
        given.currency
    from credits_followed as given
    where $is_single
    union all
    select
        given.received_at, imports.run_no, 10, 'credit received',
        parse_filename(imports.file_name)
        || case when $is_single then ', line ' || cast(given.line as varchar) else '' end,
        null, given.amount, given.currency
    from credits_followed as given
    left join imports
        on imports.import_no = given.import_no
        and imports.institution_id = $institution_id
)

select
    told.happened_at, told.event, told.detail, coalesce(told.actor, runs.actor) as actor,
    told.currency, sum(told.amount) as amount, count(*) as times
from told
left join runs on runs.run_no = told.run_no
group by
    told.happened_at, told.step, told.event, told.detail, coalesce(told.actor, runs.actor),
    told.currency
order by
    told.happened_at, min(told.run_no) nulls first, told.step, told.detail nulls first,
    actor nulls first;

-- name: redeemed
-- The redemptions of what is followed. Grain: one row per redemption.
select redemptions.redemption_no
from followed
inner join redemptions on redemptions.purchase_no = followed.purchase_no
where redemptions.institution_id = $institution_id;

-- name: waiting
-- What the purchases that are followed wait for, and until when; latest_decisions would put all
-- decisions in groups, and all entries and deliveries would be joined. Grain: one row.
with entries as materialized (
    select found.*
    from redemption_entries as found
    where found.purchase_no in (select followed.purchase_no from followed)
),

sent as materialized (
    select
        deliveries.redemption_no, deliveries.institution_id,
        count(*) filter (where deliveries.state in ('due', 'failed')) as to_send,
        min(deliveries.next_attempt_at) filter (where deliveries.state in ('due', 'failed'))
            as sends_at,
        count(*) filter (
            where deliveries.state = 'exhausted' and deliveries.moot_because is null
        ) as exhausted
    from deliveries
    where deliveries.redemption_no in (select entries.redemption_no from entries)
    group by deliveries.redemption_no, deliveries.institution_id
),

newest as (
    select decisions.purchase_no, max_by(decisions.outcome, decisions.run_no) as outcome
    from decisions
    where decisions.purchase_no in (select followed.purchase_no from followed)
    group by decisions.purchase_no
),

states as (
    select
        coalesce(newest.outcome, 'undecided') as outcome, entries.status, entries.settles_at,
        adjustments.redemption_no is not null as is_owed_back, deliveries.to_send,
        deliveries.sends_at, deliveries.exhausted
    from (select distinct followed.purchase_no from followed) as followed
    inner join purchases
        on purchases.purchase_no = followed.purchase_no
        and purchases.institution_id = $institution_id
    left join newest on newest.purchase_no = purchases.purchase_no
    left join entries
        on entries.purchase_no = purchases.purchase_no
        and entries.institution_id = purchases.institution_id
    left join adjustments
        on adjustments.redemption_no = entries.redemption_no
        and adjustments.institution_id = entries.institution_id
        and adjustments.settlement_no is null
        and adjustments.refund_no is null
    left join sent as deliveries
        on deliveries.redemption_no = entries.redemption_no
        and deliveries.institution_id = entries.institution_id
)

select
    count(*) filter (where states.outcome = 'undecided') as to_match,
    count(*) filter (where states.outcome = 'merchant_unresolved') as unresolved,
    count(*) filter (where states.status = 'pending') as to_settle,
    min(states.settles_at) filter (where states.status = 'pending') as settles_at,
    count(*) filter (where states.is_owed_back) as to_deduct,
    cast(coalesce(sum(states.to_send), 0) as bigint) as to_send,
    min(states.sends_at) as sends_at,
    cast(coalesce(sum(states.exhausted), 0) as bigint) as exhausted,
    (
        select count(*)
        from refunds_followed
        where refunds_followed.state = 'waiting'
    ) as to_apply
from states;
