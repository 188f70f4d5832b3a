"""Every door reaches one verdict on a file, wherever it knows the same.

Files are drawn of rows of every kind: some good, some that break a rule, repeat others, look like
others, hold what looks like a card number, or are another institution's; in our own layout and by
profiles, with merchants that are known, unknown, or not named at all; short, or so long that their
rows are judged as columns; cut off, also so that they look like halves, or with bytes changed
anywhere. The store is one, and what a door writes into it is not kept.

`validate`, the page and `profile convert` know nothing and must say the same; `import` of any kind
of rows, `refund import`, `credit import`, `validate --store`, `simulate` and the night ask the
store and must say the same. For an institution of which nothing is known all say the same, but for
what was not asked. Calls over HTTP are held to the import of the same events.
"""

from __future__ import annotations

import csv
import json
import random
import shutil
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cardoffers_cli.intake import rules
from cardoffers_cli.intake.chunks import FileReading
from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.plain.rulebook import PlainRules
from cardoffers_cli.intake.plain.validation import PlainValidation
from cardoffers_cli.intake.profiles.refunds import settled
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.errors import CardoffersError, FileUnusable
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.row_kinds import BY_NAME, CREDITS, PURCHASES, REFUNDS
from cardoffers_cli.night import questions as nights
from cardoffers_cli.night.checks import look_twice
from cardoffers_cli.night.intake import rehearse_files
from cardoffers_cli.night.options import NightObserver, NightOptions
from cardoffers_cli.night.run import begin, work_of
from cardoffers_cli.river.checks import Rehearsal, convert, validate
from cardoffers_cli.river.events import EventCall, take_events
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import FileReport, Outputs
from cardoffers_cli.river.simulate import simulate_file
from mutated import MADE, file_of_layout, file_of_rows, mutated, profile_for
from sizes import FULL, tries
from tables import NOON
from work import kept_open, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.words.row_kinds import RowKind

EXAMPLES = 10_000 if FULL else tries(6, 120)
"""Files that are drawn: seconds each time, two minutes at the gate, an hour and more in full."""

TOML = """
form = {delimiter = ";"}
negatives = "refund"
[fields]
cardholder_token = {column = "Kunde"}
card_token = {column = "Karte"}
transacted_at = {column = "Datum", format = "%d.%m.%Y", zone = "Europe/Berlin"}
amount = {column = "Betrag", decimal = ","}
transaction_ref = {column = "Beleg"}
"""
NAMED = 'card_acceptor_id = {column = "VU"}\n'
WITH_MERCHANTS, WITHOUT = (parse_profile(text, "P.toml") for text in (TOML + NAMED, TOML))
HOLDER = "9fb6f85a8aac50e20c422cac18b44258"
KNOWN = f"{HOLDER},ct_1,M0,12.50,K-{{}},2026-03-18T13:12:54Z"
DOGWOOD = f"{HOLDER[::-1]},ct_7,M0,7.{{1:02}},D-{{0}}-{{1}},2026-03-1{{0}}T13:12:{{1:02}}Z"
OTHERS = [f"{n:x}cc0{HOLDER[4:]},ct_9,M0,{n}.75,B-{n},2026-03-17T09:{n}:00Z" for n in range(10, 22)]
"""Rows of another institution, birch."""
LONG = 45
"""Rows of a long file: so many are judged as columns."""


@dataclass(frozen=True)
class Drawn:
    """A file, and how it is read."""

    content: bytes
    kind: RowKind = PURCHASES
    profile: Profile | None = None
    zone: str | None = None
    vouched: bool = False


# What is drawn

MERCHANT = st.sampled_from(["M0", "M0", "M9", ""])
HOLDERS = st.sampled_from([HOLDER, HOLDER, "short", "", "a@b.example", "4111111111111111", "NULL"])
CARDS = st.sampled_from(["ct_1", "ct_1", "ct_2", "", "4111 1111 1111 1111", "N/A"])
REFS = st.sampled_from(
    [*(f"N-{n}" for n in range(6)), "K-1", "K-2", "B-1", "R-1", "C-1", "", "4111111111111111"]
)
AMOUNTS = st.sampled_from(["12.50", "12.50", "1.00", "0", "-3", "x", "0.001", "1e3", "12.500"])
TIMES = st.sampled_from(
    [
        *["2026-03-18T13:12:54Z"] * 3,
        *(
            "2026-03-18T13:12:54.5+01:00",
            "2026-03-18",
            "2026-03-18T13:12:54",
            "2099-01-01T00:00:00Z",
        ),
        *("yesterday", ""),
    ]
)
MOST_ROWS = 14


