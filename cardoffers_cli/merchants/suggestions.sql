-- name: said
-- makes: said(identifier_no, text, purchases)
-- Makes said: what purchases of unknown merchants called them, of one institution or of all. An
-- identifier without any text is not in it. Grain: one row per identifier and text.
create temp table said as
select waiting.identifier_no, purchase_details.merchant_descriptor as text, count(*) as purchases
from waiting_purchases as waiting
inner join identifiers on identifiers.identifier_no = waiting.identifier_no
inner join purchase_details using (purchase_no, institution_id)
left join merchants as sent on sent.merchant_id = waiting.merchant_id
where identifiers.merchant_id is null
    and sent.merchant_id is null
    and purchase_details.merchant_descriptor is not null
    and ($institution_id is null or waiting.institution_id = $institution_id)
group by waiting.identifier_no, purchase_details.merchant_descriptor;

-- name: given
-- makes: given(identifier_no, kind, identifier, text, purchases)
-- Makes given: pairs of an identifier and a text, as if each were unknown and said by one purchase.
-- Grain: one row per pair.
create temp table given as
select
    coalesce((select max(identifiers.identifier_no) from identifiers), 0) + pairs.line
    as identifier_no,
    pairs.kind, pairs.identifier, pairs.text, cast(1 as bigint) as purchases
from (
    select
        unnest(
            cast(
                $pairs as struct(line bigint, kind varchar, identifier varchar, text varchar)[]
            ),
            recursive := true
        )
) as pairs;

-- name: add_given
-- reads: given(identifier_no, kind, identifier)
-- Writes pairs as unknown identifiers, in a transaction that is never kept.
insert into identifiers (identifier_no, merchant_identifier_type, merchant_identifier)
select given.identifier_no, given.kind, given.identifier
from given;

-- name: rated
-- reads: suggested(identifier_no, merchant_no, known_name, log_odds, probability, spelling, covered,
--     rarest)
-- reads: sought(identifier_no, text)
-- The likeliest merchant of each pair, the likeliest first. Grain: one row per pair that has any.
select
    identifiers.merchant_identifier_type, identifiers.merchant_identifier,
    sought.text as descriptor, merchants.merchant_id, merchants.name as merchant_name,
    suggested.known_name as known_as, cast(suggested.probability as decimal(4, 3)) as probability,
    cast(suggested.spelling as decimal(4, 3)) as spelling,
    cast(suggested.covered as decimal(4, 3)) as words_in_common,
    cast(suggested.rarest as decimal(4, 3)) as rarest_word
from suggested
inner join sought on sought.identifier_no = suggested.identifier_no
inner join identifiers on identifiers.identifier_no = suggested.identifier_no
inner join merchants on merchants.merchant_no = suggested.merchant_no
order by suggested.log_odds desc, suggested.identifier_no;

-- name: known_said
-- makes: known_said(merchant_no, identifier_no, text, purchases)
-- Makes known_said: what merchants are called, by the catalogue and by purchases that carried one of
-- their identifiers. Grain: one row per merchant, identifier and text; the catalogue's has none.
create temp table known_said as
with told as (
    select
        purchases.identifier_no, purchase_details.merchant_descriptor as text, count(*) as purchases
    from purchase_details
    inner join purchases using (purchase_no, institution_id)
    where purchase_details.merchant_descriptor is not null
        and purchases.identifier_no is not null
    group by purchases.identifier_no, purchase_details.merchant_descriptor
)

select merchants.merchant_no, cast(null as bigint) as identifier_no, merchants.name as text,
    cast(0 as bigint) as purchases
from merchants
union all
select merchants.merchant_no, told.identifier_no, told.text, told.purchases
from told
inner join identifiers on identifiers.identifier_no = told.identifier_no
inner join merchants on merchants.merchant_id = identifiers.merchant_id;

-- name: normal
-- reads: said(text)
-- reads: known_said(text)
-- makes: normal(text, name, compact, head)
-- Makes normal: each text as names are compared. Letters lose case and accents; a payment facilitator
-- before a `*`, numbers and words with three digits, legal forms and parts of web addresses go; what
-- would be left empty stays as it is. `compact` is the name without its blanks, `head` the first word
-- behind any short prefix and its `*`. Grain: one row per text.
create temp table normal as
with texts as (
    select text from said
    union
    select text from known_said
),

