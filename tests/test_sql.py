"""The SQL files as text: their form everywhere, and the portable subset in `river/plan/`.

A check takes one statement and yields complaints that say what to do instead. Comments and quoted
texts are blanked first, so words in them are never mistaken for SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from flow import files

KEYWORDS = re.compile(
    r"\b(select|from|where|join|insert|update|delete|create|with|order\s+by|group\s+by)\b",
    re.IGNORECASE,
)
FILLS_A_TABLE = re.compile(r"\s*(insert|merge|create\s+(or\s+replace\s+)?(temp\w*\s+)?table)\b")
STAR = re.compile(r"(\bselect|\bdistinct|,)\s+(\w+\s*\.\s*)?\*|\bas\s+\(?\s*from\b")
CLOCK_OR_CHANCE = re.compile(
    r"\b(now|today|get_current_\w+|transaction_timestamp|random|setseed|uuid|uuidv[47]|gen_random_uuid)"
    r"\s*\(|\b(current_(date|time|timestamp)|localtime(stamp)?)\b"
)

NOT_PORTABLE = {
    r"\bqualify\b": "number the rows in one CTE and filter them in the next",
    r"\basof\b": "join on the range of time and keep the nearest by row_number",
    r"\bexclude\b": "name the columns",
    r"\busing\s*\(": "join … on a.x = b.x",
    r"\b(group|order)\s+by\s+all\b": "name the columns",
    r"::": "cast(… as …)",
    r"\bvarchar\b(?!\s*\()": "give the length, varchar(n), or do without the cast",
    r"\btimestamptz\b|\btimestamp_\w+|\btime\s+zone\b": "timestamps are UTC and have no zone",
    r"/": "money is never divided; multiply, or compare products",
    r"\bavg\s*\(": "it is a float: sum and count",
    r"\b(list\w*|array_agg|group_concat|string_agg|listagg)\s*\(": "one row per item",
    r"\bstrftime\s*\(": "format outside the plan",
    r"\bepoch\w*\s*\(": "compare timestamps as they are",
    r"\bdistinct\s+on\b": "number the rows with row_number and keep the first",
    r"\b(anti|semi)\s+join\b": "where not exists (…), where exists (…)",
    r"\bnot\s+in\s*\(\s*select\b": "where not exists (…): a null makes `not in` empty",
    r"\bconcat(_ws)?\s*\(": "coalesce(…) || coalesce(…): engines differ on null in concat",
    r"\bover\s+(?!\()": "write the window out where it is used, so that its order is seen",
}
"""What `river/plan/` may not say -> what to say instead."""

UNIQUE_KEY = re.compile(r"\w+_(no|id|ref)")
"""Columns that tell rows apart end like this; a window's order must end in one."""


@dataclass(frozen=True)
class Statement:
    address: str  # folder/file:query
    comment: str
    code: str  # without comments, quoted texts blanked

    def complain(self, problem: str) -> str:
        return f"{self.address}: {problem}"


Check = Callable[[Statement], Iterator[str]]


def blank(text: str) -> str:
    """Take comments out and empty every quoted text."""
    token = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"[^\"]*\"", re.DOTALL)
    return token.sub(lambda found: {"'": "''", '"': '""'}.get(found[0][0], ""), text)


def read_statements(stem: str, text: str) -> list[Statement]:
    """Return the blocks of one file; SQL that stands before the first has no name."""
    preface, *blocks = re.split(r"^-- name:", text, flags=re.MULTILINE)
    found = [("", preface)] if blank(preface).strip() else []
    found += [(name.strip(), body) for name, _, body in (b.partition("\n") for b in blocks)]
    return [
        Statement(f"{stem}:{name}", leading_comment(body), blank(body).strip())
        for name, body in found
    ]


def leading_comment(body: str) -> str:
    """Return the comment lines a block begins with."""
    found = re.match(r"(?:\s*--[^\n]*\n)*", body)
    return found[0].replace("--", " ") if found else ""


def all_statements() -> list[Statement]:
    return [statement for stem, text in files() for statement in read_statements(stem, text)]


def inside_parentheses(code: str, start: int) -> str:
    """Return what stands between the parenthesis that opens at `start` and its partner."""
    depth = 0
    for position in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[position], 0)
        if depth == 0:
            return code[start + 1 : position]
    return code[start + 1 :]


def split_at_commas(code: str) -> list[str]:
    """Split at the commas that stand in no parentheses."""
    depth, parts = 0, [""]
    for character in code:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [" ".join(part.split()) for part in parts]


# The checks of every statement


def has_a_name(statement: Statement) -> Iterator[str]:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", statement.address.partition(":")[2]):
        yield statement.complain("every block begins with `-- name: lower_case_name`")