@st.composite
def purchases(draw: st.DrawFn) -> Drawn:
    """A file of purchases in our own layout; without a column of merchants, it may be."""
    merchants = draw(st.sampled_from(["card_acceptor_id", "merchant_id", None]))
    names = ["cardholder_token", "card_token", *([merchants] if merchants else [])]
    columns = [HOLDERS, CARDS, *([MERCHANT] if merchants else []), AMOUNTS, REFS, TIMES]
    header = ",".join([*names, "amount", "transaction_ref", "transacted_at"])
    return _of(draw, header, columns, PURCHASES)


@st.composite
def refunds(draw: st.DrawFn) -> Drawn:
    header = "refund_ref,original_transaction_ref,cardholder_token,card_token,card_acceptor_id"
    originals = st.sampled_from(["K-1", "N-1", "", "4111111111111111"])
    columns = [REFS, originals, HOLDERS, CARDS, MERCHANT, AMOUNTS, TIMES]
    return _of(draw, f"{header},amount,refunded_at", columns, REFUNDS)


@st.composite
def credited(draw: st.DrawFn) -> Drawn:
    status = st.sampled_from(["credited", "failed", "odd", ""])
    refs = st.sampled_from(["K-1", "", "N-1"])
    columns = [refs, AMOUNTS, status, TIMES, st.sampled_from(["", "R2"]), REFS]
    header = "transaction_ref,amount,status,credited_at,failure_code,credit_ref"
    return _of(draw, header, columns, CREDITS)


def _of(
    draw: st.DrawFn, header: str, columns: list[st.SearchStrategy[str]], kind: RowKind
) -> Drawn:
    usual = draw(st.sampled_from([None, KNOWN.format("").split(",")]))
    if usual is None or len(columns) != len(usual):
        rows = draw(st.lists(st.tuples(*columns), max_size=MOST_ROWS))
    else:  # rows that are as a rule good, so that they repeat and look like others
        mostly = [
            st.one_of(*[st.just(cell)] * 4, each) for cell, each in zip(usual, columns, strict=True)
        ]
        mostly[4] = REFS
        rows = draw(st.lists(st.tuples(*mostly), max_size=MOST_ROWS))
    lines = [",".join(row) for row in rows]
    if draw(st.integers(0, 4)) == 0:  # a long file
        good = [*usual[:4], "L-{}", usual[5]] if usual and len(columns) == len(usual) else None
        lines += [",".join(good or lines[-1:]).replace("{}", str(n)) for n in range(LONG)]
    if kind is PURCHASES and header.count(",") == KNOWN.count(",") and draw(st.integers(0, 5)) == 0:
        lines += OTHERS[: draw(st.integers(1, len(OTHERS)))]
    return _ended(draw, "\n".join([header, *lines]), kind=kind)


def _ended(draw: st.DrawFn, text: str, **how: Any) -> Drawn:
    """End a text, or cut it off."""
    ending = draw(st.sampled_from(["whole", "whole", "whole", "unended", "cut"]))
    whole = {"whole": f"{text}\n", "unended": text, "cut": text[: -draw(st.integers(1, 9))]}
    return Drawn(
        whole[ending].encode(),
        zone=draw(st.sampled_from([None, "Europe/London"])),
        vouched=draw(st.booleans()),
        **how,
    )


@st.composite
def exports(draw: st.DrawFn) -> Drawn:
    """An institution's own file, among whose rows are refunds."""
    profile = draw(st.sampled_from([WITH_MERCHANTS, WITHOUT]))
    is_named = profile is WITH_MERCHANTS
    days = st.sampled_from(["18.03.2026", "18.03.2026", "19.03.2026", "32.03.2026", ""])
    amounts = st.sampled_from(["12,50", "12,50", "-12,50", "-1,00", "x", "0,00", "-0,00", "1,001"])
    columns = [HOLDERS, CARDS, *([MERCHANT] if is_named else []), days, amounts, REFS]
    rows = draw(st.lists(st.tuples(*columns), max_size=MOST_ROWS))
    header = "Kunde;Karte;VU;Datum;Betrag;Beleg" if is_named else "Kunde;Karte;Datum;Betrag;Beleg"
    odd = draw(st.sampled_from(["", "", "one field", 'a"b;c;d;e;f;g', ";;;;;;;;"]))
    lines = [header, *(";".join(row) for row in rows), *([odd] if odd else [])]
    drawn = _ended(draw, "\n".join(lines), profile=profile)
    return replace(drawn, zone=None)