plain as (
    select text, lower(strip_accents(text)) as lowered
    from texts
),

bare as (
    select
        text,
        regexp_replace(
            lowered,
            '^\s*(sq|paypal|pp|pypl|dr|tst|sp|ppl|zettle|izettle|sumup|iz|wpy|mp|mercpago|mercadopago'
            || '|pagseguro|pag|gpay|google|ec|dlo|ebanx|adyen|stripe|clip|conekta)\s*\*\s*',
            ''
        ) as behind
    from plain
),

split as (
    select
        text, behind,
        regexp_extract_all(
            regexp_replace(
                regexp_replace(
                    regexp_replace(regexp_replace(behind, '[''’`]', '', 'g'), '&', ' and ', 'g'),
                    '\b([a-z])[.]', '\1', 'g'
                ),
                '[^a-z0-9]+', ' ', 'g'
            ),
            '[a-z0-9]+'
        ) as words
    from bare
),

kept as (
    select
        text,
        behind,
        words,
        list_filter(
            words,
            lambda word: not regexp_full_match(word, '[0-9]+|(.*[0-9]){3,}.*')
                and not regexp_full_match(
                    word,
                    'inc|incorp|incorporated|corp|corporation|co|company|ltd|limited|limite|llc|llp|lp|plc|gmbh|ag'
                    || '|sa|sas|sarl|srl|spa|bv|nv|ltda|eireli|me|epp|cv|rl|cia|the|www|com|net|org|http|https'
                )
        ) as meant
    from split
),

named as (
    select
        text,
        behind,
        list_aggregate(
            case when len(meant) > 0 then meant when len(words) > 0 then words else [lower(text)] end,
            'string_agg', ' '
        ) as name
    from kept
)

select
    named.text, named.name, replace(named.name, ' ', '') as compact,
    regexp_extract(
        coalesce(
            nullif(regexp_replace(named.behind, '^\s*[a-z0-9]{2,5}\s*\*', ''), ''),
            named.name
        ),
        '[a-z]{2,}'
    ) as head
from named;

-- name: sought
-- reads: said(identifier_no, text, purchases)
-- reads: normal(text, name, compact, head)
-- makes: sought(identifier_no, name, compact, text, names, heads)
-- Makes sought: what an unknown identifier is mostly called, and how many names it has, and how many
-- first words these have: many tell an aggregator. Grain: one row per identifier.
create temp table sought as
with counted as (
    select
        said.identifier_no, normal.name, any_value(normal.compact) as compact,
        sum(said.purchases) as purchases, arg_max(said.text, (said.purchases, said.text)) as text
    from said
    inner join normal on normal.text = said.text
    group by said.identifier_no, normal.name
),

spread as (
    select said.identifier_no, count(distinct normal.head) as heads
    from said
    inner join normal on normal.text = said.text
    group by said.identifier_no
)

select
    counted.identifier_no, arg_max(counted.name, (counted.purchases, counted.name)) as name,
    arg_max(counted.compact, (counted.purchases, counted.name)) as compact,
    arg_max(counted.text, (counted.purchases, counted.name)) as text,
    count(*) as names, any_value(spread.heads) as heads
from counted
inner join spread on spread.identifier_no = counted.identifier_no
group by counted.identifier_no;

-- name: known_names
-- reads: known_said(merchant_no, identifier_no, text, purchases)
-- reads: normal(text, name, compact, head)
-- makes: known_names(merchant_no, name, compact, text)
-- Makes known_names: what each merchant is called, once normal; not by identifiers that have many
-- first words, which are aggregators, and by at most its ten most said. Grain: merchant and name.
create temp table known_names as
with spread as (
    select known_said.identifier_no
    from known_said
    inner join normal on normal.text = known_said.text
    where known_said.identifier_no is not null
    group by known_said.identifier_no
    having count(distinct normal.head) >= 4
),

