"""The one who asks: what was typed, as questions that open the store by a job and free it again.

While somebody holds the store, answers come from the snapshot beside it; `source` says of when the
newest answer is. One thread asks (`kernel/store/reading.py`); any other may stop what is asked.

Words that can mean one thing only are taken for it: a day or two, a state, an amount, a masked
token; days and amounts also as people write them where they live. An id and any other text can mean
several things, which are tried one after the other until one of them finds something. `name:`
before a word says what is meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cardoffers_cli.answers.find import find
from cardoffers_cli.answers.search import STATES, Hit, PurchaseFilter, SearchScope
from cardoffers_cli.answers.timelines import tell_timeline
from cardoffers_cli.answers.why import plain_answers, why
from cardoffers_cli.institutions.work import all_institutions
from cardoffers_cli.intake.local_forms import read_amount, read_day
from cardoffers_cli.kernel.store.reading import PATIENCE_S
from cardoffers_cli.kernel.words.errors import Interrupted, NotFound, StoreBusy, UsageError
from cardoffers_cli.kernel.words.ids import ELLIPSIS, SHOWN_AT_EACH_END
from cardoffers_cli.kernel.words.moments import parse_moment
from cardoffers_cli.kernel.words.money import MINOR_UNITS
from cardoffers_cli.kernel.words.nearest import did_you_mean, nearest
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.merchants.discovery import likely_merchants
from cardoffers_cli.river.redemptions import show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cardoffers_cli.answers.find import FindResult
    from cardoffers_cli.answers.timelines import Timeline
    from cardoffers_cli.answers.why import PlainAnswer, Why
    from cardoffers_cli.kernel.store.job import Job, Reading
    from cardoffers_cli.merchants.suggestions import Suggestion


if TYPE_CHECKING:
    Row = Mapping[str, Any]


class WithId(Record):
    """Something that was found by its id, which may be of many purchases."""

    kind: str
    id: str
    state: str


FoundOne = Hit | WithId

LIMIT = 200
"""Rows of one search: nobody reads more, and the words say that there are others."""


@dataclass(frozen=True)
class AnsweredFrom:
    """What the newest answer came from: the store or, while `busy` tells who has it, a snapshot."""

    as_of: datetime
    snapshot_at: datetime | None = None
    busy: str | None = None


@dataclass(frozen=True)
class Hits:
    """What a search came to; `attempt` is how what was typed was taken."""

    rows: Sequence[FoundOne]
    attempt: Attempt
    searched: SearchScope
    is_cut_off: bool = False
    near: tuple[str, ...] = ()


class Asking:
    """The asking of one question, which may read several times, and may be stopped."""

    def __init__(self) -> None:
        self._reading: Reading | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """Break off what runs for it, and let nothing more be done; return at once.

        Any thread may call it at any time, also before the question is begun and after its end.
        """
        self._is_stopped = True
        if self._reading:
            self._reading.store.interrupt()

    def goes_on(self) -> None:
        """Raise `Interrupted` if it was stopped."""
        if self._is_stopped:
            raise Interrupted

    def reads(self, reading: Reading) -> None:
        """Note what is read, and so what `stop` has to interrupt."""
        self._reading = reading
        self.goes_on()  # afterwards: a stop that came too early to see it is seen here


class Inquiry:
    """Asks for one institution; `clock` tells the moment of each question (naive UTC)."""

    def __init__(
        self, job: Job, clock: Callable[[], datetime], institution: str | None = None
    ) -> None:
        self.institution = institution or ""
        self._clock = clock
        self._job = replace(job, on_reading=self._note)
        self._asking = Asking()
        self.source = AnsweredFrom(clock())

    def answer(self, asking: Asking, question: Callable[..., Any], *words: Any) -> Any:
        """Return the answer to a question; raise `Interrupted` where the asking is stopped."""
        self._asking = asking
        return question(*words)

    def institutions(self) -> list[str]:
        """Return the slugs that can be asked for."""
        return [institution["slug"] for institution in all_institutions(self._now())]

    def choose(self, slug: str) -> None:
        """Ask for another institution from here on."""
        self.institution = slug

    def search(self, text: str) -> Hits:
        """Return what the likeliest meaning that finds anything finds; raise what is wrong."""
        tried = attempts(text, self._clock().date())
        results = []
        for attempt in tried:
            results.append(self._attempted(attempt))
            if results[-1].rows:
                return results[-1]
        widest = max(results, key=lambda result: len(result.searched))
        # The references, or merchants, that may have been meant.
        refs = [attempt.wanted.ref for attempt in tried if attempt.wanted and attempt.wanted.ref]
        near = tuple(self.ask(why, refs[0], self.institution).near) if refs else ()
        return replace(
            widest, near=near or tuple([name for result in results for name in result.near])
        )

    def merchants(self) -> list[Suggestion]:
        """Return which known merchants unknown identifiers may be of."""
        suggestions: list[Suggestion] = self.ask(likely_merchants, self.institution, limit=LIMIT)
        return suggestions

    def case(self, row: FoundOne) -> Case:
        """Return what can be told of a row that was found."""
        return Case(row, self)

    def ask(self, question: Callable[..., Any], *words: Any, **options: Any) -> Any:
        """Have a job answer, at this moment."""
        self._asking.goes_on()
        try:
            return question(*words, self._now(), **options)
        except StoreBusy:
            self.source = AnsweredFrom(self._clock())  # there is no snapshot, or no longer
            raise

    def _attempted(self, attempt: Attempt) -> Hits:
        if attempt.wanted is None:
            return Hits(self._by_id(attempt.id_ or ""), attempt, SearchScope(last_import_at=None))
        result: FindResult = self.ask(find, self.institution, attempt.wanted, limit=LIMIT)
        return Hits(result.data, attempt, result.searched, result.more, tuple(result.near))

    def _by_id(self, id_: str) -> list[WithId]:
        try:
            timeline: Timeline = self.ask(tell_timeline, id_, self.institution)
        except NotFound:
            return []
        return [WithId(kind=timeline.kind, id=id_, state=timeline.kind)]

    def _now(self) -> Job:
        """Return the job of this moment; who has read a snapshot does not wait for the store."""
        patience_s = 0 if self.source.snapshot_at else PATIENCE_S
        wait_s = int(min(patience_s, self._job.settings.lock_wait_s))
        settings = replace(self._job.settings, lock_wait_s=wait_s)
        now = self._clock()
        self.source = replace(self.source, as_of=now)
        return replace(self._job, now=now, settings=settings)

    def _note(self, reading: Reading) -> None:
        self._asking.reads(reading)
        busy = reading.busy.message if reading.busy else None
        self.source = replace(self.source, snapshot_at=reading.snapshot_at, busy=busy)


class Case:
    """What can be told of one row, each part asked for when it is first wanted."""

    def __init__(self, row: FoundOne, inquiry: Inquiry) -> None:
        self.row = row
        self._inquiry = inquiry
        self._answers: dict[str | None, PlainAnswer] = {}

    @property
    def ref(self) -> str | None:
        """The reference; a row that was rejected may have had none, and a settlement has many."""
        return self.row.get("transaction_ref")

    @cached_property
    def why(self) -> Why | None:
        """Why it redeemed or not, None where there is no reference to ask by."""
        return self._ask(why, self.ref) if self.ref else None

    @cached_property
    def redemption(self) -> Row | None:
        """The redemption with its money and its webhook, if it earned one."""
        id_ = self.why and self.why.redemption_id
        return self._inquiry.ask(show, str(id_)) if id_ else None

    @cached_property
    def timeline(self) -> Timeline | None:
        """Everything that happened."""
        id_ = self.ref or self.row.get("id")
        return self._ask(tell_timeline, id_) if id_ else None

    def answer(self, locale: str | None) -> PlainAnswer | None:
        """Return what the cardholder may be told; None is the institution's first language."""
        if self.ref and locale not in self._answers:
            (answer,) = self._ask(plain_answers, [self.ref], locale=locale)
            self._answers[locale] = answer
        return self._answers.get(locale)

    def _ask(self, question: Callable[..., Any], what: Any, **options: Any) -> Any:
        return self._inquiry.ask(question, what, self._inquiry.institution, **options)