@st.composite
def changed(draw: st.DrawFn) -> Drawn:
    """A file in which anything was changed by chance."""
    chance = random.Random(draw(st.integers(0, 1 << 40)))  # noqa: S311
    form = draw(st.sampled_from(["bytes", "rows", "layout"]))
    zone = draw(st.sampled_from([None, "Europe/London"]))
    if form == "layout":
        layout = chance.choice(MADE)
        content = file_of_layout(layout, chance.randrange(1, MOST_ROWS), chance)
        return Drawn(content, profile=profile_for(layout.profile), zone=zone)
    content = file_of_rows(chance.randrange(1, 40), chance) if form == "rows" else mutated(chance)
    return Drawn(content, zone=zone, vouched=draw(st.booleans()))


FILES = st.one_of(purchases(), refunds(), credited(), exports(), exports(), changed())


# The doors


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    """A store in which alder has a history, birch one of its own, and of cedar nothing is known.

    Of dogwood three files of forty rows came, so that a cut file of few rows is half of one.
    """
    plain = new_store(tmp_path_factory.mktemp("doors"))
    tell(
        plain,
        institutions="institution plan currency\n"
        "alder growth GBP\nbirch growth GBP\ncedar growth GBP\ndogwood growth GBP",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM0 bakery",
    )
    header = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"
    other = KNOWN.replace("12.50", "1.00").replace("K-{}", "B-1").replace("ct_1", "ct_9")
    back = (
        "refund_ref,original_transaction_ref,amount,refunded_at\nR-1,K-1,1.00,2026-03-19T13:12:54Z"
    )
    paid = "transaction_ref,amount,status,credited_at,credit_ref"
    for institution, kind, rows in (
        ("alder", PURCHASES, [header, KNOWN.format(1), KNOWN.replace("12.50", "1.00").format(2)]),
        ("birch", PURCHASES, [header, other, *OTHERS]),
        *(
            ("dogwood", PURCHASES, [header, *(DOGWOOD.format(file, n) for n in range(40))])
            for file in range(3)
        ),
        ("alder", REFUNDS, [back]),
        ("alder", CREDITS, [paid, "K-1,1.00,credited,2026-03-19T13:12:54Z,C-1"]),
    ):
        path = plain.path.with_name("history.csv")
        path.write_text("\n".join([*rows, ""]))
        options = ImportOptions(kind=kind, is_own=True)
        assert import_file(str(path), institution, plain, options, outputs=Outputs()).accepted
    with kept_open(plain) as job:
        yield job


Told = dict[str, Any]
RUN = {"dry_run", "file", "import_id"}
"""What a night says otherwise of a file than the command does."""
OTHERWISE = {"can_earn", "not_asked"}
"""What a door says otherwise that asked a store, of which nothing is known."""