counted as (
    select
        known_said.merchant_no, normal.name, any_value(normal.compact) as compact,
        arg_max(known_said.text, (known_said.purchases, known_said.text)) as text,
        bool_or(known_said.identifier_no is null) as is_of_catalogue,
        sum(known_said.purchases) as purchases
    from known_said
    inner join normal on normal.text = known_said.text
    where known_said.identifier_no is null
        or known_said.identifier_no not in (select spread.identifier_no from spread)
    group by known_said.merchant_no, normal.name
),

placed as (
    select
        merchant_no, name, compact, text,
        row_number() over (
            partition by merchant_no order by is_of_catalogue desc, purchases desc, name
        ) as place
    from counted
)

select merchant_no, name, compact, text
from placed
where place <= 10;

-- name: known_words
-- reads: known_names(merchant_no, name)
-- makes: known_words(word, merchants, rarity)
-- Makes known_words: in how many merchants' names a word stands. `rarity` is the logarithm of how
-- few these are, 1 for a word of a single merchant. Grain: one row per word.
create temp table known_words as
with words as (
    select distinct known_names.merchant_no, unnest(string_split(known_names.name, ' ')) as word
    from known_names
),

size as (
    select ln(count(distinct known_names.merchant_no) + 2) as whole
    from known_names
)

select
    words.word, count(*) as merchants, 1 - ln(count(*)) / any_value(size.whole) as rarity
from words
cross join size
group by words.word;

-- name: candidates
-- reads: sought(name, compact)
-- reads: known_names(name, compact)
-- reads: known_words(word, merchants, rarity)
-- makes: candidates(name, known_name)
-- Makes candidates: names that are worth comparing. They are equal, have a rare word in common, or
-- begin alike where few do; of each name the twenty with the rarest in common.
-- Grain: one row per unknown name and known name.
create temp table candidates as
with wanted as (
    select distinct name, compact
    from sought
),

known as (
    select distinct name, compact
    from known_names
),

known_by_word as (
    select known.name, known_words.word, known_words.rarity
    from (select known.name, unnest(string_split(known.name, ' ')) as word from known) as known
    inner join known_words on known_words.word = known.word
    where known_words.merchants <= 40
),

beginnings as (
    select substr(compact, 1, 5) as beginning
    from known
    group by substr(compact, 1, 5)
    having count(*) <= 40
),

found as (
    select wanted.name, known.name as known_name, 10.0 as shared
    from wanted
    inner join known on known.compact = wanted.compact
    union all
    select wanted.name, known_by_word.name, sum(known_by_word.rarity)
    from (
        select distinct wanted.name, unnest(string_split(wanted.name, ' ')) as word from wanted
    ) as wanted
    inner join known_by_word on known_by_word.word = wanted.word
    group by wanted.name, known_by_word.name
    union all
    select wanted.name, known.name, 0.5
    from wanted
    inner join beginnings on beginnings.beginning = substr(wanted.compact, 1, 5)
    inner join known on substr(known.compact, 1, 5) = beginnings.beginning
),

placed as (
    select
        name, known_name,
        row_number() over (partition by name order by sum(shared) desc, known_name) as place
    from found
    group by name, known_name
)

select name, known_name
from placed
where place <= 20;

-- name: likeness
-- reads: candidates(name, known_name)
-- reads: known_words(word, rarity)
-- makes: likeness(name, known_name, spelling, covered, rarest, first)
-- Makes likeness: how alike two names are, each from 0 to 1. `spelling`: letters that agree, but for
-- blanks; `covered`: words in common by their rarity, of those of the shorter name; `rarest`: the
-- rarest of them; `first`: both begin with one word, by its rarity. A word that no merchant bears is
-- as rare as can be. Names that are equal but for blanks have their words in common.
-- Grain: one row per pair of names.
create temp table likeness as
with words as (
    select named.name, named.word, coalesce(known_words.rarity, 1.0) as rarity
    from (
        select distinct each.name, unnest(string_split(each.name, ' ')) as word
        from (
            select candidates.name from candidates
            union
            select candidates.known_name from candidates
        ) as each
    ) as named
    left join known_words on known_words.word = named.word
),

whole as (
    select name, sum(rarity) as rarity, max(rarity) as rarest
    from words
    group by name
),

