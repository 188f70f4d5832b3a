-- name: doubt_forms
-- reads: staged_doubts(field, length, form)
-- The forms of the doubtful numbers. Grain: one row per form.
select distinct field, length, form
from staged_doubts;

-- name: known_numbers
-- reads: staged_doubts(field, form, text)
-- makes: known_numbers(field, text)
-- Makes known_numbers: the doubtful texts that are known to be no card numbers, as the catalogue
-- holds them as merchants' identifiers, or the institution sent them before as the same field and
-- they were accepted. Grain: one row per field and text.
create temp table known_numbers as
with doubts as (
    select distinct field, text
    from staged_doubts
    where form <> 'track'
),
identified as materialized (
    select doubts.field, doubts.text, identifiers.identifier_no, identifiers.merchant_id
    from doubts
    inner join identifiers on identifiers.merchant_identifier = doubts.text
    where doubts.field in ('card_acceptor_id', 'merchant_identifier')
),
sent as (
    select distinct identifier_no
    from purchases
    where institution_id = $institution_id
        and identifier_no in (select identified.identifier_no from identified)
)
select field, text
from identified
where merchant_id is not null
    or identifier_no in (select sent.identifier_no from sent)
union
select doubts.field, doubts.text
from doubts
inner join purchase_refs
    on purchase_refs.ref_hash = ref_hash($institution_id, doubts.text)
where doubts.field in ('transaction_ref', 'original_transaction_ref')
union
select doubts.field, doubts.text
from doubts
inner join refunds on refunds.ref_hash = ref_hash($institution_id, doubts.text)
where doubts.field = 'refund_ref'
    and refunds.institution_id = $institution_id
union
select doubts.field, doubts.text
from doubts
inner join credits on credits.ref_hash = ref_hash($institution_id, doubts.text)
where doubts.field = 'credit_ref'
    and credits.institution_id = $institution_id;

-- name: no_known_numbers
-- makes: known_numbers(field, text)
-- Makes the empty table of known numbers, for a check without a store. Grain as known_numbers.
create temp table known_numbers as
select cast(null as varchar) as field, cast(null as varchar) as text
where 1 = 0;

-- name: refused_numbers
-- reads: staged_doubts(line, field, length, form, text), known_numbers(field, text)
-- makes: refused_numbers(line, field)
-- Makes refused_numbers: the doubtful numbers that are card numbers, because they are of one of
-- these forms ($forms) and not known. Grain: one row per line and field.
create temp table refused_numbers as
with forms as (
    select
        unnest(
            cast($forms as struct(field varchar, length bigint, form varchar)[]),
            recursive := true
        )
)
select distinct staged_doubts.line, staged_doubts.field
from staged_doubts
inner join forms using (field, length, form)
anti join known_numbers using (field, text);

-- name: refused_rows
-- reads: staged(line), refused_numbers(line)
-- How many valid rows hold a refused number.
select count(*) as refused
from staged
where staged.line in (select refused_numbers.line from refused_numbers);

-- name: refused_findings
-- reads: refused_numbers(line, field), staged(line, transaction_ref)
-- changes: staged_findings(line, transaction_ref, field, code, level, message)
-- Appends a finding for every refused number, with the reference of its row (the field $reference)
-- unless that is one.
insert into staged_findings
select
    refused_numbers.line,
    case when refused_references.line is null then staged.transaction_ref end,
    refused_numbers.field, $code, $level, refused_numbers.field || $message
from refused_numbers
left join staged on staged.line = refused_numbers.line
left join refused_numbers as refused_references
    on refused_references.line = refused_numbers.line
    and refused_references.field = $reference;

-- name: show_references
-- reads: staged_doubts(line, field, text), refused_numbers(line, field)
-- changes: staged_findings(line, transaction_ref)
-- Puts the references (the field $reference) that are none of the refused numbers into the findings,
-- which left them out.
update staged_findings
set transaction_ref = staged_doubts.text
from staged_doubts
where staged_doubts.line = staged_findings.line
    and staged_doubts.field = $reference
    and not exists (
        select 1
        from refused_numbers
        where refused_numbers.line = staged_doubts.line
            and refused_numbers.field = staged_doubts.field
    );