if TYPE_CHECKING:
    Filters = dict[str, Any]

EXAMPLES = (
    ("LAR1-93*", "a reference; * and ? stand for any letters"),
    ("7f03…40ea", "a masked token, also 7f03...40ea, or 40ea; or the full one"),
    ("grocers 2026-09-05", "a merchant's name, or identifier, on a day"),
    ("20.00 2026-09-01..2026-09-30", "an amount, in some days"),
    ("amount:20~1 settled", "an amount, or 1 more or less, in a state"),
    ("6b0e1f5c-…", "the id of a redemption, settlement, import, ledger entry or link"),
)
"""What can be typed, and what it means."""

_AMOUNT = re.compile(r"(\d{1,12}(?:\.\d{1,4})?)(?:[~±](\d{1,12}(?:\.\d{1,4})?))?", re.ASCII)
_DAY = re.compile(r"(?:19|20|21)\d\d-\d\d-\d\d", re.ASCII)
_LOCAL_AMOUNT = re.compile(r"^\d[\d.]*,\d|[£$€¥]\d|\d€", re.ASCII)
_LOCAL_DAY = re.compile(
    r"\d{1,2}\.\d{1,2}\.(?:\d{4})?|\d{1,2}/\d{1,2}/\d{4}|today|yesterday", re.ASCII
)
_NAMED = re.compile(r"([a-z]+):(.+)", re.DOTALL)


@dataclass(frozen=True)
class Attempt:
    """One meaning of what was typed, in words where there are others.

    An `id_` is looked for among everything that has one.
    """

    meaning: str
    wanted: PurchaseFilter | None = field(
        default=None, repr=False
    )  # a token may be taken for a reference
    id_: str | None = field(default=None, repr=False)

    @property
    def token(self) -> str | None:
        """The full token that was typed, which is not to stay on a screen."""
        return self.wanted.token if self.wanted else None