common as (
    select
        candidates.name, candidates.known_name, sum(ours.rarity) as rarity,
        max(ours.rarity) as rarest,
        max(case when starts_with(candidates.name || ' ', ours.word || ' ')
            and starts_with(candidates.known_name || ' ', ours.word || ' ')
            then ours.rarity end) as first
    from candidates
    inner join words as ours on ours.name = candidates.name
    inner join words as theirs on theirs.name = candidates.known_name and theirs.word = ours.word
    group by candidates.name, candidates.known_name
),

paired as (
    select
        candidates.name, candidates.known_name, replace(candidates.name, ' ', '') as a,
        replace(candidates.known_name, ' ', '') as b, coalesce(common.rarity, 0) as rarity,
        coalesce(common.rarest, 0) as rarest, coalesce(common.first, 0) as first,
        ours.rarity as our_rarity, theirs.rarity as their_rarity,
        least(ours.rarest, theirs.rarest) as our_rarest
    from candidates
    inner join whole as ours on ours.name = candidates.name
    inner join whole as theirs on theirs.name = candidates.known_name
    left join common
        on common.name = candidates.name
        and common.known_name = candidates.known_name
)

select
    name, known_name,
    1 - damerau_levenshtein(a, b) * 1.0 / greatest(len(a), len(b)) as spelling,
    case when a = b then 1.0 else rarity / least(our_rarity, their_rarity) end as covered,
    case when a = b then greatest(rarest, our_rarest) else rarest end as rarest, first
from paired;

-- name: pairs
-- reads: sought(identifier_no, name, heads)
-- reads: known_names(merchant_no, name)
-- reads: candidates(name, known_name)
-- makes: pairs(identifier_no, merchant_no, name, known_name)
-- Makes pairs: the merchants that an unknown identifier is held against, by each of their names. An
-- identifier with so many first words is an aggregator's, and held against none; nor is any against a
-- merchant that a person refused, or took it from. Grain: identifier, merchant and known name.
create temp table pairs as
with refused as (
    select merchant_answers.identifier_no, merchants.merchant_no
    from merchant_answers
    inner join merchants on merchants.merchant_id = merchant_answers.merchant_id
    group by merchant_answers.identifier_no, merchants.merchant_no
    having arg_max(merchant_answers.answer, merchant_answers.answer_no) in ('refused', 'unlinked')
)

select sought.identifier_no, known_names.merchant_no, sought.name, candidates.known_name
from sought
inner join candidates on candidates.name = sought.name
inner join known_names on known_names.name = candidates.known_name
anti join refused using (identifier_no, merchant_no)
where sought.heads < 4;

-- name: numbers
-- reads: pairs(identifier_no, merchant_no)
-- makes: numbers(identifier_no, merchant_no, own_length, merchants, nearest_length, length)
-- Makes numbers: how many leading characters, four to twenty, of an unknown identifier those have that
-- are known to be of a merchant, and of how many merchants as many are; and how many the nearest of
-- all has. Only identifiers of one type are compared. Grain: one row per identifier and merchant of
-- pairs with any in common with anybody.
create temp table numbers as
with unknown as (
    select
        identifiers.identifier_no, identifiers.merchant_identifier_type as kind,
        length(identifiers.merchant_identifier) as whole,
        unnest(range(4, least(length(identifiers.merchant_identifier), 21))) as length,
        substr(identifiers.merchant_identifier, 1, length) as prefix
    from identifiers
    where identifiers.identifier_no in (select pairs.identifier_no from pairs)
),

sought_prefixes as (
    select distinct kind, length, prefix
    from unknown
),

known as (
    select distinct sought_prefixes.kind, sought_prefixes.prefix, merchants.merchant_no
    from (
        select
            identifiers.merchant_id, identifiers.merchant_identifier_type as kind,
            identifiers.merchant_identifier,
            unnest(range(4, least(length(identifiers.merchant_identifier) + 1, 21))) as length
        from identifiers
        where identifiers.merchant_id is not null
    ) as each
    inner join merchants on merchants.merchant_id = each.merchant_id
    inner join sought_prefixes
        on sought_prefixes.kind = each.kind
        and sought_prefixes.prefix = substr(each.merchant_identifier, 1, each.length)
),

crowds as (
    select kind, prefix, count(*) as merchants
    from known
    group by kind, prefix
),

