-- name: missing
-- The imports of an institution that were taken while it was watched, behind the last that a look
-- has seen, of which no shape is kept. Grain: one row per import.
select
    imports.import_no, imports.file_name,
    cast(json_extract(runs.counts, '$.new_cardholders') as bigint) as new_cardholders
from imports
inner join runs on runs.run_no = imports.run_no
anti join import_shapes
    on import_shapes.import_no = imports.import_no
    and import_shapes.institution_id = $institution_id
where imports.institution_id = $institution_id
    and imports.import_no > (
        select coalesce(max(looked.import_no), 0)
        from import_shapes as looked
        where looked.institution_id = $institution_id
            and looked.redeemed is not null
    )
    and json_extract(runs.counts, '$.new_cardholders') is not null
order by imports.import_no;

-- name: bought_of_file
-- makes: bought_of_file(merchant_id, purchases)
-- Makes bought_of_file: how many purchases of a file each merchant has; null: merchants that
-- nobody knows.
-- Grain: one row per merchant.
create temp table bought_of_file as
select identified_purchases.merchant_id, count(*) as purchases
from identified_purchases
where identified_purchases.import_no = $import_no
    and identified_purchases.institution_id = $institution_id
group by identified_purchases.merchant_id;

-- name: keep_shape
-- reads: bought_of_file(merchant_id, purchases)
-- Writes what a file looked like, of the rows that were taken of it. Its import counted
-- $new_cardholders, among them those of conflicting rows. Grain: one row per import; called once, for
-- an import that is missing.
insert into import_shapes (
    import_no, institution_id, about_on, median_amount, unknown_merchants, cardholders,
    new_cardholders
)
with amounts as (
    select purchases.amount, purchases.transacted_at as made_at
    from purchases
    where purchases.import_no = $import_no
        and purchases.institution_id = $institution_id
    union all
    select refunds.amount, refunds.refunded_at as made_at
    from refunds
    where refunds.import_no = $import_no
        and refunds.institution_id = $institution_id
    union all
    select credits.amount, credits.credited_at as made_at
    from credits
    where credits.import_no = $import_no
        and credits.institution_id = $institution_id
),
middle as (
    select
        quantile_disc(amounts.amount, 0.5) as median_amount,
        quantile_disc(cast(amounts.made_at as date), 0.5) as about_on
    from amounts
),
buyers as (
    select count(distinct purchases.cardholder_no) as cardholders
    from purchases
    where purchases.import_no = $import_no
        and purchases.institution_id = $institution_id
),
unknown as (
    select coalesce(sum(bought_of_file.purchases), 0) as purchases
    from bought_of_file
    where bought_of_file.merchant_id is null
)
select
    imports.import_no, imports.institution_id,
    coalesce(middle.about_on, cast(imports.imported_at as date)), middle.median_amount,
    unknown.purchases, buyers.cardholders, least($new_cardholders, buyers.cardholders)
from imports
cross join middle
cross join buyers
cross join unknown
where imports.import_no = $import_no
    and imports.institution_id = $institution_id;

-- name: keep_merchants
-- reads: bought_of_file(merchant_id, purchases)
-- Writes how many purchases of a file its 100 largest merchants have, of those with three or more.
-- Grain: one row per import and merchant; called once, with keep_shape.
insert into import_merchants (import_no, institution_id, merchant_id, purchases)
select $import_no, $institution_id, bought_of_file.merchant_id, bought_of_file.purchases
from bought_of_file
where bought_of_file.merchant_id is not null
    and bought_of_file.purchases >= 3
order by bought_of_file.purchases desc, bought_of_file.merchant_id
limit 100;

-- name: unlooked
-- The imports of an institution that no look behind a match has seen. Grain: one row per import.
select import_no
from import_shapes
where institution_id = $institution_id
    and redeemed is null
order by import_no;

-- name: look
-- Writes how many purchases of some imports have redeemed by now. Idempotent: what is written stays.
update import_shapes
set redeemed = (
    select count(*)
    from redemptions
    inner join purchases using (purchase_no, institution_id)
    where purchases.import_no = import_shapes.import_no
        and purchases.institution_id = $institution_id
)
where institution_id = $institution_id
    and import_no in (select unnest(cast($import_nos as bigint[])))
    and redeemed is null;

