"""Real card numbers do not get into the store, in whatever field they come."""

from __future__ import annotations

import json
import stat
from shutil import copytree
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.answers.find import find
from cardoffers_cli.answers.search import PurchaseFilter
from cardoffers_cli.archive.export import export
from cardoffers_cli.intake.transactions import FileReading
from cardoffers_cli.kernel.store.layout import mask_key_path
from cardoffers_cli.kernel.words.row_kinds import CREDITS, PURCHASES, REFUNDS
from cardoffers_cli.privacy.card_numbers import mask_card_numbers
from cardoffers_cli.river.checks import validate
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.storage.doctor import examine
from commands import cardoffers
from doors import open_command
from sizes import one_in, slow
from tables import NOON, select
from work import found, job, kept, new_store, taken, tell

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.words.row_kinds import RowKind

CARD, AMERICAN = "4111111111111111", "378282246310005"
EVENT = {
    "cardholder_token": "9fb6f85a8aac50e20c422cac18b44258",
    "card_token": "ct_527b0abb",
    "card_acceptor_id": "M6CF4DC01F8024C",
    "amount": "12.50",
    "transaction_ref": "TX-0001",
    "transacted_at": "2026-03-18T13:12:54Z",
}
TEXTS = (
    *("cardholder_token", "card_token", "instrument_token"),
    *("transaction_ref", "card_acceptor_id", "merchant_identifier"),
    *("mcc", "merchant_descriptor", "network"),
)