reached as (
    select
        unknown.identifier_no, max(unknown.length) as nearest_length,
        any_value(unknown.whole) as length
    from unknown
    inner join crowds on crowds.kind = unknown.kind and crowds.prefix = unknown.prefix
    group by unknown.identifier_no
),

own as (
    select
        held.identifier_no, held.merchant_no, max(unknown.length) as own_length,
        arg_max(crowds.merchants, unknown.length) as merchants
    from (select distinct pairs.identifier_no, pairs.merchant_no from pairs) as held
    inner join unknown on unknown.identifier_no = held.identifier_no
    inner join known using (kind, prefix, merchant_no)
    inner join crowds on crowds.kind = unknown.kind and crowds.prefix = unknown.prefix
    group by held.identifier_no, held.merchant_no
)

select
    held.identifier_no, held.merchant_no, coalesce(own.own_length, 0) as own_length,
    own.merchants, reached.nearest_length, reached.length
from (select distinct pairs.identifier_no, pairs.merchant_no from pairs) as held
inner join reached on reached.identifier_no = held.identifier_no
left join own
    on own.identifier_no = held.identifier_no
    and own.merchant_no = held.merchant_no;

-- name: features
-- reads: pairs(identifier_no, merchant_no, name, known_name)
-- reads: likeness(name, known_name, spelling, covered, rarest, first)
-- reads: numbers(identifier_no, merchant_no, own_length, merchants, nearest_length, length)
-- makes: features(identifier_no, merchant_no, known_name, spelling, covered, rarest, first,
--     numbers, others)
-- Makes features: what speaks for a merchant, and against, each from 0 to 1. `numbers`: the part of
-- the identifier that is as the merchant's are, shared by as many merchants; `others`: by how much
-- more another merchant's are like it. Grain: one row per identifier, merchant and known name.
create temp table features as
select
    pairs.identifier_no, pairs.merchant_no, pairs.known_name, likeness.spelling,
    likeness.covered, likeness.rarest, likeness.first,
    coalesce(numbers.own_length * 1.0 / numbers.length / numbers.merchants, 0.0) as numbers,
    coalesce((numbers.nearest_length - numbers.own_length) * 1.0 / numbers.length, 0.0) as others
from pairs
inner join likeness on likeness.name = pairs.name and likeness.known_name = pairs.known_name
left join numbers
    on numbers.identifier_no = pairs.identifier_no
    and numbers.merchant_no = pairs.merchant_no;

-- name: list_features
-- reads: features(identifier_no, merchant_no, known_name, spelling, covered, rarest, first,
--     numbers, others)
-- The features as they are, for the script that fits the weights. Grain: as in features.
select identifier_no, merchant_no, known_name, spelling, covered, rarest, first, numbers, others
from features
order by identifier_no, merchant_no, known_name;

-- name: weighed
-- reads: features(identifier_no, merchant_no, known_name, spelling, covered, rarest, first,
--     numbers, others)
-- makes: weighed(identifier_no, merchant_no, known_name, log_odds, probability, place, spelling,
--     covered, rarest)
-- Makes weighed: the log-odds of each merchant alone, by the name that fits best, and its probability
-- beside the others', and beside none of them: two that are equally likely have less than half each.
-- The likeliest of an identifier is in place 1. Grain: one row per identifier and merchant.
create temp table weighed as
with named as (
    select
        identifier_no, merchant_no, known_name, spelling, covered, rarest,
        $weights.bias + $weights.spelling * spelling
        + $weights.covered * covered + $weights.rarest * rarest + $weights.first * first
        + $weights.numbers * numbers + $weights.others * others as log_odds
    from features
),

best as (
    select
        identifier_no, merchant_no, known_name, spelling, covered, rarest, log_odds,
        row_number() over (
            partition by identifier_no, merchant_no order by log_odds desc, known_name
        ) as nth
    from named
)

select
    identifier_no, merchant_no, known_name, log_odds,
    exp(log_odds) / (1 + sum(exp(log_odds)) over (partition by identifier_no)) as probability,
    row_number() over (partition by identifier_no order by log_odds desc, merchant_no) as place,
    spelling, covered, rarest
from best
where nth = 1;