class Doors:
    """The doors, each of which is brought a file."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.path = job.path.with_name("tx")
        self.errors = job.path.with_name("errors.csv")
        apart = (job.path.with_name(name) for name in ("valid", "rejected"))
        self.valid, self.rejected = apart
        self.outputs = Outputs(errors=self.errors, valid=self.valid, rejected=self.rejected)

    def _told(self, told: Callable[[], Any]) -> Told:
        """Return what a door tells: its document, its exit code, and what it writes of the rows."""
        written = (self.errors, self.valid, self.rejected)
        for path in written:
            path.unlink(missing_ok=True)
        try:
            document = json.loads(dumps(told()))
        except FileUnusable as error:
            document = json.loads(
                dumps(FileReport(file=str(self.path), file_error=error).document())
            )
        except CardoffersError as error:
            return {"code": error.code, "exit_code": type(error).__name__}
        code = 14 if document["file_error"] else 0 if document["ok"] else 3
        contents = {path.name: path.read_bytes() for path in written if path.exists()}
        return {"document": document, "exit_code": code, **contents}

    def _reading(self, drawn: Drawn) -> FileReading:
        return FileReading(
            now=NOON,
            currency="GBP",
            assume_timezone=drawn.zone,
            unterminated=None if drawn.vouched else "error",
            profile=drawn.profile,
        )

    def _options(self, drawn: Drawn, **more: Any) -> ImportOptions:
        return ImportOptions(
            assume_timezone=drawn.zone,
            allow_unterminated=drawn.vouched,
            profile=drawn.profile,
            **{"kind": None, **more},
        )

    def validate(self, drawn: Drawn, kind: RowKind | None = None) -> Told:
        how = self._reading(drawn)
        if kind:
            how = replace(how, kind=kind, is_kind_given=True)
        return self._told(
            lambda: validate(str(self.path), how, self.job, outputs=self.outputs).document()
        )

    def page(self, drawn: Drawn, kind: RowKind | None = None) -> Told:
        profile = drawn.profile and json.loads(json.dumps(settled(drawn.profile)))
        options = {"now": NOON, "currency": "GBP", "assume_timezone": drawn.zone}
        options |= {"profile": profile, "allow_unterminated": drawn.vouched}
        options |= {"kind": kind.name} if kind else {}
        check = PlainValidation(str(self.path), options)

        def told() -> Any:
            check.feed(drawn.content)
            document = check.finish()
            if not check.is_unusable:
                self.errors.write_bytes(b"".join(check.errors_csv()))
                apart = check.apart()
                parts = [apart.add(drawn.content), apart.end()]
                for path, rows in zip(
                    (self.valid, self.rejected), zip(*parts, strict=True), strict=True
                ):
                    path.write_bytes(b"".join(rows))
            return document

        return self._told(told)

    def convert(self, drawn: Drawn) -> Told:
        to, refunds_to = (self.path.with_name(name) for name in ("purchases", "refunds"))
        assert drawn.profile
        how = (drawn.profile, self._reading(drawn), self.job)
        return self._told(
            lambda: convert(
                str(self.path), *how, to=to, refunds_to=refunds_to, outputs=self.outputs
            ).document()
        )

    def validate_for(self, drawn: Drawn, institution: str) -> Told:
        how = Rehearsal(institution=institution, options=self._options(drawn))
        return self._told(
            lambda: validate(str(self.path), how, self.job, outputs=self.outputs).document()
        )

    def import_(self, drawn: Drawn, institution: str, kind: RowKind | None = None) -> Told:
        is_own = institution == "cedar"  # whose rows are others', if anybody asks
        options = self._options(drawn, dry_run=True, is_own=is_own, kind=kind)
        return self._told(
            lambda: import_file(
                str(self.path), institution, self.job, options, outputs=self.outputs
            ).document()
        )

    def simulate(self, drawn: Drawn, institution: str) -> Told:
        options = self._options(drawn)
        return self._told(
            lambda: simulate_file(
                str(self.path), institution, self.job, options, outputs=self.outputs
            ).document()
        )

    def night(self, drawn: Drawn, institution: str) -> Told:
        """Return what a night tells of the file; what it knows it by is nothing but its folder."""
        drop = self.path.with_name("drop")
        shutil.rmtree(drop, ignore_errors=True)
        (drop / institution).mkdir(parents=True, exist_ok=True)
        (drop / institution / "tx.csv").write_bytes(drawn.content)
        (drop / institution / "tx.csv.done").touch()
        order = NightOptions(drop=drop)
        with self.job.store() as store, store.transaction(keep=False):
            night = begin(store, self.job, order, look_twice(self.job, drop).files)
            rehearse_files(work_of(self.job, night, order, NightObserver()), store)
            (file,) = nights.files(store, night)
            document = json.loads(dumps(file.report))
        if file.state == "imported":
            return {"document": document, "exit_code": 0 if document["ok"] else 3}
        return {"code": document["file_error"]["code"]}


def same(one: Told, other: Told, *, but: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    """Hold what two doors tell against each other, in all fields that both have."""
    if "document" in one and "document" in other:
        assert _common(one["document"], other["document"], but) == _common(
            other["document"], one["document"], but
        )
    for name in (one.keys() | other.keys()) - {"document"}:
        assert one.get(name) == other.get(name), name


def _common(one: Told, other: Told, but: set[str]) -> Told:
    names = (one.keys() & other.keys()) - but
    return {
        name: _common(one[name], other[name], but)
        if name == "refunds" and one[name] and other[name]
        else one[name]
        for name in sorted(names)
    }


def held(doors: Doors, drawn: Drawn) -> None:
    """Bring a file to every door that takes it, and hold their verdicts to each other."""
    doors.path.write_bytes(drawn.content)
    alone = doors.validate(drawn)
    assert alone.get("document", {}).get("file_error") or alone["document"]["received"] == sum(
        alone["document"][name] for name in ("valid", "invalid", "duplicates")
    )
    same(alone, doors.page(drawn))
    is_profiled = drawn.profile and not drawn.content.startswith(b"refund_ref")
    if is_profiled:
        same(alone, doors.convert(drawn))
    institution = "dogwood" if len(drawn.content) % 3 else "alder"
    asked = doors.import_(drawn, institution)
    other = doors.simulate if len(drawn.content) % 2 else doors.validate_for
    same(asked, other(drawn, institution), but={"dry_run", "import_id"})
    held_by_kind(doors, drawn, asked, institution)
    if not (drawn.profile or drawn.zone or drawn.vouched):
        night = doors.night(drawn, institution)
        error = asked.get("document", {"file_error": asked})["file_error"]
        assert (error or {"code": None})["code"] == night.get("code")
        if not error:
            assert asked["exit_code"] == night["exit_code"]
            assert _common(asked["document"], night["document"], RUN) == _common(
                night["document"], asked["document"], RUN
            )
    if b"institution_id" not in drawn.content:
        same(alone, doors.import_(drawn, "cedar"), but=OTHERWISE)


def held_by_kind(doors: Doors, drawn: Drawn, asked: Told, institution: str) -> None:
    """Bring a file to the command for its kind of rows, whose verdict is that of any kind."""
    kind = BY_NAME.get(asked.get("document", {}).get("kind_of_rows") or "")
    if kind and not drawn.profile:
        same(asked, doors.import_(drawn, institution, kind), but={"import_id"})
    if drawn.profile and drawn.profile.negatives == "refund":
        alone = doors.validate(drawn, REFUNDS)
        same(alone, doors.page(drawn, REFUNDS))
        same(alone, doors.import_(drawn, "cedar", REFUNDS), but=OTHERWISE)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=not FULL,
    suppress_health_check=[*HealthCheck],
)
@given(drawn=FILES)
def test_every_door_reaches_the_same_verdict(drawn: Drawn, made: Job) -> None:
    held(Doors(made), drawn)


def test_a_door_with_a_rule_of_its_own_is_seen(made: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page lets a refund pass that names neither its purchase nor a merchant."""
    lines = "Kunde;Karte;Datum;Betrag;Beleg\nc;ct;18.03.2026;12,50;1\nc;ct;19.03.2026;-12,50;2\n"
    drawn, doors = Drawn(lines.encode(), profile=WITHOUT), Doors(made)
    held(doors, drawn)
    table = tuple(rule for rule in rules.RULES if rule.code != "original_missing")
    told = PlainRules.__init__

    def lenient(plain: PlainRules, *args: Any, **how: Any) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(rules, "RULES", table)
            told(plain, *args, **how)

    monkeypatch.setattr(PlainRules, "__init__", lenient)
    with pytest.raises(AssertionError):
        held(doors, drawn)