@pytest.fixture
def alder(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(made, institutions="institution plan\nalder growth")
    return made


def csv_of(path: Path, *events: dict[str, str]) -> Path:
    names = dict.fromkeys(name for event in events for name in event)
    lines = [",".join(names), *(",".join(event.get(n, "") for n in names) for event in events)]
    path.write_text("\n".join([*lines, ""]))
    return path


def holder_of(field: str) -> dict[str, str]:
    """Return an event with a card number in one field, and with nothing else against it."""
    event = {**EVENT, field: CARD}
    if field in {"instrument_token", "merchant_identifier"}:
        del event["card_token" if field == "instrument_token" else "card_acceptor_id"]
    return event


@pytest.mark.parametrize("field", TEXTS)
@one_in(2)
def test_a_card_number_is_refused_and_kept_nowhere(alder: Job, tmp_path: Path, field: str) -> None:
    good = [{**EVENT, "transaction_ref": f"TX-100{n}", "amount": f"{n}.50"} for n in range(1, 4)]
    path = csv_of(tmp_path / "tx.csv", *good, holder_of(field))
    told = taken(alder, path)
    assert (3, 1) == (told["accepted"], told["invalid"])
    assert [("card_number", [5])] == [(row["code"], row["lines"]) for row in told["findings"]]
    assert CARD not in str(told)
    assert CARD not in str(kept(alder))
    assert [(field, "card_number")] == found(alder, "select field, code from rejects")


PRIVATE = "jo.doe@example.com"


def as_lines(path: Path, *events: dict[str, str]) -> Path:
    texts = [json.dumps({**event, "amount": 1}) for event in events]
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


def as_array(path: Path, *events: dict[str, str]) -> Path:
    path.write_text(json.dumps([{**event, "amount": 1} for event in events]))
    return path


@pytest.mark.parametrize("write", [csv_of, as_lines, as_array])
@pytest.mark.parametrize("raw", [False, True])
@one_in(3)
def test_what_was_refused_lies_masked_in_a_file_of_its_owners(
    alder: Job, tmp_path: Path, write: Any, raw: bool
) -> None:
    bad = [holder_of(field) for field in TEXTS]
    bad += [{**EVENT, "card_token": PRIVATE}, {**EVENT, "instrument_type": "x", "mcc": "5411"}]
    path = write(
        tmp_path / "tx", *[{**EVENT, "transaction_ref": f"TX-1{n}"} for n in range(3)], *bad
    )
    outputs = Outputs(errors=tmp_path / "e", valid=tmp_path / "v", rejected=tmp_path / "r", raw=raw)
    report = validate(str(path), FileReading(now=NOON), alder, outputs=outputs)
    assert len(bad) == report.invalid
    written = {name: (tmp_path / name).read_text() for name in "evr"}
    for secret in (CARD, PRIVATE):
        assert raw == (secret in written["r"])
        assert secret not in written["v"] + written["e"]
    source = path.read_text()
    for secret in (CARD, PRIVATE):
        source = source if raw else source.replace(secret, "[masked]")
    assert [] == [line for line in written["r"].splitlines() if line.rstrip(",") not in source]
    assert {0o600} == {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "evr"}


def test_the_mode_of_what_is_written_is_a_setting(tmp_path: Path) -> None:
    made = job(tmp_path / "none", file_mode="0640")
    outputs = Outputs(errors=tmp_path / "e", rejected=tmp_path / "r")
    validate(str(csv_of(tmp_path / "tx", EVENT)), FileReading(now=NOON), made, outputs=outputs)
    assert {0o640} == {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "er"}


# A store of before

OLD = """
    ref                  cardholder  card              identifier        amount
    4111111111111111     ann         5555555555554444  6011000990139424  1.00
    ref-2                ann         c1                M1                2.00
    5555-5555-5555-4444  bea         c2                -                 3.00
"""
IN_IT = ("4111111111111111", "5555555555554444", "6011000990139424", "5555-5555-5555-4444")


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A store that took card numbers in, to be looked at."""
    made = new_store(tmp_path_factory.mktemp("older"))
    tell(
        made,
        institutions="institution plan\nalder growth",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM1 bakery",
        offers="offer merchant\nbread bakery",
        programs="offer\nbread",
        links="cardholder offer\nann bread",
        purchases=OLD,
    )
    match_purchases(made)
    with made.store() as store, store.transaction():
        select(
            store,
            "insert into recent_purchase_details (purchase_no, institution_id, merchant_descriptor)"
            " select purchase_no, institution_id, 'shop 4111 1111 1111 1111 x' from purchases",
        )
        select(
            store,
            "insert into duplicates select 1, institution_id, 1, transaction_ref, false"
            " from purchases where transaction_ref like '4%'",
        )
    return made


@pytest.fixture
def old(older: Job, tmp_path: Path) -> Job:
    """A copy of it, to be changed."""
    copytree(older.path.parent, tmp_path, dirs_exist_ok=True)
    return job(tmp_path / older.path.name)


def everything_in(made: Job) -> str:
    return str(kept(made, "runs"))


SCREENS = (
    "find -i alder --ref *",
    "find -i alder --amount 1",
    "report unresolved",
    "timeline ref-2 -i alder",
    "why ref-2 -i alder",
    "status",
    "doctor --strict",
    "store mask-card-numbers --dry-run",
)


@pytest.mark.parametrize("line", SCREENS)
@pytest.mark.parametrize("form", ["table", "json", "html"])
@one_in(5)
def test_screens_show_no_card_number(older: Job, line: str, form: str) -> None:
    words = [*line.split(), "--store", older.path, "--format", form]
    ended = cardoffers(*words, exit_code=None)
    assert ended.exit_code in {0, 3}, ended.stderr
    shown = ended.stdout + ended.stderr
    assert [] == [number for number in IN_IT if number in shown]


def test_references_of_one_form_can_be_read_on_screens(alder: Job, tmp_path: Path) -> None:
    taken(alder, csv_of(tmp_path / "tx.csv", *numbered(100)))
    right = "4000000000000002"
    (row,) = find("alder", PurchaseFilter(ref=right), alder, limit=5)["data"]
    assert right == row["transaction_ref"]


@slow
def test_card_numbers_are_masked_and_nothing_else(old: Job) -> None:
    before = everything_in(old)
    dry = mask_card_numbers(old, dry_run=True)
    assert (before, 0, 0) == (everything_in(old), dry["masked"], dry["left"])
    assert not mask_key_path(old.path).exists()
    done = mask_card_numbers(old)
    assert (dry["places"], dry["card_numbers"], 0) == (
        done["places"],
        done["masked"],
        done["left"],
    )
    assert [] == [number for number in IN_IT if number in everything_in(old)]
    assert "shop [masked] x" in everything_in(old)
    assert 0o600 == stat.S_IMODE(mask_key_path(old.path).stat().st_mode)
    refs = found(old, "select transaction_ref from purchases order by purchase_no")
    assert ["masked-", "ref-2", "masked-"] == [ref[:7] for (ref,) in refs]
    assert len(set(refs)) == len(refs)
    assert refs[:1] == found(old, "select transaction_ref from duplicates")
    assert {"no_card_numbers": True} == card_audit(old)
    after = everything_in(old)
    assert 0 == mask_card_numbers(old)["card_numbers"]
    assert after == everything_in(old)


@slow
@pytest.mark.parametrize(("is_archived", "left"), [(False, 0), (True, 6)])
def test_a_redemption_says_the_mask_of_its_reference(
    old: Job, tmp_path: Path, is_archived: bool, left: int
) -> None:
    """In an archive, which is never rewritten, its purchase stays as it was."""
    number = "378282246310005"
    with old.store() as store, store.transaction():
        for table in ("recent_purchases", "redemptions"):
            said = f"update {table} set transaction_ref = ? where transaction_ref = 'ref-2'"  # noqa: S608
            store.connection.execute(said, [number])
        store.connection.execute("update outbox set body = replace(body, 'ref-2', ?)", [number])
    if is_archived:
        export(old, str(tmp_path / "archive"))
    assert left == mask_card_numbers(old)["left"]
    ((ref, body),) = found(
        old, "select transaction_ref, body from redemptions join outbox using (redemption_no)"
    )
    assert ref.startswith("masked-")
    assert f'"{ref}"' in body
    with old.store(read_only=True) as store:
        wrong = [each.name for each in examine(store, old.path) if not each.ok]
    assert "redemptions_fit_their_purchase" not in wrong


def card_audit(made: Job) -> dict[str, bool]:
    with made.store(read_only=True) as store:
        audits = examine(store, made.path)
    return {each.name: each.ok for each in audits if each.name == "no_card_numbers"}


@pytest.mark.parametrize("text", ["CO {}", "{} A", "x {} y"])
def test_a_card_number_is_masked_whatever_the_length_of_its_text(old: Job, text: str) -> None:
    with old.store() as store, store.transaction():
        store.connection.execute("update merchants set name = ?", [text.format(CARD)])
    mask_card_numbers(old)
    assert [(text.format("[masked]"),)] == found(old, "select name from merchants")


@slow
def test_a_masked_reference_is_known_when_it_comes_again(old: Job, tmp_path: Path) -> None:
    assert {"no_card_numbers": False} == card_audit(old)
    mask_card_numbers(old)
    alone = csv_of(tmp_path / "alone.csv", {**EVENT, "transaction_ref": CARD})
    assert (0, 1) == tuple(taken(old, alone)[name] for name in ("accepted", "invalid"))
    around = numbered(1000, int(CARD) - 500)
    told = taken(old, csv_of(tmp_path / "tx.csv", *around))
    assert (999, 1, 0) == tuple(told[name] for name in ("accepted", "duplicates", "invalid"))


def refund_of(number: int, reference: str) -> dict[str, str]:
    return {
        "refund_ref": f"RF-{number}",
        "original_transaction_ref": reference,
        "amount": "1.00",
        "refunded_at": "2026-03-19T13:12:54Z",
    }


def credit_of(number: int, reference: str) -> dict[str, str]:
    return {
        "credit_ref": f"CR-{number}",
        "transaction_ref": reference,
        "amount": "1.00",
        "status": "credited",
        "credited_at": "2026-03-19T13:12:54Z",
    }


@slow
@pytest.mark.parametrize(
    ("kind", "names", "query"),
    [
        (
            REFUNDS,
            refund_of,
            (
                "select original_transaction_ref from refunds "
                "where original_transaction_ref like 'masked-%'"
            ),
        ),
        (
            CREDITS,
            credit_of,
            "select transaction_ref from credits where transaction_ref like 'masked-%'",
        ),
    ],
    ids=["refunds", "credits"],
)
def test_a_masked_reference_is_known_to_rows_that_name_it(
    old: Job, tmp_path: Path, kind: RowKind, names: Any, query: str
) -> None:
    """Among numbers of one form it is a reference; its purchase has another one by now."""
    mask_card_numbers(old)
    rows = [names(number, str(int(CARD) - 500 + number)) for number in range(1000)]
    path = str(csv_of(tmp_path / "a.csv", *rows))
    for accepted, duplicates in ((1000, 0), (0, 1000)):
        options = ImportOptions(kind=kind)
        told = import_file(path, "alder", old, options, outputs=Outputs()).document()
        expected = (accepted, duplicates, 0)
        assert expected == tuple(told[name] for name in ("accepted", "duplicates", "conflicts"))
    (named,) = found(old, query)
    masked = "select transaction_ref from purchases where transaction_ref like 'masked-%'"
    assert named in found(old, masked)


@slow
def test_masking_asks_and_writes_the_store_anew(old: Job) -> None:
    words = ("store", "mask-card-numbers", "--store", old.path, "--format", "json")
    assert "Add --yes" in cardoffers(*words, exit_code=2).stderr
    done = json.loads(cardoffers(*words, "--yes").stdout)
    assert (8, 0) == (done["masked"], done["left"])
    for path in old.path.parent.rglob("*"):
        if path.is_file():
            assert CARD.encode() not in path.read_bytes(), path.name


def numbered(count: int, first: int = 4 * 10**15) -> list[dict[str, str]]:
    return [
        {**EVENT, "transaction_ref": str(each), "amount": f"{each % 100_000 + 1}.00"}
        for each in range(first, first + count)
    ]


def codes(told: dict[str, Any]) -> dict[str, int]:
    return {row["code"]: row["rows"] for row in told["findings"]}


def test_references_of_one_form_are_taken_with_a_warning(alder: Job, tmp_path: Path) -> None:
    told = taken(alder, csv_of(tmp_path / "tx.csv", *numbered(1000)))
    assert (1000, 0) == (told["accepted"], told["invalid"])
    assert {"reference_like_card": 0} == codes(told)


def test_a_card_number_among_numeric_references_is_found(alder: Job, tmp_path: Path) -> None:
    """It has a length of its own, of which there are too few to be references."""
    card = {**EVENT, "transaction_ref": AMERICAN, "card_acceptor_id": "SECRETSHOP"}
    path = csv_of(tmp_path / "tx.csv", *numbered(1000, 52 * 10**14), card)
    told = taken(alder, path)
    assert (1000, 1) == (told["accepted"], told["invalid"])
    assert 1 == codes(told)["card_number"]
    assert AMERICAN not in str(kept(alder))
    assert "SECRETSHOP" not in str(kept(alder))
    assert [(None, "transaction_ref")] == found(alder, "select transaction_ref, field from rejects")


def test_a_rejected_row_shows_its_reference_where_it_is_one(alder: Job, tmp_path: Path) -> None:
    rows = numbered(1000)
    for row in rows:
        row["amount"] = "x"
    rows[2]["card_acceptor_id"] = CARD  # beside a reference that is right by chance
    taken(alder, csv_of(tmp_path / "tx.csv", *rows))
    assert [(row["transaction_ref"],) for row in rows] == found(
        alder, "select transaction_ref from rejects where field = 'amount' order by line"
    )


def test_a_row_with_other_faults_is_counted_once(alder: Job, tmp_path: Path) -> None:
    bad = {**EVENT, "transaction_ref": CARD, "amount": "x"}
    told = taken(alder, csv_of(tmp_path / "tx.csv", EVENT, bad))
    assert (1, 1) == (told["accepted"], told["invalid"])
    assert [(None, "amount"), (None, "transaction_ref")] == found(
        alder, "select transaction_ref, field from rejects order by 2"
    )


def test_a_check_comes_to_the_same(alder: Job, tmp_path: Path) -> None:
    path = csv_of(tmp_path / "tx.csv", *numbered(100), {**EVENT, "transaction_ref": AMERICAN})
    report = validate(str(path), FileReading(now=NOON), alder, outputs=Outputs())
    assert (100, 1) == (report.valid, report.invalid)


# One verdict, whatever the size of the file


def verdicts(made: Job, folder: Path, sizes: Sequence[int], **bad: str) -> set[tuple[str, ...]]:
    """Return what is said of a row in files of some sizes, over HTTP, simulated and as a refund."""
    found = set()
    for size in sizes:
        others = [{**EVENT, "transaction_ref": f"TX-{size}-{n}"} for n in range(size - 1)]
        path = csv_of(folder / f"{size}.csv", *others, {**EVENT, **bad})
        told = taken(made, path, dry_run=True)
        found.add(tuple(code for code in codes(told) if code == "card_number"))
    event = json.dumps({**EVENT, "amount": 12.5, **bad}).encode()
    with open_command(made) as door:
        for path in ("/api/v1/transactions/simulate", "/api/v1/transactions"):
            answer = door.call("POST", path, key="all", body=event)
            said = answer.document.get("errors", ()) if answer.status >= 400 else ()
            found.add(tuple(each["code"] for each in said))
    refund = {"refund_ref": "RF-1", "amount": "1.00", "refunded_at": EVENT["transacted_at"],
              **{name: {**EVENT, **bad}[name] for name in
                 ("cardholder_token", "card_token", "card_acceptor_id")}}  # fmt: skip
    path = csv_of(folder / "refunds.csv", {**refund, "original_transaction_ref": "TX-0"})
    options = ImportOptions(kind=REFUNDS, dry_run=True)
    told = import_file(str(path), "alder", made, options, outputs=Outputs()).document()
    found.add(tuple(code for code in codes(told) if code == "card_number"))
    return found


KEY = "key institution scopes created expires\nall alder - 2026-01-01 2027-01-01"


@slow
@pytest.mark.parametrize("sizes", [(1, 30), pytest.param((300, 40_000), marks=slow)], ids=str)
def test_an_identifier_gets_one_verdict_at_every_door(
    alder: Job, tmp_path: Path, sizes: Sequence[int]
) -> None:
    """It is a card number until the catalogue holds it; then it is a merchant's everywhere."""
    tell(alder, keys=KEY)
    number = {"card_acceptor_id": CARD}
    assert {("card_number",)} == verdicts(alder, tmp_path, sizes, **number)
    tell(alder, merchants="merchant\nbakery", identifiers=f"identifier merchant\n{CARD} bakery")
    assert {()} == verdicts(alder, tmp_path, sizes, **number)
    assert {"no_card_numbers": True} == card_audit(alder)
    assert 0 == mask_card_numbers(alder, dry_run=True)["card_numbers"]


@slow
def test_a_declared_length_is_no_card_number_until_it_is_taken_back(
    alder: Job, tmp_path: Path
) -> None:
    tell(alder, keys=KEY)
    token = {"card_token": CARD}
    assert {("card_number",)} == verdicts(alder, tmp_path, (1, 30), **token)
    for said, expected in (("16", ()), ("15", ("card_number",)), ("none", ("card_number",))):
        words = ("institution", "set", "alder", "--numbers", f"card_token={said}")
        cardoffers(*words, "--store", alder.path)
        assert {expected} == verdicts(alder, tmp_path, (1, 30), **token)
        assert {"no_card_numbers": said == "16"} == card_audit(alder)
    logged = "select details from acts where kind = 'numbers_declared' order by act_no"
    assert [
        {"numbers": [None, "card_token=16"]},
        {"numbers": ["card_token=16", "card_token=15"]},
        {"numbers": ["card_token=15", None]},
    ] == [json.loads(details) for (details,) in found(alder, logged)]


@slow
@pytest.mark.parametrize(
    ("kind", "row"),
    [
        (PURCHASES, {**EVENT, "transaction_ref": CARD}),
        (REFUNDS, {**refund_of(1, "TX-0001"), "refund_ref": CARD}),
        (CREDITS, {**credit_of(1, "TX-0001"), "credit_ref": CARD}),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_what_was_taken_is_known_when_its_length_is_not_declared_any_more(
    alder: Job, tmp_path: Path, kind: RowKind, row: dict[str, str]
) -> None:
    path = str(csv_of(tmp_path / "a.csv", row))
    for said, expected in (("16", (1, 0, 0)), ("none", (0, 1, 0))):
        words = ("institution", "set", "alder", "--numbers", f"{kind.reference}={said}")
        cardoffers(*words, "--store", alder.path)
        options = ImportOptions(kind=kind)
        told = import_file(path, "alder", alder, options, outputs=Outputs()).document()
        assert expected == tuple(told[name] for name in ("accepted", "duplicates", "invalid"))


@slow
def test_all_that_was_sent_tells_and_it_is_said_once_what_was_refused_before(
    alder: Job, tmp_path: Path
) -> None:
    """The hundredth number tells that the ten right ones before it are references."""
    refused = taken(alder, csv_of(tmp_path / "june.csv", *numbered(99)))
    assert (89, 10) == (refused["accepted"], refused["invalid"])
    told = taken(alder, csv_of(tmp_path / "july.csv", *numbered(30, 4 * 10**15 + 99)))
    assert (30, 0) == (told["accepted"], told["invalid"])
    said = [row["message"] for row in told["findings"] if row["code"] == "reference_like_card"]
    june = tmp_path / "june.csv"
    again = (
        f"10 rows of {june} were refused as card numbers, and would be taken now: import it again"
    )
    assert again in said
    later = taken(alder, csv_of(tmp_path / "august.csv", *numbered(30, 4 * 10**15 + 200)))
    assert again not in [row.get("message") for row in later["findings"]]
    known = taken(alder, june)
    assert (10, 89, 0) == tuple(known[name] for name in ("accepted", "duplicates", "invalid"))
    evidence = 'select field, length, form, issued, "right" from number_evidence'
    assert [("transaction_ref", 16, "alone", 159, 16)] == found(alder, evidence)
    assert {"no_card_numbers": True} == card_audit(alder)


def test_the_last_number_of_a_file_tells_of_its_first(alder: Job, tmp_path: Path) -> None:
    rows = numbered(100)
    assert 100 == taken(alder, csv_of(tmp_path / "tx.csv", *rows), dry_run=True)["accepted"]
    assert 89 == taken(alder, csv_of(tmp_path / "tx.csv", *rows[:99]), dry_run=True)["accepted"]


SAID = {
    "a name": ("institution", "add", "cedar", "--currency", "GBP", "--name", f"of {CARD}"),
    "a merchant": ("merchant", "add", f"Shop {CARD}", "--category", "food"),
    "a title": ("institution", "set", "alder", "--tax-note", f"card {CARD}"),
    "a reason": ("redemption", "reverse", "x", "--reason", f"of {CARD}"),
}


@pytest.mark.parametrize("words", SAID.values(), ids=SAID)
def test_a_card_number_in_what_people_write_is_refused(alder: Job, words: Sequence[str]) -> None:
    ended = cardoffers(*words, "--store", alder.path, "--format", "json", exit_code=2)
    assert "card number" in ended.stderr + ended.stdout
    assert CARD not in ended.stderr + ended.stdout + str(kept(alder))


def test_a_card_number_in_the_name_of_a_file_is_not_kept(alder: Job, tmp_path: Path) -> None:
    taken(alder, csv_of(tmp_path / f"of {CARD}.csv", EVENT))
    ((name,),) = found(alder, "select file_name from imports")
    assert str(tmp_path / "of [masked].csv") == name