-- name: suggested
-- reads: weighed(identifier_no, merchant_no, known_name, log_odds, probability, place, spelling,
--     covered, rarest)
-- reads: sought(identifier_no, name)
-- makes: suggested(identifier_no, merchant_no, known_name, log_odds, probability, spelling, covered,
--     rarest, name, cluster)
-- Makes suggested: the merchant of each identifier that is likelier than even odds; or, of the one
-- identifier that is asked for, every merchant. `cluster` counts the identifiers of one name that one
-- merchant is suggested for. Grain: one row per identifier and merchant.
create temp table suggested as
with likely as (
    select weighed.identifier_no, weighed.merchant_no, sought.name
    from weighed
    inner join sought on sought.identifier_no = weighed.identifier_no
    where weighed.place = 1
        and weighed.probability >= $even
),

clusters as (
    select merchant_no, name, count(*) as identifiers
    from likely
    group by merchant_no, name
)

select
    weighed.identifier_no, weighed.merchant_no, weighed.known_name, weighed.log_odds,
    weighed.probability, weighed.spelling, weighed.covered, weighed.rarest, sought.name,
    coalesce(clusters.identifiers, 0) as cluster
from weighed
inner join sought on sought.identifier_no = weighed.identifier_no
left join clusters
    on clusters.merchant_no = weighed.merchant_no
    and clusters.name = sought.name
where weighed.identifier_no = $identifier_no
    or (
        $identifier_no is null
        and weighed.place = 1
        and weighed.probability >= $even
    );

-- name: try
-- reads: suggested(identifier_no, merchant_no)
-- Writes identifiers as if every suggestion were accepted, for a transaction that is never kept.
update identifiers
set merchant_id = merchants.merchant_id
from suggested
inner join merchants on merchants.merchant_no = suggested.merchant_no
where suggested.identifier_no = identifiers.identifier_no;

-- name: would_pay
-- makes: would_pay(identifier_no, currency, cashback)
-- Makes would_pay: the cashback that a run redeemed. Grain: one row per identifier and currency.
create temp table would_pay as
select
    purchases.identifier_no, ledger_entries.currency,
    sum(ledger_entries.institution_payout_amount) as cashback
from redemptions
inner join ledger_entries using (redemption_no, institution_id)
inner join purchases using (purchase_no, institution_id)
where redemptions.run_no = (select runs.run_no from runs where runs.run_id = $run_id)
    and ($institution_id is null or redemptions.institution_id = $institution_id)
group by purchases.identifier_no, ledger_entries.currency;

-- name: pays_nothing
-- makes: would_pay(identifier_no, currency, cashback)
-- Makes an empty would_pay, where no match was tried.
create temp table would_pay as
select
    cast(null as bigint) as identifier_no, cast(null as varchar) as currency,
    cast(null as decimal(38, 4)) as cashback
where 1 = 0;

-- name: waits
-- reads: suggested(identifier_no)
-- makes: waits(identifier_no, institution_id, purchase_no, cardholder_no, amount, currency,
--     transacted_at)
-- Makes waits: the purchases that wait for these identifiers. Grain: one row per purchase.
create temp table waits as
select
    waiting.identifier_no, waiting.institution_id, waiting.purchase_no, waiting.cardholder_no,
    waiting.amount, waiting.currency, waiting.transacted_at
from waiting_purchases as waiting
where waiting.identifier_no in (select suggested.identifier_no from suggested)
    and ($institution_id is null or waiting.institution_id = $institution_id);

-- name: list
-- reads: suggested(identifier_no, merchant_no, known_name, log_odds, probability, spelling, covered,
--     rarest, name, cluster)
-- reads: sought(identifier_no, name, text)
-- reads: numbers(identifier_no, merchant_no, own_length, merchants, nearest_length)
-- reads: waits(identifier_no, institution_id, purchase_no, cardholder_no, amount, currency,
--     transacted_at)
-- reads: would_pay(identifier_no, currency, cashback)
-- What is suggested, with what speaks for it and what hangs on it, the most money first: what a match
-- would pay, then what was spent, by how likely it is. `facts` tells a later reader whether that is
-- as it was. Grain: one row per identifier, merchant and currency.
with counted as (
    select
        identifier_no, currency, count(*) as purchases, sum(amount) as amount,
        count(distinct (institution_id, cardholder_no)) as cardholders,
        min(transacted_at) as first_seen_at, max(transacted_at) as last_seen_at
    from waits
    group by identifier_no, currency
),

