"""The one who asks: each question opens the store by a job, and leaves it free again.

While somebody holds the store, answers come from the snapshot beside it; `source` says of when the
newest answer is. One thread asks (`kernel/store/reading.py`); any other may stop what is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cardoffers_cli.answers.browse.queries import Attempt, attempts
from cardoffers_cli.answers.find import find
from cardoffers_cli.answers.search import Hit, SearchScope
from cardoffers_cli.answers.timelines import tell_timeline
from cardoffers_cli.answers.why import plain_answers, why
from cardoffers_cli.institutions.work import all_institutions
from cardoffers_cli.kernel.store.reading import PATIENCE_S
from cardoffers_cli.kernel.words.errors import Interrupted, NotFound, StoreBusy
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.merchants.discovery import likely_merchants
from cardoffers_cli.river.redemptions import show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from cardoffers_cli.answers.find import FindResult
    from cardoffers_cli.answers.timelines import Timeline
    from cardoffers_cli.answers.why import PlainAnswer, Why
    from cardoffers_cli.kernel.store.job import Job, Reading
    from cardoffers_cli.merchants.suggestions import Suggestion

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
        return replace(
            widest, near=self._near(tried, [name for result in results for name in result.near])
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

    def _near(self, tried: list[Attempt], merchants: Iterable[str]) -> tuple[str, ...]:
        """Return the references, or merchants, that may have been meant by what nobody knows."""
        refs = [attempt.wanted.ref for attempt in tried if attempt.wanted and attempt.wanted.ref]
        near = tuple(self.ask(why, refs[0], self.institution).near) if refs else ()
        return near or tuple(merchants)

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