-- name: like_files
-- makes: like_files(judged_no, import_no, accepted)
-- Makes like_files: the files before each of some imports that it is compared with: of its institution
-- and kind, with something new in them; the last 12 of its class of days (Monday to Friday, Saturday,
-- Sunday) where files come daily and 4 of the last 84 are of that, else the last 12. Grain: one row per
-- import and file before it.
create temp table like_files as
with files as (
    select
        import_shapes.import_no, imports.kind_of_rows, imports.accepted, import_shapes.about_on,
        greatest(isodow(import_shapes.about_on), 5) as day_class
    from import_shapes
    inner join imports using (import_no, institution_id)
    where import_shapes.institution_id = $institution_id
),
before as (
    select
        judged.import_no as judged_no, judged.day_class as judged_class, files.import_no,
        files.accepted, files.about_on, files.day_class,
        row_number() over (partition by judged.import_no order by files.import_no desc) as back
    from files as judged
    inner join files
        on files.import_no < judged.import_no
        and files.kind_of_rows = judged.kind_of_rows
        and files.accepted > 0
    where judged.import_no in (select unnest(cast($import_nos as bigint[])))
),
in_class as (
    select
        before.judged_no, before.judged_class, before.import_no, before.accepted,
        before.about_on, before.day_class, before.back,
        row_number() over (
            partition by before.judged_no, before.day_class = before.judged_class
            order by before.back
        ) as back_in_class
    from before
    where before.back <= 84
),
rhythm as (
    select
        in_class.judged_no,
        count(*) filter (where in_class.day_class = in_class.judged_class) >= 4
        and date_diff(
            'day',
            min(in_class.about_on) filter (where in_class.back <= 12),
            max(in_class.about_on) filter (where in_class.back <= 12)
        ) <= 36 as is_by_class
    from in_class
    group by in_class.judged_no
)
select in_class.judged_no, in_class.import_no, in_class.accepted
from in_class
inner join rhythm on rhythm.judged_no = in_class.judged_no
where case
    when rhythm.is_by_class
        then in_class.day_class = in_class.judged_class and in_class.back_in_class <= 12
    else in_class.back <= 12
end;

-- name: unusual
-- reads: like_files(judged_no, import_no)
-- What is unusual in some imports. A figure is so if it is more than 4 robust deviations from the
-- median of 4 like files or more, and a fifth of that. A deviation is 1.4826 times the median distance
-- from the median, but at least a floor, and what chance makes of so few rows. Amounts and rows are
-- compared by their logarithms, as they vary by factors: sums and medians so much that only a factor of
-- six says anything. Shares are compared as they are, and a difference below `least` says nothing; that
-- fewer rows are invalid, or more redeem, is no harm. Medians do not depend on the order of rows, so equal rows give equal answers.
-- A file that is wholly known is not compared. Grain: one row per import and figure.
with measures(name, is_scale, is_bad_if, floor, least) as (
    values
        ('rows', true, 'other', 0.13, 0.0), ('amount', true, 'other', 0.5, 0.0),
        ('median_amount', true, 'other', 0.45, 0.0), ('invalid', false, 'high', 0.01, 0.05),
        ('duplicates', false, 'high', 0.01, 0.05),
        ('unknown_merchants', false, 'high', 0.02, 0.05),
        ('new_cardholders', false, 'high', 0.05, 0.1), ('redeemed', false, 'low', 0.0025, 0.01)
),
files as (
    select distinct like_files.judged_no, like_files.import_no
    from like_files
    union
    select like_files.judged_no, like_files.judged_no
    from like_files
),
figures as (
    select
        files.judged_no, files.import_no,
        unnest([
            struct_pack(name := 'rows', figure := imports.received, among := null),
            struct_pack(name := 'amount', figure := imports.amount_accepted, among := null),
            struct_pack(
                name := 'median_amount', figure := import_shapes.median_amount, among := null
            ),
            struct_pack(name := 'invalid', figure := imports.invalid, among := imports.received),
            struct_pack(
                name := 'duplicates', figure := imports.duplicates, among := imports.received
            ),
            struct_pack(
                name := 'unknown_merchants', figure := import_shapes.unknown_merchants,
                among := imports.accepted
            ),
            struct_pack(
                name := 'new_cardholders', figure := import_shapes.new_cardholders,
                among := import_shapes.cardholders
            ),
            struct_pack(
                name := 'redeemed', figure := import_shapes.redeemed, among := imports.accepted
            )
        ], recursive := true)
    from files
    inner join import_shapes
        on import_shapes.import_no = files.import_no
        and import_shapes.institution_id = $institution_id
    inner join imports
        on imports.import_no = files.import_no
        and imports.institution_id = $institution_id
),
scaled as (
    select
        figures.*, measures.is_scale, measures.is_bad_if, measures.floor, measures.least,
        case
            when measures.is_scale then ln(greatest(cast(figures.figure as double), 1))
            else cast(figures.figure as double) / nullif(figures.among, 0)
        end as scale
    from figures
    inner join measures on measures.name = figures.name
),
usual as (
    select
        scaled.judged_no, scaled.name, count(scaled.scale) as files,
        median(scaled.scale) as middle, mad(scaled.scale) as spread,
        quantile_disc(scaled.figure, 0.5) as usual_figure
    from scaled
    where scaled.import_no <> scaled.judged_no
    group by scaled.judged_no, scaled.name
),
compared as (
    select
        scaled.judged_no, scaled.name, scaled.figure, scaled.among, scaled.least, scaled.scale,
        scaled.is_scale, scaled.is_bad_if, usual.middle, usual.files, usual.usual_figure,
        greatest(
            1.4826 * usual.spread,
            scaled.floor,
            case
                when scaled.name = 'rows' then 1 / sqrt(greatest(exp(usual.middle), 1))
                when scaled.is_scale then 0
                else sqrt(usual.middle * (1 - usual.middle) / nullif(scaled.among, 0))
            end
        ) as deviation
    from scaled
    inner join usual using (judged_no, name)
    where scaled.import_no = scaled.judged_no
        and scaled.scale is not null
        and usual.files >= 4
)
select
    compared.judged_no as import_no, imports.file_name,
    cast(imports.imported_at as date) as about_on, compared.name, compared.is_scale,
    compared.figure, compared.among, compared.files, compared.usual_figure,
    cast(round(compared.middle, 4) as decimal(18, 4)) as usual_share,
    cast(round((compared.scale - compared.middle) / compared.deviation, 1) as decimal(18, 1))
        as deviations