payers as (
    select distinct
        waits.identifier_no, waits.institution_id, waits.cardholder_no, merchants.merchant_no,
        merchants.merchant_id
    from waits
    inner join suggested on suggested.identifier_no = waits.identifier_no
    inner join merchants on merchants.merchant_no = suggested.merchant_no
),

-- While a match is tried a suggested identifier is the merchant's; who paid there before is counted.
known_payers as (
    select distinct merchants.merchant_no, purchases.institution_id, purchases.cardholder_no
    from purchases
    inner join identifiers on identifiers.identifier_no = purchases.identifier_no
    inner join merchants on merchants.merchant_id = identifiers.merchant_id
    where merchants.merchant_no in (select suggested.merchant_no from suggested)
        and identifiers.identifier_no not in (select suggested.identifier_no from suggested)
        and ($institution_id is null or purchases.institution_id = $institution_id)
),

in_common as (
    select payers.identifier_no, payers.merchant_no, count(*) as cardholders
    from payers
    inner join known_payers
        on known_payers.merchant_no = payers.merchant_no
        and known_payers.institution_id = payers.institution_id
        and known_payers.cardholder_no = payers.cardholder_no
    group by payers.identifier_no, payers.merchant_no
),

linked as (
    select payers.identifier_no, payers.merchant_no, count(*) as links
    from payers
    inner join offers on offers.merchant_id = payers.merchant_id
    inner join links using (offer_no, cardholder_no, institution_id)
    group by payers.identifier_no, payers.merchant_no
),

coded as (
    select waits.identifier_no, mode(purchase_details.mcc) as mcc
    from waits
    inner join purchase_details using (purchase_no, institution_id)
    group by waits.identifier_no
)

select
    identifiers.merchant_identifier_type, identifiers.merchant_identifier,
    sought.text as merchant_descriptor, merchants.merchant_id, merchants.name as merchant_name,
    suggested.known_name as known_as,
    cast(suggested.probability as decimal(4, 3)) as probability,
    counted.purchases, counted.amount, counted.currency,
    cast(would_pay.cashback as decimal(38, 4)) as cashback, counted.cardholders,
    coalesce(in_common.cardholders, 0) as cardholders_in_common,
    coalesce(linked.links, 0) as links, coded.mcc, merchants.category,
    cast(suggested.spelling as decimal(4, 3)) as spelling,
    cast(suggested.covered as decimal(4, 3)) as words_in_common,
    cast(suggested.rarest as decimal(4, 3)) as rarest_word,
    coalesce(numbers.own_length, 0) as leading_characters,
    coalesce(numbers.nearest_length, 0) as leading_characters_of_any,
    suggested.cluster, counted.first_seen_at, counted.last_seen_at,
    substr(
        sha256(
            concat_ws(
                chr(31), identifiers.merchant_identifier_type, identifiers.merchant_identifier,
                merchants.merchant_id, merchants.name, suggested.name, suggested.known_name
            )
        ),
        1, 16
    ) as facts
from suggested
inner join sought on sought.identifier_no = suggested.identifier_no
inner join identifiers on identifiers.identifier_no = suggested.identifier_no
inner join merchants on merchants.merchant_no = suggested.merchant_no
inner join counted on counted.identifier_no = suggested.identifier_no
left join would_pay
    on would_pay.identifier_no = suggested.identifier_no
    and would_pay.currency = counted.currency
left join in_common
    on in_common.identifier_no = suggested.identifier_no
    and in_common.merchant_no = suggested.merchant_no
left join linked
    on linked.identifier_no = suggested.identifier_no
    and linked.merchant_no = suggested.merchant_no
left join coded on coded.identifier_no = suggested.identifier_no
left join numbers
    on numbers.identifier_no = suggested.identifier_no
    and numbers.merchant_no = suggested.merchant_no
order by
    suggested.probability * coalesce(would_pay.cashback, 0) desc,
    suggested.probability * counted.amount desc, identifiers.merchant_identifier_type,
    identifiers.merchant_identifier, suggested.log_odds desc, counted.currency, merchants.merchant_id
limit $limit;
