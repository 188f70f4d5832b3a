-- Ids that are derived from what they identify, so that doing a step twice makes the same id.
-- Amounts: rounding, the commission, and how an amount is written.
-- When a key ends, the hash of an act, and the rows that acts made.

-- name: derived_id
-- A UUID (RFC 9562, version 8) from the SHA-256 of a text.
create or replace macro derived_id(content) as cast(
    regexp_replace(substr(sha256(content), 1, 32), '^(.{12}).(.{3}).(.{15})$', '\18\2a\3') as uuid
);

-- name: link_id
-- The cardholder_offer_id of a link, from what it ties together (rules.md#ids).
create or replace macro link_id(institution_id, cardholder_token, offer_id) as derived_id(
    cast(institution_id as varchar) || chr(31) || cardholder_token || chr(31) || offer_id
);

-- name: transaction_id
-- The public id of a purchase.
create or replace macro transaction_id(institution_id, transaction_ref) as derived_id(
    'purchase' || chr(31) || cast(institution_id as varchar) || chr(31) || transaction_ref
);

-- name: statement_id
-- The id of a statement in events, by its number.
create or replace macro statement_id(institution_id, number) as derived_id(
    'statement' || chr(31) || cast(institution_id as varchar) || chr(31) || number
);

-- name: payout_id
-- The id of a payment of a statement in events, by its end-to-end id.
create or replace macro payout_id(institution_id, payment_id) as derived_id(
    'payout' || chr(31) || cast(institution_id as varchar) || chr(31) || payment_id
);

-- name: text_hash
-- 64 bits of the MD5 of a text, as a number: the same for ever, whatever engine computes it.
create or replace macro text_hash(content) as cast('0x' || substr(md5(content), 1, 16) as ubigint);

-- name: month_ended
-- The month that ended at a moment, of whichever time zone; the same of `kernel/words/periods.py`.
create or replace macro month_ended(to_at) as strftime(to_at - interval 15 days, '%Y-%m');

-- name: hash_of_institution
-- The number that a purchase is found by, of the hash of its reference: it differs by institution,
-- whose part is computed once where it is one.
create or replace macro hash_of_institution(hash_of_text, institution_id) as xor(
    hash_of_text, text_hash(cast(institution_id as varchar))
);

-- name: ref_hash
-- The same of an institution and a reference. It is stored (purchase_refs), so it must never change.
create or replace macro ref_hash(institution_id, transaction_ref) as hash_of_institution(
    text_hash(transaction_ref), institution_id
);

-- name: round_to_minor_unit
-- An amount rounded half up (amounts are not negative) to 0, 2, 3 or 4 decimals. Each branch is
-- cast: left alone, the result would take the scale of the first one.
create or replace macro round_to_minor_unit(amount, minor_unit) as case minor_unit
    when 0 then cast(round(amount, 0) as decimal(18, 4))
    when 2 then cast(round(amount, 2) as decimal(18, 4))
    when 3 then cast(round(amount, 3) as decimal(18, 4))
    when 4 then cast(round(amount, 4) as decimal(18, 4))
end;

-- name: commission_of
-- The commission on one redemption: the one place of the formula in SQL (rules.md#ledger-amounts). Widened
-- to 38 digits before the multiplication.
create or replace macro commission_of(cashback_amount, commission_rate, minor_unit) as
    round_to_minor_unit(cast(cashback_amount as decimal(28, 4)) * commission_rate, minor_unit);

-- name: reward_of
-- The cashback of one redemption (rules.md#percent-offers), of a fixed offer its amount; plans, which
-- have no macros, write the formula out.
create or replace macro reward_of(spent, cashback_amount, cashback_percent, minor_unit) as case
    when cashback_percent is null then cashback_amount
    else least(cashback_amount, round_to_minor_unit(
        cast(spent as decimal(28, 4)) * cashback_percent * 0.01, minor_unit
    ))
end;

-- name: commission_on
-- The commission on one redemption, of its cashback or of what was spent, and at most its limit; where
-- what was spent is null the most that it can be, null without a limit.
create or replace macro commission_on(
    spent, reward, commission_rate, commission_basis, max_commission_amount, minor_unit
) as least(
    commission_of(if(commission_basis = 'spend', spent, reward), commission_rate, minor_unit),
    max_commission_amount
);

-- name: amount_text
-- An amount as a number token with exactly its currency's decimals.
create or replace macro amount_text(amount, minor_unit) as case minor_unit
    when 0 then cast(cast(amount as decimal(18, 0)) as varchar)
    when 2 then cast(cast(amount as decimal(18, 2)) as varchar)
    when 3 then cast(cast(amount as decimal(18, 3)) as varchar)
    when 4 then cast(amount as varchar)
end;

-- name: key_ends_at
-- When a key stops working by itself: the earlier of its expiry and the end of its overlap.
create or replace macro key_ends_at(expires_at, retires_at) as least(
    coalesce(expires_at, retires_at), coalesce(retires_at, expires_at)
);

-- name: act_hash
-- The hash of a row of the log of acts: over every column of it and the hash before. The one place of
-- the rule; writing and verifying both use it.
create or replace macro act_hash(act) as sha256(
    concat_ws(
        chr(31), act.previous_hash, act.act_no, act.event_id,
        coalesce(cast(act.run_no as varchar), ''), act.happened_at,
        coalesce(cast(act.institution_id as varchar), ''),
        coalesce(cast(act.key_id as varchar), ''), act.kind, coalesce(act.subject, ''), act.actor,
        coalesce(act.approver, ''), coalesce(act.row_sha256, ''), act.details
    )
);

-- name: values_sha256
-- The digest of some values, as JSON. The one place of the rule.
create or replace macro values_sha256(content) as sha256(cast(to_json(content) as varchar));

-- name: row_sha256
-- The digest of a row: of its columns that have a value. Reasons, names of files and what is written
-- of a payment once more are in none: the first are masked and erased. A column that is added later
-- has no value in older rows, whose digest stays.
create or replace macro row_sha256(content) as values_sha256(
    json_merge_patch('{}', to_json(content), '{
        "reason": null, "file_name": null, "content": null, "withdrawn_at": null,
        "withdrawn_by": null, "withdrawn_reason": null, "withdrawn_run_no": null
    }')
);

-- name: file_acts
-- The acts of files that were taken, a part of view act_rows. Grain: one row per file.
create or replace view file_acts as
with files as (
    select run_no, import_id, institution_id, file_sha256, kind_of_rows, accepted, amount_accepted
    from imports
    where file_kind <> 'call'
    union all
    select null, import_id, institution_id, file_sha256, kind_of_rows, accepted, amount_accepted
    from withdrawn_imports
)

select
    'file_taken' as kind, run_no, institution_id, cast(import_id as varchar) as subject,
    values_sha256(row(file_sha256, kind_of_rows, accepted, amount_accepted)) as row_sha256
from files;

-- name: payment_acts
-- The acts of settlements, of payments and of what banks say, a part of view act_rows.
-- Grain: one row per kind and subject.
create or replace view payment_acts as
select
    'settled' as kind, run_no, institution_id, cast(settlement_id as varchar) as subject,
    row_sha256(settlements) as row_sha256
from settlements
union all
select 'payout_exported', run_no, institution_id, payment_id, row_sha256(payouts)
from payouts
union all
select 'payout_withdrawn', withdrawn_run_no, institution_id, payment_id,
    values_sha256(row(withdrawn_at, withdrawn_by, withdrawn_run_no))
from payouts
where withdrawn_at is not null
union all
select 'bank_file_taken', run_no, null, 'bank file ' || bank_file_no, sha256(concat(
    row_sha256(bank_files), (
        select string_agg(row_sha256(entries) order by entries.entry_no, entries.entry_id)
        from bank_entries as entries
        where entries.bank_file_no = bank_files.bank_file_no
    ), (
        select string_agg(row_sha256(bank_statements) order by to_on, opening, closing)
        from bank_statements
        where bank_statements.bank_file_no = bank_files.bank_file_no
    )
))
from bank_files
union all
select 'receipt_allocated', max(run_no), null, cast(entry_id as varchar),
    sha256(string_agg(row_sha256(bank_allocations) order by run_no, number))
from bank_allocations
group by entry_id;

-- name: act_rows
-- The kinds of acts, one SELECT each: what is done to a subject, and the digest of the rows that did
-- it, from their own table (rules.md#acts). Of what is done again to the same subject, as a setting,
-- the digest is of all that was done to it until now, and of how it is. `run_no` is the run whose end
-- logs it; null where whoever does it logs it, or where its file was withdrawn. No reason, name of a
-- file, reference or token is in a digest or a subject: those are masked and erased.
-- Grain: one row per kind, institution and subject.
create or replace view act_rows as
with events (field, kind) as (
    values
        ('account', 'account_changed'), ('account_holder', 'account_changed'),
        ('account_address', 'account_changed'),
        ('approval_limit', 'approval_policy_changed'), ('approvals', 'approval_policy_changed'),
        ('clawback_days', 'refund_policy_changed'), ('hold_short', 'hold_short_changed'),
        ('legal_hold', 'legal_hold_changed'), ('numbers', 'numbers_declared'),
        ('refund_auto_link', 'refund_policy_changed'), ('watch', 'watch_changed'),
        ('refund_window_days', 'refund_policy_changed'), ('time_zone', 'time_zone_changed'),
        ('webhook_url', 'webhook_set'),
        ('shares_tokens_with', 'token_sharing_changed'), ('webhook_events', 'webhook_set')
),

changes as (
    select
        log.field in ('account_holder', 'account_address', 'name', 'tax_id', 'tax_note',
            'address') as is_text,
        coalesce(events.kind, 'settings_changed') as kind, log.institution_id, log.run_no,
        log.audit_no as place,
        values_sha256(row(log.audit_no, log.run_no, log.happened_at, log.actor, log.field, if(
            is_text, null, row(log.old_value, log.new_value)
        ))) as digest,
        if(is_text, null, log.field || (to_json(institutions) ->> log.field)) as state
    from audit_log as log
    left join institutions on institutions.institution_id = log.institution_id
    left join events on events.field = log.field
    where log.subject = 'institution'
    union all
    select null, 'legal_hold_changed', institution_id, run_no, hold_no, row_sha256(legal_holds),
        null
    from legal_holds
    union all
    select null, 'account_changed', institution_id, null, null,
        values_sha256(row(account, set_at, set_by, usable_at)), null
    from institution_accounts
),

settings as (
    select
        kind, institution_id, max(run_no) as run_no,
        string_agg(digest order by place, digest) as digests,
        string_agg(distinct state order by state) as states
    from changes
    group by kind, institution_id
),

reversals as (
    select run_no, row_sha256(ledger_moves) as digest
    from ledger_moves
    where status = 'reversed'
    union all
    select cast(content ->> 'run_no' as bigint), row_sha256(cast(content as json))
    from withdrawn_rows
    where table_name = 'ledger_moves'
        and (content ->> 'status') = 'reversed'
)

select
    settings.kind, settings.run_no, settings.institution_id,
    coalesce(institutions.slug, cast(settings.institution_id as varchar)) as subject,
    values_sha256(row(settings.digests, settings.states)) as row_sha256
from settings
left join institutions on institutions.institution_id = settings.institution_id
union all
select 'terms_changed', run_no, null, 'run ' || run_no,
    sha256(string_agg(row_sha256(offer_versions) order by offer_no))
from offer_versions
group by run_no
union all
select act.kind, null, institution_id, cast(key_id as varchar), act.digest
from api_keys, (values
    ('key_created', values_sha256(row(key_hash, scopes, created_at, expires_at)), created_at),
    ('key_rotated', values_sha256(row(replaced_by, rotated_at, retires_at)), rotated_at),
    ('key_revoked', values_sha256(row(revoked_at)), revoked_at)
) as act (kind, digest, done_at)
where act.done_at is not null
union all
select 'webhook_secret_made', null, institution_id, institutions.slug,
    sha256(string_agg(row_sha256(webhook_secrets) order by secret_no))
from webhook_secrets
inner join institutions using (institution_id)
group by institution_id, institutions.slug
union all
select kind, run_no, institution_id, subject, row_sha256
from file_acts
union all
select 'file_undone', run_no, institution_id, cast(import_id as varchar),
    row_sha256(withdrawn_imports)
from withdrawn_imports
union all
select 'redemptions_reversed', run_no, null, 'run ' || run_no,
    sha256(string_agg(digest order by digest))
from reversals
group by run_no
union all
select 'refund_linked', run_no, institution_id, 'refund ' || refund_no, row_sha256(refund_links)
from refund_links
where how = 'person'
union all
select 'refund_dismissed', run_no, institution_id, 'refund ' || refund_no,
    row_sha256(refund_dismissals)
from refund_dismissals
union all
select 'finding_accepted', max(run_no), institution_id, cast(finding_id as varchar),
    sha256(string_agg(row_sha256(finding_acceptances) order by run_no))
from finding_acceptances
group by institution_id, finding_id
union all
select 'statement_closed', run_no, institution_id, number, sha256(concat(
    row_sha256(statements), (
        select string_agg(row_sha256(closed_offers) order by offer_no, merchant_id)
        from closed_offers
        where closed_offers.document = 'statement'
            and closed_offers.closing_no = statements.statement_no
    )
))
from statements
union all
select 'invoices_closed', run_no, null, month_ended(to_at), sha256(concat(
    row_sha256(invoice_periods), (
        select string_agg(row_sha256(invoices) order by invoices.number, invoices.invoice_no)
        from invoices
        where invoices.period_no = invoice_periods.period_no
    ), (
        select string_agg(row_sha256(closed_offers) order by offer_no, merchant_id)
        from closed_offers
        where closed_offers.document = 'invoice'
            and closed_offers.closing_no = invoice_periods.period_no
    )
))
from invoice_periods
union all
select 'invoice_set', max(run_no), null, number,
    sha256(string_agg(row_sha256(legal_invoices) order by run_no))
from legal_invoices
group by number
union all
select 'invoice_settled', max(run_no), null, number,
    sha256(string_agg(row_sha256(invoice_settlements) order by run_no))
from invoice_settlements
group by number
union all
from payment_acts
union all
select 'approval_' || act.kind, null, institution_id, cast(approval_id as varchar), act.digest
from approvals, (values
    ('requested', values_sha256(row(number, action, amount, currency, digest, maker, requested_at,
        expires_at)), requested_at),
    ('signed', values_sha256(row(signed_by, request_signature)),
        if(signed_by is null, null, requested_at)),
    (answer, values_sha256(row(answered_by, answered_at, answer_signature)), answered_at),
    ('used', values_sha256(row(used_by, used_at, used_run_no)), used_at)
) as act (kind, digest, done_at)
where act.done_at is not null
union all
select 'approver_' || act.kind, act.run_no, institution_id, name,
    values_sha256(row(public_key, institution_id, limit_amount, currency, act.run_no))
from approvers, (values ('added', added_run_no), ('removed', removed_run_no)) as act (kind, run_no)
where act.run_no is not null
union all
select 'cardholder_erased', null, institution_id, cast(erasure_id as varchar),
    values_sha256(row(token_hash, erased_at))
from erasures;

-- name: unlogged_acts
-- What a run did, by act_rows or a part of it, and the log does not have. Grain: one row per act.
create or replace macro unlogged_acts(rows_of, of_run_no) as table
select done.institution_id, done.kind, done.subject, done.row_sha256
from query_table(rows_of) as done
anti join acts using (kind, subject, row_sha256)
where done.run_no = of_run_no;
