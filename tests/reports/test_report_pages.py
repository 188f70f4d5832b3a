"""Reports and nights as pages, held against goldens, but for their style.

To accept a change: `UPDATE_GOLDENS=1 pytest tests/reports/test_report_pages.py`, and look at the
difference in a browser.
"""

from __future__ import annotations

import json
import re
import shutil
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.reports.questions import Filters, redemptions
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.redemptions import reverse_redemption
from commands import in_a_pipe
from goldens import held
from sizes import at_the_gate, one_in, slow
from tables import NOON, given
from work import held as busy
from work import job, new_store

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

STYLE = re.compile(r"(<style>\n).*?(\n</)", re.DOTALL)
SECONDS = re.compile(r"\d+\.\d(?=</(td|dd)>|, \d)")
AS_OF = "2026-06-05T06:00:00Z"
PAGES = {
    "redemptions": "redemptions",
    "redemptions-of-one": "redemptions -i brook --status pending --from 2026-06-01 --limit 1",
    "redemptions-day": "redemptions --by day",
    "redemptions-offer": "redemptions --by offer",
    "redemptions-merchant": "redemptions --by merchant --limit 1",
    "settlements": "settlements",
    "settlements-of-one": "settlements -i brook --from 2026-06-01",
    "offers": "offers",
    "merchants": "merchants -i alder",
    "funnel": "funnel -i alder --compare --by day --from 2026-06-01",
    "unresolved": "unresolved",
}
OFFERS = """
    offer   merchant cashback rate currency budget
    A       bakery   1.00     0    GBP      6.00
    C       cinema   2.50     0.1  GBP      3.00
    D       bakery   0.125    0    KWD      -
    E       bakery   0.50     0    GBP      900.00
"""
DIRTY = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\nx\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A store with redemptions of two currencies, on three days, one of them reversed."""
    made = new_store(tmp_path_factory.mktemp("pages"))
    with made.store() as store:
        given(store, "institutions", "institution currency\nalder GBP\nbrook KWD")
        given(store, "merchants", "merchant\nbakery\ncinema")
        given(store, "offers", OFFERS)
        given(store, "programs", "institution offer\nalder A\nalder C\nalder E\nbrook D")
        given(store, "links", "institution offer\nalder A\nalder C\nbrook D")
        given(store, "engagement", "event offer\nwidget_view -\noffer_impression A")
        for number, row in enumerate(
            ("alder bakery GBP", "brook bakery KWD", "alder cinema GBP", "alder bakery GBP")
        ):
            header = "ref institution merchant currency at"
            refs = (f"{number}-{each} {row} 2026-06-01" for each in range(3 - number // 2))
            given(store, "purchases", "\n".join([header, *refs]))
            decide(store, job(now=NOON + timedelta(days=number)))
        given(store, "purchases", "ref identifier\nlost 000000000000042")
        decide(store, job())
        (last,) = redemptions(store, Filters(), limit=1, cursor=None).rows
        by: Any = {"now": NOON + timedelta(days=3), "actor": "tester"}
        with run_record(store, kind="reverse", **by) as run:
            reverse_redemption(store, str(last["id"]), reason="returned", run_no=run.run_no, **by)
    return made


def report(made: Job, words: str, *more: object) -> Any:
    given = ["report", *words.split(), "--store", made.path, "--as-of", AS_OF, *more]
    ended = in_a_pipe(given)
    assert 0 == ended.exit_code, ended
    return ended


def as_golden(name: str, page: str) -> None:
    """Hold a page against its golden, without its style."""
    held(f"{name}.html", STYLE.sub(r"\1…\2", page))


@slow
@pytest.mark.parametrize("name", PAGES)
@one_in(4)
def test_a_report_is_a_page(made: Job, name: str) -> None:
    as_golden(name, report(made, PAGES[name], "--format", "html").stdout)


@slow
def test_a_page_is_the_same_bytes_each_time(made: Job, tmp_path: Path) -> None:
    for name in ("first.html", "second.htm"):
        assert "Wrote" in report(made, "redemptions", "-o", tmp_path / name).stderr
    first, second = sorted(tmp_path.iterdir())
    assert first.read_bytes() == second.read_bytes()


def test_a_list_that_is_cut_says_how_to_get_the_others(made: Job) -> None:
    words = "redemptions -i alder --status pending --to 2026-07-01 --limit 2"
    page = report(made, words, "--format", "html").stdout
    command = "-i alder --status pending --to 2026-07-01T00:00:00.000Z --all -o redemptions.csv"
    said = f"All of them: <code>cardoffers report redemptions {command}</code>"
    assert f"3 more rows are not on this page. {said}" in page


def test_spent_budgets_are_counted_in_every_currency(tmp_path: Path) -> None:
    spent = new_store(tmp_path)
    with spent.store() as store:
        given(store, "merchants", "merchant\nbakery")
        offers = [f"{each} bakery {each} 0.50" for each in ("BRL", "EUR", "GBP", "INR", "MXN")]
        given(store, "offers", "\n".join(["offer merchant currency budget", *offers]))
    assert "5 are spent already" in report(spent, "offers", "--format", "html").stdout


def test_a_page_from_the_snapshot_says_so(made: Job, tmp_path: Path) -> None:
    ended = in_a_pipe(["store", "publish", "--store", made.path, "--as-of", AS_OF])
    assert 0 == ended.exit_code, ended
    with busy(made.path):
        page = report(made, "settlements", "-o", tmp_path / "page.html", "--lock-wait", "1")
    assert "snapshot" in page.stderr
    assert "From the snapshot of 2026-06-05 06:00 UTC." in (tmp_path / "page.html").read_text(
        "utf-8"
    )


def test_a_cursor_and_all_exclude_each_other_here_too(made: Job) -> None:
    words = ["report", "redemptions", "--format", "html", "--all", "--cursor", "x"]
    assert 2 == in_a_pipe([*words, "--store", made.path]).exit_code


def test_any_list_is_a_page(made: Job) -> None:
    words = ["institution", "list", "--format", "html", "--as-of", AS_OF, "--store", made.path]
    ended = in_a_pipe(words)
    assert 0 == ended.exit_code, ended
    as_golden("institutions", ended.stdout)


@slow
def test_a_night_is_a_page(made: Job, tmp_path: Path) -> None:
    (tmp_path / "drop" / "alder").mkdir(parents=True)
    (tmp_path / "drop" / "alder" / "1.csv").write_text(DIRTY)
    (tmp_path / "drop" / "alder" / "1.csv.done").touch()
    words = ["nightly", tmp_path / "drop", "--store", made.path, "--as-of", AS_OF]
    ended = in_a_pipe(words)
    assert 3 == ended.exit_code, ended
    page = made.path.parent / "reports" / "2026-06-05" / "index.html"
    as_golden("night", page.read_text("utf-8").replace(str(made.path.parent), "/bank"))
    assert {0o600} == {each.stat().st_mode & 0o777 for each in page.parent.iterdir()}


def test_days_for_which_there_is_no_room_are_told(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    with made.store() as store:
        given(store, "institutions", "institution\nalder")
        given(store, "merchants", "merchant\nbakery")
        given(store, "offers", "offer merchant\nA bakery")
        given(store, "ledger", "offer\nA\nA")
        early = "update ledger_entries set created_at = created_at - interval 99 day"
        store.connection.execute(f"{early} where redemption_no = 1")
    page = report(made, "redemptions --by day --status pending --all", "--format", "html").stdout
    assert '<h2 id="s1-title">Redemptions by week</h2>' in page
    assert "Redemptions by week of purchase" not in page  # the ledger alone knows no purchase
    command = "cardoffers report redemptions --by day --status pending --all -o days.csv"
    assert f"<code>{command}</code>" in page
    assert "No activity on" in page


def test_a_check_of_files_is_a_page_without_a_value_of_them(tmp_path: Path) -> None:
    secret = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"  # noqa: S105 - a token of the test
    good = f"{secret},card,000000000000001,1.00,{{}},2026-06-01T12:00:00Z"
    rows = [good.format("R-1"), good.format("R-2"), good.format("R-2"), good.format("R-1,x")]
    files = {"good": [good.format("R-1")], "bad": rows, "headless": rows[:1]}
    for name, lines in files.items():
        head = [] if name == "headless" else [DIRTY.splitlines()[0]]
        (tmp_path / f"{name}.csv").write_text("\n".join([*head, *lines, ""]))
    for name, exit_code in (("good", 0), ("bad", 3), ("headless", 14)):
        page = tmp_path / f"{name}.html"
        words = ["validate", tmp_path / f"{name}.csv", "--as-of", AS_OF, "--report", page]
        ended = in_a_pipe([*words, "--format", "json"])
        assert exit_code == ended.exit_code, ended
        text = page.read_text("utf-8")
        for value in (secret, "R-1", "R-2", "000000000000001", str(tmp_path)):
            assert value not in text, name
        as_golden(f"validation-{name}", text)


CANARY = "kanarie"
FIELDS = dict(
    zip(
        DIRTY.splitlines()[0].split(","),
        ("t" * 40, "card", "000000000000001", "1.00", "R-0", "2026-06-01T12:00:00Z"),
        strict=True,
    )
)
FURTHER = ("instrument_token", "instrument_type", "merchant_identifier", "mcc", "network")
FURTHER += ("merchant_descriptor", "merchant_identifier_type", "merchant_id", "currency", "colour")
FORMS = (
    "{}",
    "{}@example.com",
    "{}\u200b",
    "NULL {}",
    "='{}'",
    "{} 4111111111111111",
    "{}" + 300 * "x",
)


def planted() -> list[dict[str, str]]:
    """Return rows with a canary in each column, as each kind of value."""
    return [
        {
            **dict.fromkeys(FURTHER, ""),
            **FIELDS,
            "transaction_ref": f"R-{name}-{number}",
            name: text,
        }
        for name in (*FIELDS, *FURTHER)
        for number, text in enumerate(form.format(CANARY) for form in FORMS)
    ]


def as_csv(rows: list[dict[str, str]]) -> str:
    lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    broken = [f'{CANARY},"{CANARY}', f'{CANARY},x"{CANARY}"', f"{CANARY}," * 40, CANARY]
    return "\n".join([*lines, *broken, ""])


WITH_CANARIES = {
    "planted.csv": (3, as_csv(planted())),
    "planted.json": (3, json.dumps([*planted(), CANARY, [CANARY], {"colour": {"deep": CANARY}}])),
    "planted.jsonl": (3, "\n".join([*map(json.dumps, planted()), CANARY, f'{{"a": {CANARY}', ""])),
    "headless.csv": (14, as_csv(planted()).partition("\n")[2]),
    "other.csv": (14, f"{CANARY}1;{CANARY}@x;4111111111111111\n{CANARY};1;2\n"),
    "text.json": (14, f'"{CANARY}"'),
}


@pytest.mark.parametrize("name", WITH_CANARIES)
@pytest.mark.parametrize(
    "way", [("--report", "page.html"), ("--format", "html", "-o", "page.html")]
)
def test_no_page_of_a_check_has_a_value_of_a_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, way: tuple[str, ...]
) -> None:
    exit_code, content = WITH_CANARIES[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(content)
    ended = in_a_pipe(["validate", name, "--as-of", AS_OF, *way])
    text = (tmp_path / "page.html").read_text("utf-8")
    assert exit_code == ended.exit_code
    assert [] == [each for each in (CANARY, "4111", "R-", "example.com") if each in text]
    if exit_code != 14:
        assert 12 < text.count("cardoffers help findings ")
        assert sha256(content.encode()).hexdigest() in text


def test_the_page_of_a_check_is_shown_too(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text(DIRTY)
    (tmp_path / "2.csv").write_text(DIRTY)
    words = ["validate", tmp_path / "1.csv", tmp_path / "2.csv", "--as-of", AS_OF]
    ended = in_a_pipe([*words, "--format", "html"])
    assert 3 == ended.exit_code
    assert "0 of 2 files are good; 1.csv is not." in ended.stdout
    refused = in_a_pipe([*words, "--report", tmp_path / "page.pdf"])
    assert (2, False) == (refused.exit_code, (tmp_path / "page.pdf").exists())


@at_the_gate
def test_all_nights_are_a_page_that_leads_to_each(made: Job, tmp_path: Path) -> None:
    copy = shutil.copytree(made.path.parent, tmp_path / "copy")
    (tmp_path / "drop").mkdir()
    given = ["--store", copy / "store.duckdb", "--as-of"]
    for day in ("06", "07"):
        ended = in_a_pipe(["nightly", tmp_path / "drop", *given, f"2026-06-{day}T06:00:00Z"])
        assert ended.exit_code in {0, 3}, ended
    page = (copy / "reports" / "index.html").read_text("utf-8")
    links = re.findall(r'href="([^"#]+/index.html)"', page)
    assert ["2026-06-07/index.html", "2026-06-06/index.html"] == links[:2]
    assert all((copy / "reports" / link).exists() for link in links)
    shutil.rmtree(copy / "reports" / "2026-06-06")
    in_a_pipe(["nightly", tmp_path / "drop", *given, "2026-06-08T06:00:00Z"])
    page = (copy / "reports" / "index.html").read_text("utf-8")
    assert '2026-06-06/index.html"' not in page
    assert "2026-06-06" in page
    listed = in_a_pipe(["run", "list", *given, "2026-06-08T06:00:00Z", "--format", "html"])
    assert re.findall(r"<h1>.*?</h1>", page) == re.findall(r"<h1>.*?</h1>", listed.stdout)


@slow
def test_a_night_agrees_with_itself(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    with made.store() as store:
        given(store, "institutions", "institution\nalder\nbrook")
        given(store, "merchants", "merchant\nbakery")
        given(store, "offers", "offer merchant\nA bakery")
        given(store, "links", "institution offer\nalder A\nbrook A")
        given(store, "purchases", "ref merchant\nbefore bakery")
        decide(store, job(now=NOON))
        given(store, "purchases", "ref merchant\n1 bakery\n2 bakery")
        given(store, "purchases", "ref institution merchant\n3 brook bakery")
    (tmp_path / "drop").mkdir()
    words = ["nightly", tmp_path / "drop", "--store", made.path, "--as-of", AS_OF]
    document = in_a_pipe([*words, "--format", "json"]).document
    (match,) = [step for step in document["steps"] if step["name"] == "match"]
    folder = tmp_path / "reports" / "2026-06-05"
    night = (folder / "index.html").read_text("utf-8")
    assert 3 == match["counts"]["redeemed"]
    assert ["4"] == re.findall(r"(\d+) redemptions come to", night)  # what no night has told too
    for row, redeemed in zip(document["institutions"], (3, 1), strict=True):
        slug = row["institution"]
        own = (folder / f"institution-{slug}.html").read_text("utf-8")
        assert redeemed == row["redeemed"]
        found = re.findall(r"(\d+) redemptions? of this nightly run comes? to", own)
        assert [str(redeemed)] == found
        # The window that ends with the night includes what the night made.
        assert [str(redeemed)] == re.findall(r"Redemptions</th>\n<td[^>]*>(\d+)</td>", own)
        assert f"institution-{slug}.html" in night
        exported = (folder / f"{slug}-redemptions.csv").read_text("utf-8").splitlines()
        assert redeemed == len(exported) - 1


@at_the_gate
def test_a_night_tells_of_what_was_deducted_and_of_files_that_failed(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    with made.store() as store:
        given(store, "institutions", "institution\nalder\nbrook")
        given(store, "merchants", "merchant\nbakery")
        given(store, "offers", "offer merchant\nA bakery")
        given(store, "links", "institution offer\nbrook A")
        given(store, "purchases", "ref institution merchant\n1 brook bakery")
        decide(store, job(now=NOON))
    (tmp_path / "drop" / "alder").mkdir(parents=True)
    words = ["nightly", tmp_path / "drop", "--store", made.path, "--as-of"]
    assert 0 == in_a_pipe([*words, "2026-06-03T06:00:00Z"]).exit_code
    with made.store() as store:
        (last,) = redemptions(store, Filters(), limit=1, cursor=None).rows
        back = {"reason": "returned", "run_no": 100, "actor": "tester"}
        reverse_redemption(store, str(last["id"]), now=NOON + timedelta(days=3), **back)
    for name, text in (("1.csv", "nothing\n"), ("2.csv", DIRTY)):
        (tmp_path / "drop" / "alder" / name).write_text(text)
        (tmp_path / "drop" / "alder" / f"{name}.done").touch()
    assert 3 == in_a_pipe([*words, AS_OF]).exit_code
    folder = tmp_path / "reports" / "2026-06-05"
    page = (folder / "index.html").read_text("utf-8")
    assert "0 purchases were taken from 1 of 2 files; nothing redeemed." in page
    said = "less 1 reversal of what was settled before"
    assert f'<dd>GBP\u00a0-1.00</dd><dd class="beside">{said}</dd>' in page
    assert "Nothing came in from" not in page
    assert (folder / "institution-brook.html").exists()