-- name: refuse
-- reads: refused_numbers(line)
-- changes: staged(line)
-- Removes the rows with refused numbers from staged.
delete from staged
where staged.line in (select refused_numbers.line from refused_numbers);

-- name: refuse_details
-- reads: refused_numbers(line)
-- changes: staged_details(line)
-- Removes the optional fields of rows that are not staged any more.
delete from staged_details
where staged_details.line in (select refused_numbers.line from refused_numbers);

-- name: refuse_tokens
-- reads: staged(payer)
-- changes: staged_tokens(payer)
-- Removes the tokens that no staged row has any more.
delete from staged_tokens
where staged_tokens.payer not in (select staged.payer from staged);

-- name: refuse_merchants
-- reads: staged(identifier)
-- changes: staged_merchants(identifier)
-- Removes the identifiers that no staged row has any more, among them those that are refused.
delete from staged_merchants
where staged_merchants.identifier not in (
    select staged.identifier
    from staged
    where staged.identifier is not null
);

-- name: doubtful_purchases
-- reads: staged_doubts(line, field, text), staged(line)
-- The references of staged rows that look like card numbers. Grain: one row per reference.
select distinct staged_doubts.text as transaction_ref
from staged_doubts
inner join staged on staged.line = staged_doubts.line
where staged_doubts.field = 'transaction_ref';

-- name: take_masked_purchases
-- changes: staged(transaction_ref, hash_of_text)
-- Gives staged rows the masked reference that the institution has a purchase of, in the place of
-- their own ($masks, a list of structs): they are duplicates of it.
update staged
set transaction_ref = masks.masked, hash_of_text = text_hash(masks.masked)
from masks_of($masks) as masks
inner join purchases on purchases.transaction_ref = masks.masked
where masks.transaction_ref = staged.transaction_ref
    and purchases.institution_id = $institution_id;

-- name: doubtful_refunds
-- reads: staged_doubts(line, field), staged(line, original_transaction_ref)
-- The purchases named by staged refunds whose references look like card numbers. Grain: one row per
-- reference.
select distinct staged.original_transaction_ref as transaction_ref
from staged_doubts
inner join staged on staged.line = staged_doubts.line
where staged_doubts.field = 'original_transaction_ref'
    and staged.original_transaction_ref is not null;

-- name: take_masked_refunds
-- changes: staged(original_transaction_ref)
-- Lets staged refunds name the masked reference that the institution has a purchase of, in the place
-- of the one that they came with ($masks, a list of structs).
update staged
set original_transaction_ref = masks.masked
from masks_of($masks) as masks
inner join purchases on purchases.transaction_ref = masks.masked
where masks.transaction_ref = staged.original_transaction_ref
    and purchases.institution_id = $institution_id;

-- name: doubtful_credits
-- reads: staged_doubts(line, field), staged(line, redeemed_ref)
-- The purchases named by staged credited rows whose references look like card numbers. Grain: one row
-- per reference.
select distinct staged.redeemed_ref as transaction_ref
from staged_doubts
inner join staged on staged.line = staged_doubts.line
where staged_doubts.field = 'transaction_ref'
    and staged.redeemed_ref is not null;

-- name: take_masked_credits
-- changes: staged(redeemed_ref)
-- Lets staged credited rows name the masked reference that the institution has a purchase of, in the
-- place of the one that they came with ($masks, a list of structs).
update staged
set redeemed_ref = masks.masked
from masks_of($masks) as masks
inner join purchases on purchases.transaction_ref = masks.masked
where masks.transaction_ref = staged.redeemed_ref
    and purchases.institution_id = $institution_id;

-- name: same_refs
-- reads: staged(line, hash_of_text)
-- makes: same_refs(line, purchase_no)
-- Makes same_refs: the staged rows with the purchases whose reference has the same hash, which are
-- hardly ever others than those of the same reference. Grain: one row per such pair.
create temp table same_refs as
with hashed as (
    select
        staged.line, hash_of_institution(staged.hash_of_text, $institution_id) as ref_hash
    from staged
)
select hashed.line, purchase_refs.purchase_no
from hashed
inner join purchase_refs on purchase_refs.ref_hash = hashed.ref_hash;