def is_one_statement(statement: Statement) -> Iterator[str]:
    if not statement.code.removesuffix(";").strip():
        yield statement.complain("no statement: a name without SQL is asked for in vain")
    elif ";" in statement.code.removesuffix(";"):
        yield statement.complain("several statements: give each its own `-- name:` block")


def is_explained(statement: Statement) -> Iterator[str]:
    name = statement.address.partition(":")[2]
    words = set(re.findall(r"[a-z]+", statement.comment.lower())) - set(name.split("_"))
    if len(words) < 4:
        yield statement.complain(
            "its comment says no more than its name: say under it what it reads, what it writes,"
            " its grain, and why it can be run again"
        )


def keywords_are_lower_case(statement: Statement) -> Iterator[str]:
    for found in KEYWORDS.finditer(statement.code):
        if found[0] != found[0].lower():
            yield statement.complain(f"{found[0]}: keywords are lower case")


def a_table_is_filled_by_name(statement: Statement) -> Iterator[str]:
    code = statement.code.lower()
    if FILLS_A_TABLE.match(code) and STAR.search(code):
        yield statement.complain(
            "`*` on the way into a table: name the columns, a new one must not slip in unseen"
        )


def time_and_chance_are_parameters(statement: Statement) -> Iterator[str]:
    if found := CLOCK_OR_CHANCE.search(statement.code.lower()):
        yield statement.complain(f"{found[0]}: pass $now, or the value, from jobs/")


# The checks of `river/plan/`


def is_portable(statement: Statement) -> Iterator[str]:
    code = statement.code.lower()
    for pattern, instead in NOT_PORTABLE.items():
        if found := re.search(pattern, code):
            yield statement.complain(f"`{found[0].strip()}` is not portable: {instead}")


def is_a_select(statement: Statement) -> Iterator[str]:
    if not re.match(r"(select|with)\b", statement.code):
        yield statement.complain("a plan is SELECTs only: the engine writes its answers down")


def windows_have_one_order(statement: Statement) -> Iterator[str]:
    code = statement.code.lower()
    for found in re.finditer(r"\bover\s*\(", code):
        window = inside_parentheses(code, found.end() - 1)
        order = re.split(r"\border\s+by\b", window, maxsplit=1)[1:]
        if not order:
            continue
        keys = split_at_commas(re.split(r"\b(?:rows|range|groups)\b", order[0])[0])
        for key in keys:
            if not key.endswith(" nulls last"):
                yield statement.complain(f"order by {key}: say `nulls last`, engines differ")
        last = keys[-1].split()[0].rpartition(".")[2]
        if not UNIQUE_KEY.fullmatch(last):
            yield statement.complain(
                f"a window ends its order in {last}: end it in a unique key (…_no, …_id, …_ref),"
                " or equal rows come in any order"
            )


EVERYWHERE: list[Check] = [
    has_a_name,
    is_one_statement,
    is_explained,
    keywords_are_lower_case,
    a_table_is_filled_by_name,
    time_and_chance_are_parameters,
]
IN_PLANS: list[Check] = [is_portable, is_a_select, windows_have_one_order]


@pytest.mark.parametrize("check", EVERYWHERE)
def test_every_statement(check: Check) -> None:
    complaints = [complaint for each in all_statements() for complaint in check(each)]
    assert not complaints, "\n".join(["", *complaints])


@pytest.mark.parametrize("check", IN_PLANS)
def test_every_statement_of_a_plan(check: Check) -> None:
    plans = [each for each in all_statements() if each.address.startswith("river/plan/")]
    complaints = [complaint for each in plans for complaint in check(each)]
    assert not complaints, "\n".join(["", *complaints])


def test_a_name_is_used_once_in_its_file() -> None:
    addresses = [each.address for each in all_statements()]
    assert sorted(set(addresses)) == sorted(addresses)


# Every check finds what it is for, and lets the rest be

