"""What `validate` and `import` say of a file, and how they end."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.intake.schemas.formats import rules_digest
from sizes import one_in, slow

if TYPE_CHECKING:
    from collections.abc import Callable

AT = ("--as-of", "2026-10-01")
HEADER = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"
INSTITUTIONS = (
    "slug,institution_id,name,plan,currency,languages,max_active_offers,widget_limit\n"
    "alder,,Alder,growth,GBP,en,5,5\n"
)
TOKEN = "0123456789abcdef" * 4


def row(ref: str, amount: str = "1.00") -> str:
    return f"{TOKEN},ct_{ref},000000000000001,{amount},{ref},2026-09-01T12:00:00Z\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that writes a transaction file of some rows, named in the folder."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, *rows: str, header: str = HEADER) -> str:
        (tmp_path / name).write_text(header + "".join(rows))
        return name

    return write


@pytest.mark.parametrize("form", ["table", "tsv", "csv", "json", "jsonl", "md"])
@one_in(3)
def test_a_good_file_is_told_in_every_format(cardoffers: Any, file: Any, form: str) -> None:
    ended = cardoffers("validate", file("good.csv", row("1")), "--format", form, *AT)
    assert (0, "") == (ended.exit_code, ended.stderr)


def test_findings_are_grouped_and_then_told_one_by_one(cardoffers: Any, file: Any) -> None:
    name = file("bad.csv", row("1"), row("2", "x"), row("3", "0"), row("1"))
    ended = cardoffers("validate", name, "--format", "table", *AT)
    codes = [line.split()[0] for line in ended.stdout.split("\n\n")[0].splitlines()[2:]]
    assert ["amount_invalid", "amount_not_positive", "duplicate"] == codes
    assert "bad.csv:3: amount_invalid amount is" in ended.stdout
    assert "bad.csv:5:" not in ended.stdout
    assert ended.stdout.endswith(
        "bad.csv: not all good. 1 of 4 rows can be taken (2 invalid, 1 duplicate);"
        " 1 of 1 can earn.\n"
        "An import would also look for: known references, known merchants,"
        " rows of other institutions.\n"
    )
    assert 3 == ended.exit_code


def test_many_findings_are_cut_short_with_the_way_to_all(cardoffers: Any, file: Any) -> None:
    rows = [row(f"ref-{number}", "x" if number < 30 else "1.00") for number in range(70)]
    shown = cardoffers("validate", file("bad.csv", *rows), "--format", "table", *AT).stdout
    assert 20 == shown.count("bad.csv:") - 1
    assert "… 10 more; --errors FILE writes them all." in shown


def test_what_is_found_in_most_rows_is_said_once(cardoffers: Any, file: Any) -> None:
    rows = [row(f"ref-{n}", "x" if n == 7 else "1.00").replace(TOKEN, "ann") for n in range(9)]
    text = HEADER.replace("\n", ",colour\n") + "".join(r.replace("\n", ",red\n") for r in rows)
    shown = cardoffers("validate", file("weak.csv", header=text), "--format", "table", *AT).stdout
    assert [
        "weak.csv:9: amount_invalid amount is not digits with an optional decimal part",
        "weak.csv: token_weak cardholder_token is shorter than 32 characters: 9 of 9 rows",
        "weak.csv: column_unknown the column colour is not known and is ignored",
    ] == shown.split("\n\n")[1].splitlines()


@pytest.mark.parametrize("form", ["table", "tsv", "csv", "json", "jsonl", "md", "html"])
@one_in(3)
def test_an_unknown_column_is_named_in_every_format(cardoffers: Any, file: Any, form: str) -> None:
    text = HEADER.replace("\n", ",colour\n") + row("ref-1").replace("\n", ",red\n")
    shown = cardoffers("validate", file("tx.csv", header=text), "--format", form, *AT).stdout
    assert "the column colour is not known" in shown.replace("\\_", "_").lower()


def test_many_unknown_columns_are_named_in_the_table_and_said_once(
    cardoffers: Any, file: Any
) -> None:
    extra = [f"colour {number}" for number in range(36)]
    header = HEADER.replace("\n", f",{','.join(extra)}\n")
    name = file("wide.csv", row("1").replace("\n", f"{',' * 36}\n"), header=header)
    shown = cardoffers("validate", name, "--format", "table", *AT).stdout
    table, told, _ = shown.split("\n\n")
    assert [f"the column {each} is not known and is ignored" for each in extra] == [
        line[line.index("the column") :].rstrip() for line in table.splitlines()[2:]
    ]
    assert "wide.csv: column_unknown a column is not known and is ignored: 36 times" == told


def test_what_is_found_often_hides_nothing_that_is_rare(cardoffers: Any, file: Any) -> None:
    amounts = {7: "0", 60: "12.505"} | dict.fromkeys(range(10, 40), "x")
    rows = [row(f"ref-{n}", amounts.get(n, "1.00")) for n in range(70)]
    text = HEADER + "".join(rows) + "one field\n"
    shown = cardoffers("validate", file("bad.csv", header=text), "--format", "table", *AT).stdout
    told = [line.split()[:2] for line in shown.split("\n\n")[1].splitlines()]
    assert [
        ["bad.csv:9:", "amount_not_positive"],
        *([f"bad.csv:{line}:", "amount_invalid"] for line in range(12, 29)),
        ["bad.csv:62:", "amount_precision"],
        ["bad.csv:72:", "field_count"],
        ["…", "13"],
    ] == told


COLOURS = """
line,transaction_ref,column,code,level,message
1,,shade,column_unknown,warning,the column shade is not known and is ignored
1,,colour,column_unknown,warning,the column colour is not known and is ignored
,,,tokens_unstable,warning,almost every cardholder_token occurs once: tokens look rotated
1002,ref-1001,amount,amount_not_positive,error,amount is zero or negative
"""


@slow
@pytest.mark.parametrize("command", ["validate", "simulate -i alder", "import -i alder"])
def test_what_is_about_the_whole_file_is_in_its_report(
    cardoffers: Any, file: Any, command: str
) -> None:
    header = HEADER.replace("\n", ",shade,colour\n")
    rows = "".join(
        row(f"ref-{n}", f"{n < 1001:d}.00").replace(TOKEN, f"{n:064}").replace("\n", ",,\n")
        for n in range(1, 1002)
    )
    cardoffers("init")
    file("institutions.csv", header=INSTITUTIONS)
    cardoffers("catalog", "import", "institutions.csv")
    name = file("tx.csv", header=header + rows)
    word, *options = command.split()
    assert 3 == cardoffers(word, name, *options, "--errors", "errors.csv", *AT).exit_code
    assert COLOURS.lstrip() == Path("errors.csv").read_text()


def test_an_unknown_field_is_named_too(cardoffers: Any, file: Any) -> None:
    event = (
        f'{{"cardholder_token": "{TOKEN}", "card_token": "ct_12", "card_acceptor_id": "M1",'
        ' "amount": 1.00, "transaction_ref": "ref-1", "transacted_at": "2026-09-01T12:00:00Z",'
        ' "colour": "red", "4111111111111111": 1}\n'
    )
    found = cardoffers("validate", file("tx.jsonl", header=event), "--format", "json", *AT)
    assert [
        "the column number 1 is not known and is ignored",
        "the column colour is not known and is ignored",
    ] == [each["message"] for each in found.document["findings"]]


def test_only_several_files_are_named_in_every_row(cardoffers: Any, file: Any) -> None:
    one, other = file("a.csv", row("1", "x")), file("b.csv", row("1", "x"))
    header = "code\tlevel\trows\tlines\tfix"
    assert header == cardoffers("validate", one, *AT).stdout.splitlines()[0]
    assert f"file\t{header}" == cardoffers("validate", one, other, *AT).stdout.splitlines()[0]


def test_an_unusable_file_leaves_nothing_to_show(cardoffers: Any, file: Any) -> None:
    name = file("other.csv", header=HEADER.replace(",", ";"))
    ended = cardoffers("validate", name, "--format", "table", *AT)
    assert (14, "") == (ended.exit_code, ended.stdout)
    assert (
        "Error: other.csv: The columns of the header are separated by a semicolon.\n"
        "Hint: Add --delimiter ';'.\n"
    ) == ended.stderr
    document = cardoffers("validate", name, "--format", "json", *AT).document
    assert "header_delimiter" == document["file_error"]["code"]


def test_standard_input_is_named_too(cardoffers: Any) -> None:
    ended = cardoffers("validate", "-", *AT, stdin="")
    assert "Error: Standard input: The file has no content." in ended.stderr


@pytest.mark.parametrize(
    "words", [("validate",), ("simulate", "-i", "alder"), ("import", "-i", "alder")], ids=str
)
@one_in(3)
def test_an_unusable_file_is_named_by_every_command(
    cardoffers: Any, file: Any, words: tuple[str, ...]
) -> None:
    cardoffers("init")
    file("institutions.csv", header=INSTITUTIONS)
    cardoffers("catalog", "import", "institutions.csv")
    ended = cardoffers(words[0], file("tx.csv", header="{"), *words[1:], *AT)
    assert 14 == ended.exit_code
    assert "Error: tx.csv: The JSON ends early, after line 1, column 2." in ended.stderr


def test_an_unusable_catalogue_file_is_named(cardoffers: Any, file: Any) -> None:
    cardoffers("init")
    ended = cardoffers("catalog", "import", file("merchants.csv", header="a;b"))
    assert "Error: merchants.csv: The first line holds none of" in ended.stderr


def test_of_several_files_the_unusable_ones_are_named(cardoffers: Any, file: Any) -> None:
    good, empty = file("good.csv", row("1")), file("empty.csv", header="")
    ended = cardoffers("validate", good, empty, "--format", "table", *AT)
    assert 14 == ended.exit_code
    assert "good.csv: good." in ended.stdout
    assert "Error: empty.csv: The file has no content." in ended.stderr


# Certificates

PROFILE = """
form = {delimiter = ";"}
[fields]
cardholder_token = {column = "Kunde"}
card_token = {column = "Karte"}
amount = {column = "Betrag"}
transaction_ref = {column = "Beleg"}
transacted_at = {column = "Datum", format = "%d.%m.%Y", zone = "Europe/Berlin"}
"""


@pytest.fixture
def certified(cardoffers: Any, file: Any) -> str:
    """Certify a file with two findings, a good one and one that is none, read with options."""
    names = (
        file("one.csv", row("r-101"), row("r-102", "x"), row("r-101")),
        file("two.csv", row("r-201", "2.00")),
        file("none.csv", header="birds\n"),
    )
    words = ("--currency", "GBP", "--allow-unterminated", "--certificate", "c.json", *AT)
    assert 14 == cardoffers("validate", *names, *words).exit_code
    return "c.json"


def test_a_certificate_has_counts_and_codes_of_each_file_and_how_it_was_read(
    certified: str,
) -> None:
    told = json.loads(Path(certified).read_bytes())
    assert rules_digest() == told["rules_sha256"]
    assert "2026-10-01T00:00:00.000Z" == told["made_at"]
    assert ("GBP", ",", True) == (
        told["read_as"]["currency"],
        told["read_as"]["delimiter"],
        told["read_as"]["allow_unterminated"],
    )
    assert [
        ("one.csv", 3, 1, 1, 1, [("amount_invalid", 1), ("duplicate", 1)], None),
        ("two.csv", 1, 1, 0, 0, [], None),
        ("none.csv", 0, 0, 0, 0, [], "header_missing"),
    ] == [
        (
            each["file"],
            *(each[name] for name in ("received", "valid", "invalid", "duplicates")),
            [(found["code"], found["rows"]) for found in each["findings"]],
            each["file_error"],
        )
        for each in told["files"]
    ]
    assert sha256(Path("one.csv").read_bytes()).hexdigest() == told["files"][0]["sha256"]


CHANGES: dict[str, tuple[Callable[[], object], list[str]]] = {
    "nothing": (lambda: None, []),
    "a name": (lambda: Path("two.csv").rename("b.csv"), []),
    "a row": (lambda: Path("two.csv").write_text(HEADER + row("r-201", "3.00")), ["sha256"]),
    "a fault": (
        lambda: Path("two.csv").write_text(HEADER + row("r-201", "x")),
        ["sha256", "bytes", "valid", "invalid", "can_be_taken", "can_earn", "ok", "findings"],
    ),
    "a file gone": (lambda: Path("two.csv").unlink(), ["file"]),
    "a file more": (lambda: Path("more.csv").write_text(HEADER + row("r-301")), ["file"]),
}


@slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_certificate_holds_for_the_same_files_alone(
    cardoffers: Any, certified: str, change: str
) -> None:
    do, expected = CHANGES[change]
    do()
    names = sorted(path.name for path in Path().glob("*.csv"))
    ended = cardoffers("validate", *names, "--check", certified, "--format", "json")
    assert expected == [each["what"] for each in ended.document["differences"]]
    assert (3 if expected else 0) == ended.exit_code


def test_a_certificate_of_other_rules_says_so_and_is_compared(
    cardoffers: Any, certified: str
) -> None:
    told = json.loads(Path(certified).read_bytes())
    told |= {"rules_sha256": "00", "program": "0.0.9"}
    Path(certified).write_text(json.dumps(told))
    ended = cardoffers("validate", "one.csv", "two.csv", "none.csv", "--check", certified)
    assert 0 == ended.exit_code
    assert "The certificate was made by other rules, of version 0.0.9." in ended.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("one.csv --check c.json --currency EUR", "another --currency"),
        ("one.csv --check c.json --kind refunds", "another --kind"),
        ("one.csv --check c.json --profile bank.toml", "another profile"),
        ("one.csv --check one.csv", "is no certificate"),
        ("one.csv --check c.json --certificate d.json", "exclude each other"),
        ("- --certificate d.json", "cannot be read again"),
        ("- --check c.json", "cannot be read again"),
    ],
)
def test_a_certificate_that_cannot_be_compared_is_refused(
    cardoffers: Any, certified: str, words: str, said: str
) -> None:
    assert certified
    Path("bank.toml").write_text(PROFILE)
    ended = cardoffers("validate", *words.split(), "--format", "json")
    assert (2, True) == (ended.exit_code, said in ended.error["message"])
    assert not Path("d.json").exists()


def test_certify_says_what_to_type_instead(cardoffers: Any) -> None:
    ended = cardoffers("certify", "one.csv", "--format", "json")
    assert (2, "Type `cardoffers validate FILE... --certificate FILE`.") == (
        ended.exit_code,
        ended.error["hint"],
    )


@slow
def test_a_store_is_asked_where_it_is_named(cardoffers: Any, file: Any) -> None:
    Path("institutions.csv").write_text(INSTITUTIONS)
    cardoffers("init", "--store", "s.duckdb")
    cardoffers("catalog", "import", "institutions.csv", "--store", "s.duckdb")
    name = file("tx.csv", row("1"), row("2", "x"))
    asked = ("--store", "s.duckdb", "-i", "alder", "--format", "json", *AT)
    first = cardoffers("validate", name, *asked, "--errors", "1.csv")
    cardoffers("import", file("before.csv", row("1")), *asked)
    again = cardoffers("validate", name, *asked, "--errors", "2.csv")
    taken = cardoffers("import", name, *asked, "--dry-run", "--errors", "3.csv")
    assert ([], 1, 0) == tuple(
        first.document[each] for each in ("not_asked", "can_be_taken", "duplicates")
    )
    assert (0, 1) == (again.document["can_be_taken"], again.document["duplicates"])
    assert again.document == {each: taken.document[each] for each in again.document}
    assert (Path("2.csv").read_bytes(), taken.exit_code) == (
        *(Path("3.csv").read_bytes(), again.exit_code),
    )
    assert 2 == cardoffers("validate", name, "-i", "alder").exit_code
