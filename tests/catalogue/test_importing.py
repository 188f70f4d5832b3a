from __future__ import annotations

import csv
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import work
from cardoffers_cli.catalogue import importing as jobs_catalogue
from cardoffers_cli.catalogue.importing import export_catalogue, import_catalogue
from cardoffers_cli.kernel.words.errors import FileUnusable, StoreDamaged
from sizes import one_in, slow
from tables import given, select, snapshot
from work import new_store

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job

CALDERDALE = Path(__file__).parents[3] / "shared" / "data" / "calderdale"

ALDER = "7c9a1745-303f-576b-af43-a4367a33b2ad"
BAKERY = "9c4e1852-991b-5a75-a73e-d9ba1d2b977c"
KIOSK = "a5434f15-6818-566d-8c01-1b4dea20b63c"

# Cells stand between spaces; `-` is an empty one.
CATALOGUE = {
    "institutions": f"""
        slug   institution_id  name   plan     currency  languages  max_active_offers  widget_limit  settlement_hold_days  webhook_url
        alder  {ALDER}         Alder  growth   GBP       en|es      10                 5             0                     -
        sol    -               Sol    starter  EUR       es         10                 5             7                     https://sol.example
    """,  # noqa: E501 - a table
    "merchants": f"""
        merchant_id  name    category
        {BAKERY}     Bakery  food
        {KIOSK}      Kiosk   press
    """,
    "merchant_identifiers": f"""
        merchant_id  merchant_identifier_type  merchant_identifier
        {BAKERY}     -                         000000000000001
        {KIOSK}      pix_key                   kiosk@pix
    """,
    "offers": f"""
        offer_id  merchant_id  title_en  title_es  description_pt-BR  min_spend  cashback_amount  currency  commission_rate  budget_amount  starts_at   expires_at            segments  max_redemptions_per_cardholder  paused
        of-1      {BAKERY}     Bread     Pan       -                  10.00      1.50             GBP       0.05             100.00         2026-01-01  2026-12-31            a|b       3                               -
        of-2      {KIOSK}      News      -         Jornal             0          2.00             EUR       -                -              2026-01-01  2026-12-31T12:00:00.5Z  -         -                               true
        of-3      {KIOSK}      Gum       -         -                  0          0.20             GBP       -                -              2026-01-01  2026-12-31            -         -                               -
    """,  # noqa: E501 - a table
    "program_offers": """
        institution  offer_id  position
        alder        of-1      1
        alder        of-3      2
        sol          of-2      1
    """,
    "links": """
        institution  cardholder_token  card_token  offer_id  added_at
        alder        ann               ann-card    of-1      2026-02-01T00:00:00Z
        alder        ann               ann-card    of-3      2026-02-01T00:00:00Z
        alder        bob               bob-card    of-1      2026-02-02T00:00:00Z
        sol          ann               ann-card    of-2      2026-02-03T01:00:00+01:00
    """,
    "engagement": """
        institution  cardholder_token  event             offer_id  occurred_at
        alder        ann               widget_view       -         2026-02-01T00:00:00Z
        alder        ann               offer_impression  of-1      2026-02-01T00:00:00Z
        alder        ann               offer_impression  of-3      2026-02-01T00:00:00Z
        alder        cy                widget_view       -         2026-02-01T00:00:00Z
        sol          ann               widget_view       -         2026-02-01T00:00:00Z
    """,
}


def write(folder: Path, **tables: str) -> Path:
    """Write text tables as the CSV files of a folder."""
    folder.mkdir(exist_ok=True)
    for kind, text in tables.items():
        lines = [line.split() for line in text.strip().splitlines()]
        cells = [["" if cell == "-" else cell for cell in line] for line in lines]
        with (folder / f"{kind}.csv").open("w", newline="") as out:
            csv.writer(out).writerows(cells)
    return folder


def changed(kind: str, old: str, new: str) -> str:
    """Return the table of a kind with one piece of text replaced."""
    assert old in CATALOGUE[kind]
    return CATALOGUE[kind].replace(old, new)