BREACHES: list[tuple[Check, str]] = [
    (has_a_name, "select 1"),
    (has_a_name, "-- name: Thing\nselect 1"),
    (has_a_name, "-- name: a thing\nselect 1"),
    (is_one_statement, "-- name: thing\nselect 1; select 2"),
    (is_one_statement, "-- name: thing\nselect 1; -- more\nselect 2;"),
    (is_one_statement, "-- name: thing\n-- nothing follows\n"),
    (is_explained, "-- name: thing\nselect 1"),
    (is_explained, "-- name: all_things\n-- All the things.\nselect 1"),
    (is_explained, "-- name: thing\nselect 1 -- Reads one table and writes nothing at all."),
    (keywords_are_lower_case, "SELECT a"),
    (keywords_are_lower_case, "select a From b"),
    (keywords_are_lower_case, "select a from b group\n BY c"),
    (a_table_is_filled_by_name, "insert into a select * from b"),
    (a_table_is_filled_by_name, "insert into a (c) select b.* from b"),
    (a_table_is_filled_by_name, "insert into a select c, b.* from b"),
    (a_table_is_filled_by_name, "insert into a select distinct * from b"),
    (a_table_is_filled_by_name, "create or replace temp table a as select * from b"),
    (a_table_is_filled_by_name, "create table a as from b"),
    (time_and_chance_are_parameters, "select now()"),
    (time_and_chance_are_parameters, "select current_timestamp"),
    (time_and_chance_are_parameters, "select current_date"),
    (time_and_chance_are_parameters, "select uuid()"),
    (time_and_chance_are_parameters, "select random ()"),
    (is_portable, "select a from b qualify c = 1"),
    (is_portable, "select a from b asof join c on d"),
    (is_portable, "select * exclude (a) from b"),
    (is_portable, "select a from b join c using (d)"),
    (is_portable, "select a, count(*) from b group by all"),
    (is_portable, "select a from b order by all"),
    (is_portable, "select a::date from b"),
    (is_portable, "select cast(a as varchar) from b"),
    (is_portable, "select cast(a as timestamptz) from b"),
    (is_portable, "select cast(a as timestamp with time zone) from b"),
    (is_portable, "select a at time zone 'UTC' from b"),
    (is_portable, "select a / 2 from b"),
    (is_portable, "select a // 2 from b"),
    (is_portable, "select avg(a) from b"),
    (is_portable, "select list(a) from b"),
    (is_portable, "select list_sort(a) from b"),
    (is_portable, "select string_agg(a, ',') from b"),
    (is_portable, "select array_agg(a) from b"),
    (is_portable, "select strftime(a, '%Y') from b"),
    (is_portable, "select epoch_ms(a) from b"),
    (is_portable, "select distinct on (a) b from c"),
    (is_portable, "select a from b anti join c on d"),
    (is_portable, "select a from b where a not in (select c from d)"),
    (is_portable, "select concat(a, b) from c"),
    (is_portable, "select sum(a) over w from c window w as (order by d)"),
    (is_a_select, "insert into a select b from c"),
    (is_a_select, "create temp table a as select b from c"),
    (windows_have_one_order, "select row_number() over (order by a_no) from b"),
    (windows_have_one_order, "select row_number() over (order by a, b_no nulls last) from c"),
    (windows_have_one_order, "select row_number() over (order by a_no nulls first) from b"),
    (windows_have_one_order, "select row_number() over (order by amount nulls last) from b"),
    (
        windows_have_one_order,
        "select row_number() over (order by b_no nulls last, a desc nulls last)",
    ),
    (
        windows_have_one_order,
        "select sum(a) over (order by f(b_no, c) nulls last rows 1 preceding)",
    ),
    (windows_have_one_order, "select 1 over (order by a_no nulls last), 2 over (order by b_no)"),
]

FINE: list[tuple[Check, str]] = [
    (is_one_statement, "select ';';"),
    (is_explained, "-- name: thing\n-- Reads one table and writes nothing.\nselect 1"),
    (keywords_are_lower_case, "-- SELECT\nselect 'FROM' as \"With\", created from b"),
    (a_table_is_filled_by_name, "insert into a select count(*), b * c from d"),
    (a_table_is_filled_by_name, "select * from b"),
    (time_and_chance_are_parameters, "select uuid, known, now from b"),
    (is_portable, "select a || '/', cast(a as varchar(9)), listed from b -- a::b / c"),
    (is_portable, "select a from b where not exists (select 1 from c where c.a = b.a)"),
    (is_portable, "select sum(a) over (partition by b) from c"),
    (is_a_select, "with a as (select 1) select b from a"),
    (windows_have_one_order, "select sum(a) over (partition by b) from c"),
    (
        windows_have_one_order,
        """select sum(a) over (
            partition by b order by coalesce(c, d) desc nulls last, c.purchase_no nulls last
            rows between unbounded preceding and current row
        ) from c""",
    ),
]


@pytest.mark.parametrize(("check", "text"), BREACHES)
def test_a_breach_is_found(check: Check, text: str) -> None:
    statement = read_statements("river/plan/match", text)[0]
    complaints = list(check(statement))
    assert complaints
    assert all(complaint.startswith("river/plan/match:") for complaint in complaints)


@pytest.mark.parametrize(("check", "text"), FINE)
def test_what_is_allowed_is_left_alone(check: Check, text: str) -> None:
    statement = read_statements("river/plan/match", text)[0]
    assert [] == list(check(statement))


def test_every_check_and_every_ban_has_a_breach() -> None:
    assert {*EVERYWHERE, *IN_PLANS} == {check for check, _ in BREACHES}
    banned = [text for check, text in BREACHES if check is is_portable]
    assert [] == [ban for ban in NOT_PORTABLE if not any(re.search(ban, text) for text in banned)]