def attempts(text: str, today: date) -> list[Attempt]:
    """Return the meanings of what was typed, the likeliest first; raise `UsageError`."""
    filters: Filters = {}
    names: list[str] = []
    for word in _words(text):
        meant = _meant(word) or _local(word, today)
        names += [] if meant else [word]
        filters |= meant
    if not (filters or names):
        raise UsageError(
            "Nothing says what to look for.",
            code="nothing_wanted",
            hint="Write a reference, a masked token, a merchant, an amount, a day or an id.",
        )
    if not names:
        return [Attempt("", PurchaseFilter(**filters))]
    return [*_named(" ".join(names), filters)]


def _words(text: str) -> Iterator[str]:
    """Yield the words, a currency and the number behind it as one."""
    words = text.split()
    while words:
        word = words.pop(0)
        if word in MINOR_UNITS and words and _AMOUNT.fullmatch(words[0]):
            word = f"amount:{words.pop(0)}"
        yield word


def _meant(word: str) -> Filters:
    """Return the filters of a word that can mean one thing only; none for any other."""
    named = _NAMED.fullmatch(word)
    if named and named[1] in _NAMES:
        return _NAMES[named[1]](named[2])
    if word.replace("-", "_") in STATES:
        return _state(word)
    if ELLIPSIS in word or "..." in word:
        return _cardholder(word)
    if _DAY.fullmatch(word.partition("..")[0]):
        return _days(word)
    if "." in word and _AMOUNT.fullmatch(word):
        return _amount(word)
    return {}


def _local(word: str, today: date) -> Filters:
    """Return the filters of an amount or a day as people write them; none for another word."""
    try:
        if _LOCAL_AMOUNT.search(word):
            amount = read_amount(word)
            return {"least_amount": amount, "most_amount": amount}
        if _LOCAL_DAY.fullmatch(word):
            first = datetime.combine(read_day(word, today), datetime.min.time())
            return {"from_at": first, "to_at": first + timedelta(days=1)}
    except ValueError:
        pass
    return {}


def _named(text: str, others: Filters) -> Iterator[Attempt]:
    """Yield what a text can be the name of."""

    def attempt(meaning: str, **filters: Any) -> Attempt:
        return Attempt(meaning, PurchaseFilter(**{**others, **filters}))

    if " " in text:
        yield attempt("as a merchant", merchant=text)
        return
    try:
        is_id = str(UUID(text)) == text.lower()
    except ValueError:
        is_id = False
    if is_id:
        yield attempt("as a redemption", redemption_id=text)
    yield attempt("as a reference", ref=text)
    if re.search(r"[*?]", text):
        return
    if is_id and not others:
        yield Attempt("as an id", id_=text)
    if not is_id:
        yield attempt("as the beginning of a reference", ref=f"{text}*")
        yield attempt("as a token", token=text)
        yield attempt("as a part of a reference", ref=f"*{text}*")
        if len(text) == SHOWN_AT_EACH_END:
            yield attempt("as the end of a card's token", card_ends=(None, text))
            yield attempt("as the end of a cardholder's token", token_ends=(None, text))
    yield attempt("as a merchant", merchant=text)


def _state(word: str) -> Filters:
    state = word.replace("-", "_")
    if state not in STATES:
        hint = did_you_mean(nearest(state, STATES)) or f"Write one of {', '.join(STATES)}."
        raise UsageError("There is no such state.", code="state_unknown", hint=hint)
    return {"state": state}


def _cardholder(word: str) -> Filters:
    head, cut, tail = word.replace("...", ELLIPSIS).partition(ELLIPSIS)
    if not cut:
        return {"token": word}
    if {len(head), len(tail)} != {SHOWN_AT_EACH_END}:
        raise UsageError(
            "That is no masked token.",
            code="token_not_masked",
            hint="Write its 4 first and 4 last letters, abcd…wxyz or abcd...wxyz, or all of it.",
        )
    return {"token_ends": (head, tail)}


def _amount(word: str) -> Filters:
    match = _AMOUNT.fullmatch(word)
    if match is None:
        raise UsageError.from_table("answers", "amount_invalid")
    amount, tolerance = Decimal(match[1]), Decimal(match[2] or 0)
    return {"least_amount": amount - tolerance, "most_amount": amount + tolerance}


def _days(word: str) -> Filters:
    first, is_range, last = word.partition("..")
    if is_range and not last:
        return {"from_at": _day(first)}
    return {"from_at": _day(first), "to_at": _day(last or first) + timedelta(days=1)}


def _day(word: str) -> datetime:
    try:
        if _DAY.fullmatch(word):
            return parse_moment(word)
    except ValueError:
        pass
    raise UsageError.from_table("answers", "day_invalid")


_NAMES: dict[str, Callable[[str], Filters]] = {
    "ref": lambda word: {"ref": word},
    "merchant": lambda word: {"merchant": word},
    "redemption": lambda word: {"redemption_id": word},
    "cardholder": _cardholder,
    "state": _state,
    "amount": _amount,
    "day": _days,
}
"""What can be said before a word, to tell what it is."""