HEADER = ("cardholder_token", "card_token", "card_acceptor_id", "amount", "transaction_ref")
EVENTS = st.lists(
    st.tuples(HOLDERS, CARDS, MERCHANT, AMOUNTS, REFS, TIMES).map(
        lambda cells: dict(zip((*HEADER, "transacted_at"), cells, strict=True))
    ),
    min_size=1,
    max_size=MOST_ROWS,
)


@settings(
    max_examples=1_000 if FULL else tries(10, 50),
    deadline=None,
    database=None,
    derandomize=not FULL,
    suppress_health_check=[*HealthCheck],
)
@given(events=EVENTS)
def test_a_call_is_judged_as_a_file_of_its_events(events: list[dict[str, Any]], made: Job) -> None:
    for event in events:
        if event["amount"].replace(".", "").isdigit():
            event["amount"] = Decimal(event["amount"])
    doors, content = Doors(made), dumps(events).encode()
    doors.path.write_bytes(content)
    doors.import_(Drawn(content), "alder")
    rows = [*csv.DictReader(doors.errors.read_text().splitlines())]
    codes = {"duplicate": False, "duplicate_conflict": True}
    errors = sorted((row["index"], row["code"]) for row in rows if row["level"] == "error")
    known = sorted((row["index"], codes[row["code"]]) for row in rows if row["code"] in codes)
    with made.store() as store:
        store.keeps = False
        sent = EventCall(
            call_id=uuid4(),
            items=json.loads(content, parse_float=Decimal),
            body_sha256="0" * 64,
            size_bytes=1,
            key_prefix="k",
        )
        (taken,) = take_events(store, find_institution(store, "alder"), [sent], made)
        store.keeps = True
    receipt = taken.receipt
    assert errors == sorted((str(row["item"]), row["code"]) for row in receipt.errors)
    assert known == sorted((str(row["item"]), row["is_conflict"]) for row in receipt.repeated)