-- name: known_refunds
-- reads: staged_refunds(line, refund_ref, ref_hash, kind, original_transaction_ref, cardholder_no,
--     instrument_no, identifier_no, merchant_id, amount, refunded_at)
-- makes: known_refs(line, transaction_ref, is_conflict, received_at, first_import_no, first_line)
-- Makes known_refs of refunds: the staged rows whose refund_ref the institution has a refund of, found
-- by hash, told apart by text. A conflict where what was said then differs. Grain: one row per such
-- row.
create temp table known_refs as
select
    staged_refunds.line,
    staged_refunds.refund_ref as transaction_ref,
    refunds.kind <> staged_refunds.kind
    or refunds.original_transaction_ref is distinct from staged_refunds.original_transaction_ref
    or refunds.cardholder_no is distinct from staged_refunds.cardholder_no
    or refunds.instrument_no is distinct from staged_refunds.instrument_no
    or refunds.identifier_no is distinct from staged_refunds.identifier_no
    or refunds.merchant_id is distinct from staged_refunds.merchant_id
    or refunds.amount <> staged_refunds.amount
    or refunds.refunded_at <> staged_refunds.refunded_at as is_conflict,
    refunds.received_at,
    refunds.import_no as first_import_no,
    refunds.line as first_line
from staged_refunds
inner join refunds
    on refunds.ref_hash = hash_of_institution(staged_refunds.ref_hash, $institution_id)
    and refunds.refund_ref = staged_refunds.refund_ref
where refunds.institution_id = $institution_id;

-- name: known_credits
-- reads: staged_credits(line, credit_ref, ref_hash, redemption_id, transaction_ref, status,
--     failure_code, amount, credited_at)
-- makes: known_refs(line, transaction_ref, is_conflict, received_at, first_import_no, first_line)
-- Makes known_refs of credited rows: the staged rows whose credit_ref the institution has a credited
-- row of, found by hash, told apart by text. A conflict where what was said then differs. Grain: one
-- row per such row.
create temp table known_refs as
select
    staged_credits.line,
    staged_credits.credit_ref as transaction_ref,
    credits.redemption_id is distinct from staged_credits.redemption_id
    or credits.transaction_ref is distinct from staged_credits.transaction_ref
    or credits.status <> staged_credits.status
    or credits.failure_code is distinct from staged_credits.failure_code
    or credits.amount <> staged_credits.amount
    or credits.credited_at <> staged_credits.credited_at as is_conflict,
    credits.received_at,
    credits.import_no as first_import_no,
    credits.line as first_line
from staged_credits
inner join credits
    on credits.ref_hash = hash_of_institution(staged_credits.ref_hash, $institution_id)
    and credits.credit_ref = staged_credits.credit_ref
where credits.institution_id = $institution_id;

-- name: no_history
-- makes: known_refs(line, transaction_ref, is_conflict, received_at, first_import_no, first_line)
-- Makes an empty known_refs, for a check without a store.
create temp table known_refs as
select
    cast(null as ubigint) as line, cast(null as varchar) as transaction_ref,
    cast(null as boolean) as is_conflict, cast(null as timestamp) as received_at,
    cast(null as bigint) as first_import_no, cast(null as bigint) as first_line
where 1 = 0;

-- name: fetched_refs
-- makes: known_refs(line, transaction_ref, is_conflict, received_at, first_import_no, first_line)
-- Reads frame (the rows of the plan `dedupe`, computed elsewhere) and makes known_refs of it.
create temp table known_refs as
select
    frame.line, frame.transaction_ref, frame.is_conflict, frame.received_at,
    frame.first_import_no, frame.first_line
from frame;