def counts(result: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return (received, new, changed, same, rejected) of each file."""
    return {
        file["kind"]: tuple(file[name] for name in jobs_catalogue.COUNTS)
        for file in result["files"]
    }


def found(result: dict[str, Any]) -> list[tuple[str, str, list[int]]]:
    return [
        (file["kind"], finding["code"], finding["lines"])
        for file in result["files"]
        for finding in file["findings"]
    ]


def kept(job: Job) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of the store, run records excepted."""
    with job.store(read_only=True) as store:
        return snapshot(store, "runs")


def rows(job: Job, sql: str) -> list[tuple[Any, ...]]:
    with job.store(read_only=True) as store:
        return select(store, sql)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the catalogue, and a store that holds it."""
    folder = tmp_path_factory.mktemp("made")
    import_catalogue(new_store(folder), write(folder / "catalogue", **CATALOGUE))
    return folder


@pytest.fixture
def job(tmp_path: Path, made: Path) -> Job:
    """A job on a store that holds the catalogue, which lies beside it."""
    copytree(made, tmp_path, dirs_exist_ok=True)
    return work.job(tmp_path / "store.duckdb")


def test_a_new_catalogue_is_new(tmp_path: Path) -> None:
    result = import_catalogue(new_store(tmp_path), write(tmp_path / "catalogue", **CATALOGUE))
    assert {
        "institutions": (2, 2, 0, 0, 0),
        "merchants": (2, 2, 0, 0, 0),
        "merchant_identifiers": (2, 2, 0, 0, 0),
        "offers": (3, 3, 0, 0, 0),
        "program_offers": (3, 3, 0, 0, 0),
        "links": (4, 4, 0, 0, 0),
        "engagement": (5, 5, 0, 0, 0),
    } == counts(result)
    assert [21, 21, 0, 0, 0] == [result[name] for name in jobs_catalogue.COUNTS]
    assert [] == found(result)


@slow
def test_the_same_catalogue_again_changes_nothing(tmp_path: Path, job: Job) -> None:
    before = kept(job)
    result = import_catalogue(job, tmp_path / "catalogue")
    assert [21, 0, 0, 21, 0] == [result[name] for name in jobs_catalogue.COUNTS]
    assert before == kept(job)


@slow
def test_a_dry_run_says_the_same_and_keeps_nothing(tmp_path: Path) -> None:
    job = new_store(tmp_path)
    before = rows(job, "from runs"), kept(job)
    dry = import_catalogue(job, write(tmp_path / "catalogue", **CATALOGUE), dry_run=True)
    assert (before, True) == ((rows(job, "from runs"), kept(job)), dry["dry_run"])
    assert import_catalogue(job, tmp_path / "catalogue")["files"] == dry["files"]


def test_tokens_stand_in_one_place_and_are_numbered_in_order(job: Job) -> None:
    assert [(1, "ann"), (2, "bob"), (3, "cy")] == rows(
        job,
        "select row_number() over (order by cardholder_no), cardholder_token from cardholders"
        " join institutions using (institution_id) where slug = 'alder' order by 1",
    )
    assert [(4, 3, 4)] == rows(
        job,
        "select (select count(*) from cardholders), (select count(*) from instruments), count(*)"
        " from links join instruments using (instrument_no, cardholder_no, institution_id)",
    )


# One change of one row: kind, old, new -> what the audit log says of it.
CHANGES = [
    ("institutions", "growth", "enterprise", [("alder", "plan", "growth", "enterprise")]),
    ("institutions", "en|es", "en", [("alder", "languages", "en|es", "en")]),
    ("institutions", "https://sol.example", "-", []),
    ("merchants", "Bakery", "Bread", [(BAKERY, "name", "Bakery", "Bread")]),
    (
        "merchant_identifiers",
        f"{KIOSK}      pix_key",
        f"{BAKERY} pix_key",
        [("pix_key:kiosk@pix", "merchant_id", KIOSK, BAKERY)],
    ),
    ("offers", "10.00", "12.00", [("of-1", "min_spend", "10.0000", "12.0000")]),
    ("offers", "100.00", "-", [("of-1", "budget_amount", "100.0000", None)]),
    ("offers", "a|b", "a", [("of-1", "segments", "a|b", "a")]),
    ("offers", "true", "-", [("of-2", "paused", "true", "false")]),
    ("offers", "Pan", "-", [("of-1", "title_es", "Pan", None)]),
    ("offers", "Jornal", "Jornais", [("of-2", "description_pt-BR", "Jornal", "Jornais")]),
    ("program_offers", "of-3      2", "of-3 9", [("alder/of-3", "position", "2", "9")]),
]


@pytest.mark.parametrize(("kind", "old", "new", "audit"), CHANGES)
@one_in(3)
def test_a_changed_row_updates_and_its_old_value_is_kept(
    job: Job, kind: str, old: str, new: str, audit: list[tuple[str, ...]]
) -> None:
    folder = write(job.path.with_name("catalogue"), **{kind: changed(kind, old, new)})
    result = import_catalogue(job, folder)
    assert len(audit) == result["changed"]
    assert (0, 0) == (result["new"], result["rejected"])
    assert audit == rows(job, "select subject_id, field, old_value, new_value from audit_log")
    again = kept(job)
    assert 0 == import_catalogue(job, folder)["changed"]
    assert again == kept(job)


def test_the_audit_log_says_who_when_and_in_which_run(tmp_path: Path, job: Job) -> None:
    write(tmp_path / "catalogue", offers=changed("offers", "10.00", "12.00"))
    import_catalogue(job, tmp_path / "catalogue")
    assert [("offer", "tester", job.now, 2)] == rows(
        job, "select subject, actor, happened_at, run_no from audit_log"
    )


@slow
def test_a_version_is_kept_of_every_change_of_terms(tmp_path: Path, job: Job) -> None:
    for old, new in [("10.00", "12.00"), ("Pan", "Panes"), ("1.50", "1.60")]:
        write(tmp_path / "catalogue", offers=changed("offers", old, new))
        import_catalogue(job, tmp_path / "catalogue")
    versions = [
        (1, "10.00", "1.50"),
        (2, "12.00", "1.50"),
        (3, "10.00", "1.50"),
        (4, "10.00", "1.60"),
    ]
    assert versions == rows(
        job,
        "select run_no, versions.min_spend::decimal(9, 2)::varchar,"
        " versions.cashback_amount::decimal(9, 2)::varchar"
        " from offer_versions as versions join offers using (offer_no)"
        " where offer_id = 'of-1' order by run_no",
    )


# Corrections that are dated back


def correction(job: Job, *changes: tuple[str, str], effective_at: str = "-") -> dict[str, Any]:
    """Import the offers again with changes in of-1, to count from a moment."""
    header, first, *others = CATALOGUE["offers"].strip().splitlines()
    for old, new in changes:
        assert old in first
        first = first.replace(old, new)
    table = [f"{header} effective_at", f"{first} {effective_at}", *(f"{row} -" for row in others)]
    return import_catalogue(job, write(job.path.with_name("again"), offers="\n".join(table)))


def versions(job: Job) -> list[tuple[Any, ...]]:
    """Return since when each version of of-1 counts, and its cashback."""
    return rows(
        job,
        "select cast(known_at as varchar), cast(versions.cashback_amount as double)"
        " from offer_versions as versions join offers using (offer_no)"
        " where offer_id = 'of-1' order by run_no",
    )


def test_a_version_counts_from_its_import_or_from_its_effective_at(job: Job) -> None:
    now = "2026-06-01 12:00:00"
    assert [(now, 1.5)] == versions(job)
    correction(job, ("1.50", "2.50"))
    correction(job, ("1.50", "3.50"), effective_at="2026-03-01T01:00:00+01:00")
    assert [(now, 1.5), (now, 2.5), ("2026-03-01 00:00:00", 3.5)] == versions(job)


@slow
def test_a_correction_again_changes_nothing(job: Job) -> None:
    correction(job, ("1.50", "3.50"), effective_at="2026-03-01")
    before = kept(job)
    assert 0 == correction(job, ("1.50", "3.50"), effective_at="2026-03-01")["changed"]
    assert 0 == correction(job, ("1.50", "3.50"), effective_at="2026-03-02")["changed"]
    assert 0 == correction(job, ("1.50", "3.50"))["changed"]
    assert before == kept(job)


@slow
def test_terms_that_stay_are_dated_back_by_the_moment_alone(job: Job) -> None:
    assert 0 == correction(job, effective_at="2026-03-01")["changed"]  # the first counts anyway
    correction(job, ("1.50", "2.50"))
    assert 1 == correction(job, ("1.50", "2.50"), effective_at="2026-03-01")["changed"]
    assert [2.5, 2.5] == [cashback for _, cashback in versions(job)][1:]
    assert ("2026-03-01 00:00:00", 2.5) == versions(job)[-1]
    assert [
        ("of-1", "cashback_amount", "1.5000", "2.5000"),
        ("of-1", "effective_at", "2026-06-01 12:00:00", "2026-03-01 00:00:00"),
    ] == rows(job, "select subject_id, field, old_value, new_value from audit_log")
    assert 0 == correction(job, ("1.50", "2.50"), effective_at="2026-03-01")["changed"]


@slow
def test_terms_of_the_future_are_refused(job: Job) -> None:
    before = kept(job)
    told = correction(job, ("1.50", "2.50"), effective_at="2026-06-01T12:00:00.000001Z")
    assert [("offers", "effective_in_future", [2])] == found(told)
    assert before == kept(job)
    assert [] == found(correction(job, ("1.50", "2.50"), effective_at="2026-06-01T12:00:00Z"))


# What changed, since when, and how many of the five purchases that wait it concerns.
CONCERNED = [
    ([("1.50", "2.50")], "-", 0),
    ([("1.50", "2.50")], "2026-03-03", 2),
    ([("1.50", "2.50")], "2026-03-01", 3),
    ([("0.05", "0.06")], "2026-03-01", 3),
    ([("100.00", "90.00")], "-", 3),
    ([("2026-12-31", "2026-12-30")], "-", 3),
    ([("Bread", "Loaf")], "2026-03-01", 0),
    ([], "2026-03-01", 0),
]


@pytest.mark.parametrize(("changes", "effective_at", "concerned"), CONCERNED)
@one_in(3)
def test_it_is_said_how_many_waiting_purchases_a_change_concerns(
    job: Job, changes: list[tuple[str, str]], effective_at: str, concerned: int
) -> None:
    with job.store() as store:
        given(
            store,
            "purchases",
            f"""
            ref       institution  cardholder  merchant  identifier       at
            decided   alder        ann         {BAKERY}  -                2026-03-02
            first     alder        ann         {BAKERY}  -                2026-03-02
            second    alder        bob         -         000000000000001  2026-03-03
            nobody    alder        bob         -         unknown          2026-03-04
            stranger  alder        cy          {BAKERY}  -                2026-03-04
            kiosk     alder        ann         {KIOSK}   -                2026-03-04
            """,
        )
        select(store, "insert into recent_decisions values (1, 1, 'not_redeemed', 1)")
        select(store, "insert into recent_decisions values (4, 1, 'merchant_unresolved', null)")
        select(store, "update match_watermark set purchase_no = 1")
    told = correction(job, *changes, effective_at=effective_at)
    (file,) = told["files"]
    assert concerned == file["waiting_purchases"]


def test_damage_that_is_met_while_purchases_are_counted_names_the_store(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(_engine: object, _undecided: object) -> None:
        raise duckdb.FatalException("of the engine")

    monkeypatch.setattr("cardoffers_cli.catalogue.importing.resolve", damaged)
    with pytest.raises(StoreDamaged) as caught:
        correction(job, ("1.50", "2.50"))
    assert str(job.path) == caught.value.details["file"]


# What becomes of a budget of 100.00 of which 30.00 are spent, and what is said.
BUDGETS = [
    ("29.99", ["budget_amount is GBP 29.99, and redemptions hold GBP 30.00 of it already"]),
    ("0", ["budget_amount is GBP 0.00, and redemptions hold GBP 30.00 of it already"]),
    ("30.00", []),
    ("-", []),
    ("100.00", []),
]


@pytest.mark.parametrize(("budget", "messages"), BUDGETS)
@one_in(3)
def test_a_budget_lowered_below_what_is_spent_is_said(
    job: Job, budget: str, messages: list[str]
) -> None:
    with job.store() as store:
        given(store, "ledger", "offer amount status\nof-1 30.00 settled\nof-1 5.00 reversed")
    told = correction(job, ("100.00", budget))
    assert (0, int(budget != "100.00")) == (told["rejected"], told["changed"])
    findings = told["files"][0]["findings"]
    assert [("budget_below_spent", "warning", [2])] * len(messages) == [
        (each["code"], each["level"], each["lines"]) for each in findings
    ]
    assert messages == [message for each in findings for message in each["messages"]]
    assert [] == correction(job, ("100.00", budget))["files"][0]["findings"]  # it is no news again


# The URLs themselves are tried in tests/kernel/words/test_addresses.py.
URLS = [
    ("http://sol.example/hook", "does not begin with https://"),
    ("https://user@sol.example", "holds a user name"),
    ("https://127.0.0.1/hook", "is not public"),
    ("https://localhost", "is not public"),
    ("https://sol.example:22", "names port 22"),
    ("sol.example", "is not well-formed"),
]


@pytest.mark.parametrize(("url", "message"), URLS)
@one_in(3)
def test_a_webhook_url_is_checked_as_webhook_set_does(job: Job, url: str, message: str) -> None:
    before = kept(job)
    folder = job.path.with_name("again")
    write(folder, institutions=changed("institutions", "https://sol.example", url))
    told = import_catalogue(job, folder)
    assert [("institutions", "webhook_url_refused", [3])] == found(told)
    assert message in told["files"][0]["findings"][0]["messages"][0]
    assert (1, 0) == (told["rejected"], told["changed"])
    assert before == kept(job)


def test_what_development_allows_is_allowed_here_too(job: Job) -> None:
    insecure = work.job(job.path, allow_insecure_webhooks=True)
    table = changed("institutions", "https://sol.example", "http://127.0.0.1:8080/hook")
    told = import_catalogue(insecure, write(job.path.with_name("again"), institutions=table))
    assert ([], 1) == (found(told), told["changed"])


def test_a_slug_keeps_its_id_and_a_new_one_gets_one(tmp_path: Path, job: Job) -> None:
    before = rows(job, "select slug, institution_id from institutions order by all")
    write(tmp_path / "catalogue", institutions=changed("institutions", ALDER, "-"))
    assert 2 == counts(import_catalogue(job, tmp_path / "catalogue"))["institutions"][3]
    assert before == rows(job, "select slug, institution_id from institutions order by all")
    assert 4 == before[1][1].version


# One row more in one file -> its finding (column, code) on the line it stands on.
REFERENCES = [
    ("institutions", "alder - A growth GBP en 1 1 0 -", "slug", "duplicate_key"),
    ("institutions", f"elm {ALDER} E growth GBP en 1 1 0 -", "institution_id", "duplicate_key"),
    ("merchants", f"{BAKERY} Other x", "merchant_id", "duplicate_key"),
    (
        "merchant_identifiers",
        f"{KIOSK} card_acceptor 000000000000001",
        "merchant_identifier",
        "duplicate_key",
    ),
    ("merchant_identifiers", f"{ALDER} pix_key x", "merchant_id", "reference_unknown"),
    (
        "offers",
        f"of-1 {BAKERY} X - - 0 1 GBP - - 2026-01-01 2026-02-01 - - -",
        "offer_id",
        "duplicate_key",
    ),
    (
        "offers",
        f"of-9 {ALDER} X - - 0 1 GBP - - 2026-01-01 2026-02-01 - - -",
        "merchant_id",
        "reference_unknown",
    ),
    ("program_offers", "alder of-1 7", "offer_id", "duplicate_key"),
    ("program_offers", "elm of-1 7", "institution", "reference_unknown"),
    ("program_offers", "alder of-9 7", "offer_id", "reference_unknown"),
    ("program_offers", "alder of-2 7", "offer_id", "currency_mismatch"),
    ("links", "elm cy cy-card of-1 2026-02-01", "institution", "reference_unknown"),
    ("links", "alder cy cy-card of-9 2026-02-01", "offer_id", "reference_unknown"),
    ("links", "alder cy cy-card of-2 2026-02-01", "offer_id", "currency_mismatch"),
    ("engagement", "elm cy widget_view - 2026-02-01", "institution", "reference_unknown"),
    ("engagement", "alder cy offer_impression of-9 2026-02-01", "offer_id", "reference_unknown"),
    ("engagement", "alder cy offer_impression of-2 2026-02-01", "offer_id", "currency_mismatch"),
]


REPORT = ("file", "line", "transaction_ref", "column", "code", "level")


def with_bad_rows() -> tuple[dict[str, str], list[tuple[str, ...]]]:
    """Return the catalogue with the rows of `REFERENCES` at the end of its files, and findings."""
    catalogue = {kind: text.rstrip() for kind, text in CATALOGUE.items()}
    findings = []
    for kind, row, column, code in REFERENCES:
        catalogue[kind] += f"\n{row}"
        line = len(catalogue[kind].strip().splitlines())
        findings.append((f"{kind}.csv", str(line), "", column, code, "error"))
    return catalogue, findings


def test_a_bad_row_stops_only_itself(tmp_path: Path, job: Job) -> None:
    catalogue, findings = with_bad_rows()
    for target, new in ((new_store(tmp_path, "other.duckdb"), 21), (job, 0)):
        report = tmp_path / "errors.csv"
        result = import_catalogue(target, write(tmp_path / "bad", **catalogue), errors=report)
        assert (new, len(REFERENCES)) == (result["new"], result["rejected"])
        with report.open() as text:
            told = [tuple(row[name] for name in REPORT) for row in csv.DictReader(text)]
        assert findings == told


def test_an_institution_is_not_known_under_two_ids(tmp_path: Path, job: Job) -> None:
    write(tmp_path / "catalogue", institutions=changed("institutions", ALDER, KIOSK))
    assert [("institutions", "id_conflict", [2])] == found(
        import_catalogue(job, tmp_path / "catalogue")
    )


@slow
@pytest.mark.parametrize("kind", ["institutions", "offers"])
def test_a_currency_in_use_stays(tmp_path: Path, job: Job, kind: str) -> None:
    before = kept(job)
    write(tmp_path / "catalogue", **{kind: changed(kind, "EUR", "USD")})
    assert [(kind, "currency_in_use", [3])] == found(import_catalogue(job, tmp_path / "catalogue"))
    assert before == kept(job)


@slow
@pytest.mark.parametrize("at_once", [1_000_000, 1])
def test_a_link_once_made_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(jobs_catalogue, "_ROWS_AT_ONCE", at_once)
    job = new_store(tmp_path)
    extra = [
        "alder bob bob-card of-1 2026-02-02T00:00:00Z",  # the same
        "alder bob bob-card of-1 2026-01-01T00:00:00Z",
        "alder bob new-card of-1 2026-02-02T00:00:00Z",
    ]
    links = "\n".join([CATALOGUE["links"].rstrip(), *extra])
    result = import_catalogue(job, write(tmp_path / "catalogue", **{**CATALOGUE, "links": links}))
    assert (7, 4, 0, 3, 0) == counts(result)["links"]
    assert [("links", "link_kept", [7, 8])] == found(result)
    assert [("bob-card", "2026-02-02 00:00:00")] == rows(
        job,
        "select instrument_token, cast(added_at as varchar) from links"
        " join cardholders using (cardholder_no) join instruments using (instrument_no)"
        " where cardholder_token = 'bob'",
    )


@slow
def test_a_link_outlives_its_place_in_the_program(tmp_path: Path) -> None:
    catalogue = {**CATALOGUE, "program_offers": "institution offer_id position"}
    result = import_catalogue(new_store(tmp_path), write(tmp_path / "catalogue", **catalogue))
    assert (4, 4, 0, 0, 0) == counts(result)["links"]


def test_an_identifier_that_purchases_brought_gets_its_owner(tmp_path: Path, job: Job) -> None:
    with job.store() as store:
        store.connection.execute("insert into identifiers values (99, 'codi', 'x', null)")
    write(
        tmp_path / "one", merchant_identifiers=f"{CATALOGUE['merchant_identifiers']}{KIOSK} codi x"
    )
    assert (3, 1, 0, 2, 0) == counts(import_catalogue(job, tmp_path / "one"))[
        "merchant_identifiers"
    ]
    assert [(99, KIOSK)] == rows(
        job,
        "select identifier_no, cast(merchant_id as varchar) from identifiers"
        " where merchant_identifier = 'x'",
    )


def test_one_unusable_file_leaves_all_of_them_out(tmp_path: Path) -> None:
    job = new_store(tmp_path)
    before = kept(job)
    write(tmp_path / "catalogue", **{**CATALOGUE, "links": "institution offer_id"})
    with pytest.raises(FileUnusable):
        import_catalogue(job, tmp_path / "catalogue")
    assert before == kept(job)


@pytest.mark.parametrize("at_once", [1_000_000, 1])
def test_an_event_that_comes_again_is_the_same(
    tmp_path: Path, job: Job, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(jobs_catalogue, "_ROWS_AT_ONCE", at_once)
    before = kept(job)
    extra = [
        "alder cy  widget_view      -    2026-02-01T01:00:00+01:00",  # the same
        "alder cy  widget_view      -    2026-02-01T00:00:00.000001Z",
        "alder cy  widget_view      -    2026-02-01T00:00:00.000001Z",
        "alder ann offer_impression of-1 2026-02-01T00:00:00Z",  # the same
        "alder bob offer_impression of-1 2026-02-01T00:00:00Z",
        "sol   ann offer_impression of-2 2030-01-01",  # still to come
    ]
    engagement = "\n".join([CATALOGUE["engagement"].rstrip(), *extra])
    folder = write(tmp_path / "more", engagement=engagement)
    assert (11, 3, 0, 8, 0) == counts(import_catalogue(job, folder))["engagement"]
    assert (11, 0, 0, 11, 0) == counts(import_catalogue(job, folder))["engagement"]
    after = kept(job)
    assert 3 == len(after.pop("engagement")) - len(before.pop("engagement"))
    assert before == after


def test_an_event_is_kept_by_number_with_its_run(tmp_path: Path) -> None:
    job = new_store(tmp_path)
    import_catalogue(job, write(tmp_path / "catalogue", **CATALOGUE))
    assert [
        ("alder", "ann", "offer_impression", "of-1", 1),
        ("alder", "ann", "offer_impression", "of-3", 1),
        ("alder", "ann", "widget_view", None, 1),
        ("alder", "cy", "widget_view", None, 1),
        ("sol", "ann", "widget_view", None, 1),
    ] == rows(
        job,
        "select slug, cardholder_token, event, offer_id, run_no from engagement"
        " join institutions using (institution_id)"
        " join cardholders using (institution_id, cardholder_no)"
        " left join offers using (offer_no) order by all",
    )


def test_engagement_does_not_leave(tmp_path: Path, job: Job) -> None:
    export_catalogue(job, tmp_path / "out", masked_links=True)
    assert [] == [path for path in (tmp_path / "out").iterdir() if "engagement" in path.name]


@slow
@pytest.mark.parametrize("suffix", ["csv", "json"])
@one_in(2)
def test_what_is_exported_is_imported_as_it_was(tmp_path: Path, job: Job, suffix: str) -> None:
    export_catalogue(job, tmp_path / "first", suffix=suffix)
    before = kept(job)
    assert [12, 0, 0, 12, 0] == [
        import_catalogue(job, tmp_path / "first")[name] for name in jobs_catalogue.COUNTS
    ]
    assert before == kept(job)
    other = new_store(tmp_path, "other.duckdb")
    import_catalogue(other, tmp_path / "first")
    export_catalogue(other, tmp_path / "second", suffix=suffix)
    files = [path.name for path in sorted((tmp_path / "first").iterdir())]
    assert 5 == len(files)
    assert [(tmp_path / "first" / name).read_text() for name in files] == [
        (tmp_path / "second" / name).read_text() for name in files
    ]


@slow
def test_links_leave_with_masked_tokens_only(tmp_path: Path, job: Job) -> None:
    long = "ch_8ae8fd416ffb1580c86c6fd3"
    links = changed("links", " bob ", f" {long} ")
    import_catalogue(job, write(tmp_path / "more", links=links))
    export_catalogue(job, tmp_path / "out", masked_links=True)
    text = (tmp_path / "out" / "links_masked.csv").read_text()
    assert "alder,ch_8…6fd3,…,of-1,2026-02-02T00:00:00Z" in text.splitlines()
    assert not any(token in text for token in ("ann", "bob", long))
    assert "links" not in counts(import_catalogue(job, tmp_path / "out"))


@slow
@pytest.mark.skipif(not CALDERDALE.exists(), reason="the data set is not here")
def test_calderdale(tmp_path: Path) -> None:
    job = new_store(tmp_path)
    result = import_catalogue(job, CALDERDALE / "catalog")
    assert {
        "institutions": (2, 2, 0, 0, 0),
        "merchants": (275, 275, 0, 0, 0),
        "merchant_identifiers": (343, 343, 0, 0, 0),
        "offers": (450, 450, 0, 0, 0),
        "program_offers": (900, 900, 0, 0, 0),
        "links": (11633, 11633, 0, 0, 0),
    } == counts(result)
    before = kept(job)
    expected = {
        "institutions": 2,
        "merchants": 275,
        "identifiers": 343,
        "offers": 450,
        "offer_texts": 900,
        "offer_versions": 450,
        "program_offers": 900,
        "cardholders": 1900,
        "instruments": 1900,
        "links": 11633,
        "audit_log": 0,
    }
    assert expected == {name: len(before[name]) for name in expected}
    assert 13603 == import_catalogue(job, CALDERDALE / "catalog")["same"]
    assert before == kept(job)