from compared
inner join imports
    on imports.import_no = compared.judged_no
    and imports.institution_id = $institution_id
where abs(compared.scale - compared.middle) > 4 * compared.deviation
    and abs(compared.scale - compared.middle) >= compared.least
    and case compared.is_bad_if
        when 'high' then compared.scale > compared.middle
        when 'low' then compared.scale < compared.middle
        else true
    end
    and case
        when compared.is_scale then abs(exp(compared.scale - compared.middle) - 1) >= 0.2
        else abs(compared.scale - compared.middle) >= 0.2 * compared.middle
    end
    and not (imports.accepted = 0 and imports.duplicates > 0)
order by compared.judged_no, compared.name;

-- name: wholly_known
-- The imports of some in which every row that could be read was known already. Grain: one row per
-- import.
select import_no, file_name, cast(imported_at as date) as about_on, received, duplicates, conflicts
from imports
where institution_id = $institution_id
    and import_no in (select unnest(cast($import_nos as bigint[])))
    and accepted = 0
    and duplicates > 0
order by import_no;

-- name: unknown_cardholders
-- The imports of some in which half of the cardholders or more were new to an institution that knew
-- 1,000 others or more (rules.md#whose-file). Grain: one row per import.
with everybody as (
    select count(*) as cardholders
    from cardholders
    where institution_id = $institution_id
)
select
    imports.import_no, imports.file_name, cast(imports.imported_at as date) as about_on,
    import_shapes.new_cardholders, import_shapes.cardholders as among,
    everybody.cardholders - import_shapes.new_cardholders as known
from import_shapes
cross join everybody
inner join imports using (import_no, institution_id)
where import_shapes.institution_id = $institution_id
    and import_shapes.import_no in (select unnest(cast($import_nos as bigint[])))
    and import_shapes.new_cardholders * 2 >= import_shapes.cardholders
    and import_shapes.new_cardholders > 0
    and everybody.cardholders - import_shapes.new_cardholders >= 1000
order by imports.import_no;

-- name: silent
-- reads: like_files(judged_no, import_no, accepted)
-- The merchants that have no purchase in some imports though every like file, 4 or more, has three or
-- more of theirs, and so many that none by chance has a probability (Poisson) below one in a million.
-- Purchases of files before these are left out early, so that history costs nothing. Grain: one row
-- per import and merchant.
with sizes as (
    select like_files.judged_no, count(*) as files, sum(like_files.accepted) as accepted
    from like_files
    group by like_files.judged_no
),
bought as (
    select
        like_files.judged_no, import_merchants.merchant_id, count(*) as files,
        sum(import_merchants.purchases) as purchases
    from like_files
    inner join import_merchants
        on import_merchants.import_no = like_files.import_no
        and import_merchants.institution_id = $institution_id
    group by like_files.judged_no, import_merchants.merchant_id
)
select
    bought.judged_no as import_no, cast(imports.imported_at as date) as about_on,
    bought.merchant_id, bought.files,
    cast(round(bought.purchases * imports.accepted / sizes.accepted, 1) as decimal(18, 1))
        as expected
from bought
inner join sizes using (judged_no, files)
inner join imports
    on imports.import_no = bought.judged_no
    and imports.institution_id = $institution_id
anti join identified_purchases
    on identified_purchases.import_no = bought.judged_no
    and identified_purchases.import_no >= list_min(cast($import_nos as bigint[]))
    and identified_purchases.institution_id = $institution_id
    and identified_purchases.merchant_id = bought.merchant_id
where bought.files >= 4
    and bought.purchases * imports.accepted / sizes.accepted > 6 * ln(10)
order by bought.judged_no, bought.merchant_id;