-- name: staged_duplicates
-- reads: staged(line, transaction_ref, reference, content), known_refs(line, transaction_ref,
--     is_conflict, received_at, first_import_no, first_line)
-- makes: staged_duplicates(line, transaction_ref, is_conflict, first_import_no, first_line,
--     received_at)
-- Makes staged_duplicates: every staged row whose ref is known already, or stands in an earlier
-- line (rules.md#duplicates). Refs are sought by fingerprint and told apart by
-- their text. The first one stands in `first_line` of an earlier import or, where that is null, of
-- this file. Grain: one row per such row.
create temp table staged_duplicates as
with sorted as (
    select staged.reference, lag(staged.reference) over (order by staged.reference) as before
    from staged
),
ranked as (
    select
        staged.line,
        staged.transaction_ref,
        staged.content,
        row_number() over refs as turn,
        first_value(staged.content) over refs as first_content,
        first_value(staged.line) over refs as first_line
    from staged
    where staged.reference in (
        select sorted.reference
        from sorted
        where sorted.reference = sorted.before
    )
    window refs as (partition by staged.transaction_ref order by staged.line)
),
final as (
    select
        known_refs.line, known_refs.transaction_ref, known_refs.is_conflict,
        known_refs.first_import_no, known_refs.first_line, known_refs.received_at
    from known_refs
    union all
    select
        ranked.line, ranked.transaction_ref, ranked.content <> ranked.first_content,
        null, ranked.first_line, null
    from ranked
    anti join known_refs on known_refs.transaction_ref = ranked.transaction_ref
    where ranked.turn > 1
)
select line, transaction_ref, is_conflict, first_import_no, first_line, received_at
from final;

-- name: no_duplicates
-- makes: staged_duplicates(line, transaction_ref, is_conflict, first_import_no, first_line,
--     received_at)
-- Makes an empty staged_duplicates, where no ref is known and no two rows have one.
create temp table staged_duplicates as
select
    cast(null as ubigint) as line, cast(null as varchar) as transaction_ref,
    cast(null as boolean) as is_conflict, cast(null as bigint) as first_import_no,
    cast(null as ubigint) as first_line, cast(null as timestamp) as received_at
where 1 = 0;

-- name: no_look_alikes
-- makes: look_alikes(line, transaction_ref, first_import_no, first_line, received_at, is_by_date)
-- Makes the empty table of look-alikes, for rows of which none is sought. Grain as look_alikes.
create temp table look_alikes as
select
    cast(null as ubigint) as line, cast(null as varchar) as transaction_ref,
    cast(null as bigint) as first_import_no, cast(null as bigint) as first_line,
    cast(null as timestamp) as received_at, cast(null as boolean) as is_by_date
where 1 = 0;

-- name: alike
-- reads: staged(line, transaction_ref, look), staged_duplicates(line)
-- makes: alike(line, transaction_ref, first_import_no, first_line, received_at, is_by_date)
-- Makes alike of a file by itself: the staged rows to be admitted that are like an earlier one of it in
-- all but their ref (rules.md#look-alikes), by fingerprint. An odd fingerprint is of a bare date, by
-- which rows are easily alike (`is_by_date`). Grain: one row per such row.
create temp table alike as
with sorted as (
    select staged.look, lag(staged.look) over (order by staged.look) as before
    from staged
),
ranked as (
    select
        staged.line,
        staged.transaction_ref,
        staged.look,
        row_number() over looks as turn,
        first_value(staged.line) over looks as first_line
    from staged
    anti join staged_duplicates on staged_duplicates.line = staged.line
    where staged.look in (select sorted.look from sorted where sorted.look = sorted.before)
    window looks as (partition by staged.look order by staged.line)
)
select
    ranked.line, ranked.transaction_ref, cast(null as bigint) as first_import_no,
    cast(ranked.first_line as bigint) as first_line, cast(null as timestamp) as received_at,
    ranked.look % 2 = 1 as is_by_date
from ranked
where ranked.turn > 1;

-- name: index_looks
-- Writes purchase_looks of the purchases that came since the last time. Idempotent.
insert into purchase_looks (look, purchase_no)
select
    look_of(purchases.instrument_no, purchases.amount, purchases.transacted_at),
    purchases.purchase_no
from purchases
where purchases.purchase_no > (
        select coalesce(max(purchase_looks.purchase_no), 0)
        from purchase_looks
    );

-- name: look_alikes
-- reads: staged(line, transaction_ref, payer, identifier, merchant_id, amount, transacted_at),
--     payer_numbers(payer, instrument_no), identifier_numbers(identifier, identifier_no),
--     staged_duplicates(line), alike(line, transaction_ref, first_import_no, first_line, received_at,
--     is_by_date)
-- makes: look_alikes(line, transaction_ref, first_import_no, first_line, received_at, is_by_date)
-- Makes look_alikes: to the staged rows that are like others of their file (alike) come those that are
-- like a purchase of the institution (rules.md#look-alikes): instrument, merchant, amount and second
-- are the same. Purchases are found by one number of instrument, amount and second (purchase_looks),
-- and these few are compared. Grain: one row per such row.
create temp table look_alikes as
with same_look as (
    select
        staged.line, staged.transaction_ref, staged.merchant_id, staged.amount,
        payer_numbers.instrument_no, identifier_numbers.identifier_no,
        date_trunc('second', staged.transacted_at) as second,
        look_of(payer_numbers.instrument_no, staged.amount, staged.transacted_at) as look
    from staged
    inner join payer_numbers on payer_numbers.payer = staged.payer
    left join identifier_numbers on identifier_numbers.identifier = staged.identifier
    anti join staged_duplicates on staged_duplicates.line = staged.line
),
alike_before as materialized (
    select
        same_look.line, same_look.transaction_ref, same_look.merchant_id, same_look.amount,
        same_look.instrument_no, same_look.identifier_no, same_look.second,
        purchase_looks.purchase_no
    from same_look
    inner join purchase_looks on purchase_looks.look = same_look.look
),
bought_before as materialized (
    select
        purchases.purchase_no, purchases.instrument_no, purchases.identifier_no,
        purchases.merchant_id, purchases.amount, purchases.transacted_at, purchases.import_no,
        purchases.line, purchases.received_at
    from purchases
    where purchases.institution_id = $institution_id
        and purchases.purchase_no in (select alike_before.purchase_no from alike_before)
),
before as (
    select
        alike_before.line,
        alike_before.transaction_ref,
        bought_before.import_no as first_import_no,
        bought_before.line as first_line,
        bought_before.received_at,
        row_number() over (
            partition by alike_before.line order by bought_before.purchase_no
        ) as turn
    from alike_before
    inner join bought_before on bought_before.purchase_no = alike_before.purchase_no
    where bought_before.instrument_no = alike_before.instrument_no
        and bought_before.amount = alike_before.amount
        and date_trunc('second', bought_before.transacted_at) = alike_before.second
        and bought_before.identifier_no is not distinct from alike_before.identifier_no
        and bought_before.merchant_id is not distinct from alike_before.merchant_id
),
final as (
    select
        before.line, before.transaction_ref, before.first_import_no, before.first_line,
        before.received_at, false as is_by_date
    from before
    where before.turn = 1
    union all
    select
        alike.line, alike.transaction_ref, alike.first_import_no, alike.first_line,
        alike.received_at, alike.is_by_date
    from alike
    anti join before on before.line = alike.line
)
select line, transaction_ref, first_import_no, first_line, received_at, is_by_date
from final;

-- name: look_counts
-- reads: look_alikes(first_import_no, is_by_date)
-- How many rows are alike within the file by their bare dates alone, and how many are like earlier ones.
select
    count(*) filter (where look_alikes.is_by_date) as by_date,
    count(*) filter (where look_alikes.first_import_no is not null) as before
from look_alikes;

-- name: duplicate_findings
-- reads: staged_duplicates(line, transaction_ref, is_conflict)
-- changes: staged_findings(line, transaction_ref, field, code, level, message)
-- Appends a finding for every row that merely came again, about its field $reference.
insert into staged_findings
select
    staged_duplicates.line, staged_duplicates.transaction_ref, $reference, $code, $level, $message
from staged_duplicates
where not staged_duplicates.is_conflict;

-- name: left_out_findings
-- reads: staged(line, transaction_ref), staged_duplicates(line)
-- changes: staged_findings(line, transaction_ref, field, code, level, message)
-- Appends a finding for every row that could be taken and will not be, about its field $reference.
insert into staged_findings
select staged.line, staged.transaction_ref, $reference, $code, $level, $message
from staged
where staged.line not in (select staged_duplicates.line from staged_duplicates);

-- name: repeat_findings
-- reads: staged_duplicates(line, transaction_ref, is_conflict, first_import_no, first_line,
--     received_at), look_alikes(line, transaction_ref, first_import_no, first_line, received_at,
--     is_by_date)
-- changes: staged_findings(line, transaction_ref, field, code, level, message)
-- Appends a finding for every conflict and every look-alike. It says where the first one stands: in
-- this file ($position is what its records are counted by), in an earlier one, or in a call.
insert into staged_findings
with repeats as (
    select
        staged_duplicates.line, staged_duplicates.transaction_ref, staged_duplicates.first_import_no,
        staged_duplicates.first_line, staged_duplicates.received_at,
        $conflict as code, $conflict_message as message
    from staged_duplicates
    where staged_duplicates.is_conflict
    union all
    select
        look_alikes.line, look_alikes.transaction_ref, look_alikes.first_import_no,
        look_alikes.first_line, look_alikes.received_at, $look_alike, $look_alike_message
    from look_alikes
    where not look_alikes.is_by_date
)
select
    repeats.line,
    repeats.transaction_ref,
    $reference,
    repeats.code,
    $level,
    repeats.message || ': the first ' || case
        when repeats.received_at is null then concat('is ', $position, ' ', repeats.first_line)
        when imports.import_no is null
            then strftime(repeats.received_at, 'was received on %Y-%m-%d')
        when imports.file_kind = 'call'
            then strftime(repeats.received_at, 'came in a call on %Y-%m-%d')
        else concat(
            'is ', case when imports.file_kind = 'json' then 'index ' else 'line ' end,
            repeats.first_line, ' of ', imports.file_name,
            strftime(repeats.received_at, ', received on %Y-%m-%d')
        )
    end
from repeats
left join imports on imports.import_no = repeats.first_import_no;

-- name: all_findings
-- reads: staged_findings(line, transaction_ref, field, code, level, message)
-- makes: all_findings(line, transaction_ref, field, code, level, message)
-- Makes all_findings of those of the purchases of a file. Grain: one row per finding.
create temp table all_findings as
select line, transaction_ref, field, code, level, message
from staged_findings;

-- name: add_findings
-- reads: staged_findings(line, transaction_ref, field, code, level, message)
-- changes: all_findings(line, transaction_ref, field, code, level, message)
-- Adds the findings of the refunds among the purchases.
insert into all_findings
select line, transaction_ref, field, code, level, message
from staged_findings;

-- name: counts
-- reads: staged_duplicates(is_conflict)
-- Duplicates and conflicts among the staged rows.
select count(*) as duplicates, count(*) filter (where is_conflict) as conflicts
from staged_duplicates;

-- name: earning
-- reads: staged(line, identifier, merchant_id), identifier_numbers(identifier, identifier_no),
--     staged_duplicates(line)
-- How many staged purchases that are no duplicates have a merchant that is known, by their identifier
-- or by the merchant_id that they were sent with.
with known as (
    select identifier_numbers.identifier
    from identifier_numbers
    inner join identifiers on identifiers.identifier_no = identifier_numbers.identifier_no
    inner join merchants on merchants.merchant_id = identifiers.merchant_id
)
select count(*) as earning
from staged
where (
        staged.identifier in (select known.identifier from known)
        or staged.merchant_id in (select merchants.merchant_id from merchants)
    )
    and staged.line not in (select staged_duplicates.line from staged_duplicates);

-- name: nameless
-- reads: staged_findings(line, code, level), staged_duplicates(line)
-- How many rows that can be taken were found to name no merchant.
with untaken as (
    select staged_findings.line
    from staged_findings
    where staged_findings.level = 'error'
    union all
    select staged_duplicates.line
    from staged_duplicates
)
select count(distinct staged_findings.line) as nameless
from staged_findings
where staged_findings.code = 'merchant_missing'
    and staged_findings.line not in (select untaken.line from untaken);

-- name: tokens_once
-- reads: staged(cardholder)
-- How many cardholder tokens the staged rows have, and how many of them occur once.
with tokens as (
    select count(*) as uses
    from staged
    group by staged.cardholder
)
select count(*) as tokens, count(*) filter (where uses = 1) as once
from tokens;

-- name: summary
-- reads: staged_findings(line, code, level)
-- Findings by code. Grain: one row per code; lines holds the first 20. A row may have a finding of
-- a code in each of its columns, so more are looked at than are told.
select
    code,
    level,
    count(distinct line) as row_count,
    list_slice(list_sort(list_distinct(min(line, 500))), 1, 20) as lines
from staged_findings
group by code, level
order by level, row_count desc, code;

-- name: findings
-- reads: staged_findings(line, transaction_ref, field, code, level, message)
-- The findings of a stretch of lines, in the order of the file. Grain: one row per finding.
select line, transaction_ref, field, code, level, message
from staged_findings
where line >= $first_line
    and line < $end_line
order by line, field nulls first, code;

-- name: common_findings
-- reads: staged_findings(line, field, code, level, message)
-- makes: common_findings(code, level, field, message, row_count)
-- Makes common_findings: what is found in most of the rows ($received), and so is said once. The
-- message is null where it is not the same in each. Grain: one row per code and field.
create temp table common_findings as
select
    code,
    level,
    field,
    case when count(distinct message) = 1 then min(message) end as message,
    count(distinct line) as row_count
from staged_findings
where code <> 'duplicate'
group by code, level, field
having count(distinct line) > $few
    and count(distinct line) * 2 > $received;

-- name: common
-- reads: common_findings(code, level, field, message, row_count)
-- The findings that are said once, errors first. Grain: one row per code and field.
select code, level, field, message, row_count
from common_findings
order by level, row_count desc, code, field nulls first;

-- name: first_findings
-- reads: staged_findings(line, transaction_ref, field, code, level, message), common_findings(code,
--     field)
-- The first of the other findings, errors first, then in the order of the file, but for rows that
-- merely came again, which ask nothing of the reader; and of how many they are. Of each kind the
-- first $each come before more of another, which would hide them. Grain: one row per finding.
with others as (
    select line, transaction_ref, field, code, level, message
    from staged_findings
    anti join common_findings
        on common_findings.code = staged_findings.code
        and common_findings.field is not distinct from staged_findings.field
    where code <> 'duplicate'
),
early as (
    select code, field, unnest(list_distinct(min(line, $each))) as line
    from others
    group by code, field
),
chosen as (
    select
        others.line, others.transaction_ref, others.field, others.code, others.level,
        others.message, count(*) over () as findings
    from others
    left join early
        on early.code = others.code
        and early.field is not distinct from others.field
        and early.line = others.line
    order by
        others.level, early.line is null, others.line, others.field nulls first, others.code
    limit $limit
)
select line, transaction_ref, field, code, level, message, findings
from chosen
order by level, line, field nulls first, code;

-- name: last_line
-- reads: staged_findings(line)
-- The last line that has a finding; null where none has.
select max(line) as last_line
from staged_findings;

-- name: rejected_lines
-- reads: staged_findings(line, level), staged_duplicates(line)
-- The lines that are not taken: rows with an error, and duplicates. Grain: one row per line.
with final as (
    select staged_findings.line
    from staged_findings
    where staged_findings.level = 'error'
    union
    select staged_duplicates.line
    from staged_duplicates
)
select line
from final
order by line;

-- name: fields_to_mask
-- reads: staged_findings(line, field, code, level)
-- The fields that were refused as card numbers or personal data; an empty one for what was refused as a
-- whole, such as what could not be split. Grain: one row per line and field.
select distinct line, coalesce(field, '') as field
from staged_findings
where code in ('card_number', 'personal_data')
    or (field is null and level = 'error')
order by line, field;
