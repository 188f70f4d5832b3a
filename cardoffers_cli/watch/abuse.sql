-- name: keep_look
-- Writes how far a look at an institution has gone: all that is there by now. Grain: one row per
-- institution and run; a run that looks again finds nothing new.
insert into watch_looks (institution_id, run_no, redemption_no, instrument_no)
select
    $institution_id, $run_no,
    coalesce((select max(redemptions.redemption_no) from redemptions), 0),
    coalesce((select max(instruments.instrument_no) from instruments), 0);

-- name: last_look
-- How far the newest look at an institution went. Grain: one row, or none before the first.
select run_no, redemption_no, instrument_no
from watch_looks
where institution_id = $institution_id
order by run_no desc
limit 1;

-- name: shared_instruments
-- The instruments that three cardholders or more have, one of them since a look. Grain: one row per
-- instrument, named by the lowest of its numbers.
with new_tokens as (
    select distinct instruments.instrument_token
    from instruments
    where instruments.institution_id = $institution_id
        and instruments.instrument_no > $instrument_no
)
select
    'instrument_shared' as code,
    'instrument ' || cast(min(instruments.instrument_no) as varchar) as subject,
    {'cardholders': count(distinct instruments.cardholder_no)} as figures
from instruments
inner join new_tokens on new_tokens.instrument_token = instruments.instrument_token
where instruments.institution_id = $institution_id
group by instruments.instrument_token
having count(distinct instruments.cardholder_no) >= 3
order by subject;

-- name: busy_cardholders
-- The cardholders with more redemptions since a look than 99.9 % of all who have any, where these are
-- 1,000 or more: 10 at least, and twice what the 99.9 % have. Grain: one row per cardholder.
with earned as (
    select redemptions.cardholder_no, count(*) as redemptions
    from redemptions
    where redemptions.institution_id = $institution_id
        and redemptions.redemption_no > $redemption_no
    group by redemptions.cardholder_no
),
bounds as (
    select quantile_disc(earned.redemptions, 0.999) as most, count(*) as cardholders
    from earned
)
select
    'cardholder_busy' as code,
    'cardholder ' || cast(earned.cardholder_no as varchar) as subject,
    {
        'redemptions': earned.redemptions, 'most_of_others': bounds.most,
        'cardholders': bounds.cardholders
    } as figures
from earned
cross join bounds
where bounds.cardholders >= 1000
    and earned.redemptions >= greatest(10, 2 * bounds.most)
order by subject;

-- name: concentrated_merchants
-- The merchants of whose redemptions since a look, 20 or more, five cardholders or fewer earned 80 %.
-- Grain: one row per merchant.
with earned as (
    select
        ledger_entries.merchant_id, ledger_entries.cardholder_no, count(*) as redemptions,
        sum(ledger_entries.institution_payout_amount) as amount
    from ledger_entries
    where ledger_entries.institution_id = $institution_id
        and ledger_entries.redemption_no > $redemption_no
    group by ledger_entries.merchant_id, ledger_entries.cardholder_no
),
ranked as (
    select
        earned.*,
        row_number() over (
            partition by earned.merchant_id order by earned.amount desc, earned.cardholder_no
        ) as place
    from earned
)
select
    'merchant_concentrated' as code, cast(ranked.merchant_id as varchar) as subject,
    {
        'redemptions': cast(sum(ranked.redemptions) as bigint), 'cardholders': count(*),
        'payout': sum(ranked.amount),
        'payout_of_five': sum(ranked.amount) filter (where ranked.place <= 5)
    } as figures
from ranked
group by ranked.merchant_id
having sum(ranked.redemptions) >= 20
    and sum(ranked.amount) filter (where ranked.place <= 5) >= 0.8 * sum(ranked.amount)
order by subject;

-- name: refunds_after_settlement
-- The cardholders who gave back, by refunds linked since a look, what had been settled three days
-- before or less. Grain: one row per cardholder.
select
    'refund_after_settlement' as code,
    'cardholder ' || cast(redemptions.cardholder_no as varchar) as subject,
    {
        'refunds': count(*), 'refunded': sum(refund_links.amount),
        'payout': sum(ledger_entries.institution_payout_amount)
    } as figures
from refund_links
inner join refunds using (refund_no, institution_id)
inner join redemptions using (purchase_no, institution_id)
inner join ledger_entries using (redemption_no, institution_id)
where refund_links.institution_id = $institution_id
    and refund_links.run_no > $run_no
    and refunds.refunded_at >= ledger_entries.settled_at
    and refunds.refunded_at < ledger_entries.settled_at + interval 3 day
group by redemptions.cardholder_no
order by subject;

-- name: told_lately
-- What the watch has told of an institution in the 30 days before. Grain: one row per code and subject.
select distinct code, subject
from watch_findings
where institution_id = $institution_id
    and about_on > cast($now as date) - 30
    and code in (select unnest(cast($codes as varchar[])));
