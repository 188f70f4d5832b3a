"""The service behind both doors: calls in, answers out, in one use of the store.

All calls that wait are answered together: each passes the gate and is handled in the order it came,
but the events of an institution's calls are taken in one transaction, and so are its feeds. No
answer leaves before what it promises is committed. One call cannot spoil another: what it raises is
its own answer, and where a group of calls fails together, each is tried alone.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from cardoffers_cli.copies.work import last_copy
from cardoffers_cli.http.contract.events import answer_events, read_events
from cardoffers_cli.http.contract.gate import Gate, Keyring, check_body, check_head
from cardoffers_cli.http.contract.messages import Answer, Problem, busy, internal, problem_of
from cardoffers_cli.http.contract.offers import ask_feed, read_feeds
from cardoffers_cli.http.contract.routes import BATCH, FEED, TRANSACTION, find_route
from cardoffers_cli.kernel.store.opening import Holding
from cardoffers_cli.kernel.store.reading import open_published
from cardoffers_cli.kernel.store.usage_journal import UsageJournal
from cardoffers_cli.kernel.words import errors
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.keys.security import collect
from cardoffers_cli.river.events import take_events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.http.contract.gate import Caller
    from cardoffers_cli.http.contract.messages import Call
    from cardoffers_cli.http.contract.routes import Route
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

    Clock = Callable[[], datetime]
    OnFault = Callable[[str, BaseException], None]

_COLLECT_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, eq=False)
class BatchHandler:
    """How calls are answered together: what each asks, one transaction for all, each its answer."""

    read: Callable[[Route, Caller, Call], Any]
    take: Callable[[Store, Institution, Sequence[Any], Job], Sequence[Any]]
    answer: Callable[[Route, Any], Answer]


_EVENTS = BatchHandler(read_events, take_events, answer_events)
_FEEDS = BatchHandler(ask_feed, read_feeds, lambda _route, feed: Answer.of(200, feed))
_TOGETHER = {TRANSACTION: _EVENTS, BATCH: _EVENTS, FEED: _FEEDS}


@dataclass(eq=False)
class RequestContext:
    """A call on its way: what is known of it so far and, in the end, its answer."""

    call: Call
    route: Route | None = None
    parameters: dict[str, str] | None = None
    caller: Caller | None = None
    answer: Answer | None = None
    unknown_fields: int = 0

    def refuse(self, problem: Problem) -> None:
        """Answer with a refusal."""
        self.finish(problem.answer(self.call.request_id))

    def finish(self, answer: Answer) -> None:
        """Answer, and tell the log what is known of the caller."""
        self.answer = replace(
            answer,
            route=self.route.template if self.route else None,
            key_prefix=self.caller.key.prefix if self.caller else None,
            institution=self.caller.institution.slug if self.caller else None,
            unknown_fields=answer.unknown_fields or self.unknown_fields,
        )


class Service:
    """Answers calls. `on_fault` is told of what becomes a 500, which tells the caller nothing.

    One that `keeps_open` has the store open from one time to the next: it is to be asked often to
    `give_way`, and all its calls that need the store come from one thread. A fault lets go of the
    store, as an engine that failed goes on failing.

    In a `dry_run` every transaction is rolled back, and neither a use of a key nor a call is noted.
    """

    def __init__(
        self,
        job: Job,
        clock: Clock,
        on_fault: OnFault = lambda _request_id, _error: None,
        *,
        keeps_open: bool = False,
        dry_run: bool = False,
    ) -> None:
        self._holding = Holding() if keeps_open else None
        self._kept_book: UsageJournal | None = None
        self._dry_run = dry_run
        self._job = job
        self._clock = clock
        self._on_fault = on_fault
        self._collected_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Whether the store is open, and to be let go where somebody wants it."""
        return self._holding is not None and self._holding.is_open

    def give_way(self) -> None:
        """Let go of the store where somebody wants it, or no call came for a while."""
        if self._holding and self._holding.yields():
            self._close_book()

    def let_go(self) -> None:
        """Close what is open."""
        self._close_book()
        if self._holding:
            self._holding.let_go()

    def answer_all(self, calls: Sequence[Call], *, wait_s: float) -> list[Answer]:
        """Answer every call, in order; raise `StoreBusy` if the store is not had in `wait_s`.

        Nothing has been done then, and the same calls may be tried again.
        """
        requests = self._received(calls)
        waiting = [request for request in requests if request.answer is None]
        if waiting:
            job = replace(self._job, now=self._clock())
            read_only = all(map(_may_be_old, waiting))
            with (
                self._store(job, read_only=read_only, wait_s=wait_s) as store,
                self._book(job) as book,
            ):
                store.keeps = not self._dry_run
                self._answer(store, Gate(store, book, job), waiting, job)
                if not (read_only or self._dry_run):
                    self._collect(store, book, job)
            failed = HTTPStatus.INTERNAL_SERVER_ERROR
            if any(item.answer is None or item.answer.status == failed for item in waiting):
                self.let_go()
        return self._dated(_answers(requests))

    def _dated(self, answers: list[Answer]) -> list[Answer]:
        """Say with what is promised when the newest copy of the store was taken."""
        last = last_copy(self._job.path) if self._job.settings.copies else None
        if last is None:
            return answers
        at, good = {"x_copied_at": format_moment(last.taken_at)}, HTTPStatus.ACCEPTED
        return [each.with_headers(**at) if each.status <= good else each for each in answers]

    def answer_busy(self, calls: Sequence[Call]) -> list[Answer]:
        """Answer calls while the store is held: from the snapshot what may be read there, else 503.

        A snapshot cannot say of a key that it does not exist, and a key that is revoked takes it
        away; so an unknown key is told to come back, and no revoked one reads on.
        """
        requests = self._received(calls)
        reading = [
            request for request in requests if request.answer is None and _may_be_old(request)
        ]
        if reading:
            with suppress(errors.NoStore, errors.StoreVersion, errors.StoreDamaged):
                self._answer_from_snapshot(reading)
        for request in requests:
            if request.answer is None:
                request.refuse(busy())
        return _answers(requests)

    def read_keyring(self, *, wait_s: float) -> Keyring:
        """Return the keys that work; from the snapshot if the store is not had in `wait_s`."""
        job = replace(self._job, now=self._clock())
        try:
            with self._store(job, read_only=True, wait_s=wait_s) as store:
                return Keyring.of(store, is_whole=True)
        except errors.StoreBusy:
            with (
                suppress(errors.NoStore, errors.StoreVersion, errors.StoreDamaged),
                open_published(job) as (store, _),
            ):
                return Keyring.of(store, is_whole=False)
        return Keyring()

    def _store(self, job: Job, *, read_only: bool, wait_s: float) -> AbstractContextManager[Store]:
        if self._holding is None:
            return job.store(read_only=read_only, wait_s=wait_s)
        return self._holding.use(job.opening(read_only=read_only, wait_s=wait_s))

    @contextmanager
    def _book(self, job: Job) -> Iterator[UsageJournal]:
        """Give the usage journal; where the store stays open, so does it while it is in place."""
        book = self._kept_book
        if book is None or not book.is_in_place():
            self._close_book()
            book = UsageJournal(None if self._dry_run else job.path)
        self._kept_book = book
        try:
            yield book
        finally:
            if self._holding is None:
                self._close_book()

    def _close_book(self) -> None:
        book, self._kept_book = self._kept_book, None
        if book:
            book.close()

    def _received(self, calls: Sequence[Call]) -> list[RequestContext]:
        """Answer what needs no store: what is too large, nowhere, or open to everybody."""
        requests = [RequestContext(call) for call in calls]
        for request in requests:
            self._attempt(request, self._find)
        return requests

    def _find(self, request: RequestContext) -> None:
        check_head(request.call)
        request.route, parameters = find_route(request.call.method, request.call.path)
        check_body(request.call)
        request.parameters = {name: unquote(text) for name, text in parameters.items()}
        if request.route.scope is None and not request.route.needs_store:
            request.finish(_handler(request.route)())

    def _answer(
        self, store: Store, gate: Gate, requests: Sequence[RequestContext], job: Job
    ) -> None:
        groups: defaultdict[tuple[BatchHandler, UUID], list[tuple[RequestContext, Any]]] = (
            defaultdict(list)
        )

        def enter(request: RequestContext) -> None:
            if request.route and request.route.needs_store:
                request.finish(_handler(request.route)())
                return
            if (route := request.route) is None:
                raise internal()
            caller = request.caller = gate.identify(request.call)
            gate.admit(caller, request.call, route)
            if request.call.is_head_only:  # the key was made in this moment
                raise busy()
            own = replace(job, actor=f"key {caller.key.prefix}")  # which signs what it writes
            if together := _TOGETHER.get(route):
                wanted = together.read(route, caller, request.call)
                groups[together, caller.institution.id].append((request, wanted))
            else:
                handler = _handler(route)
                request.finish(handler(store, caller, request.call, request.parameters, own))

        for request in requests:
            self._attempt(request, enter)
        for (together, _), group in groups.items():
            self._take(store, together, group, job)

    def _take(
        self,
        store: Store,
        together: BatchHandler,
        group: Sequence[tuple[RequestContext, Any]],
        job: Job,
    ) -> None:
        """Take what one institution's calls ask together; or, if that fails, one by one."""
        caller = group[0][0].caller
        if caller is None:
            return
        try:
            every = together.take(store, caller.institution, [wanted for _, wanted in group], job)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is nobody else's
            if len(group) > 1:
                for one in group:
                    self._take(store, together, [one], job)
            else:
                self._fail(group[0][0], error)
            return
        for (request, _), result in zip(group, every, strict=True):
            request.unknown_fields = getattr(result, "unknown_fields", 0)

            def give(request: RequestContext, result: Any = result) -> None:
                if request.route:
                    request.finish(together.answer(request.route, result))

            self._attempt(request, give)

    def _answer_from_snapshot(self, requests: Sequence[RequestContext]) -> None:
        job = replace(self._job, now=self._clock())
        with open_published(job) as (store, taken_at), self._book(job) as book:
            gate = Gate(store, book, job)
            identified = [request for request in requests if gate.is_known(request.call)]
            self._answer(store, gate, identified, job)
        for request in identified:
            if request.answer:
                request.answer = request.answer.with_headers(x_snapshot_at=format_moment(taken_at))

    def _attempt(self, request: RequestContext, step: Callable[[RequestContext], None]) -> None:
        """Do a step for one call; what it raises is that call's answer."""
        try:
            step(request)
        except Problem as refusal:
            request.refuse(refusal)
        except errors.CardoffersError as error:
            problem = problem_of(error)
            if problem.code == internal().code:
                self._on_fault(request.call.request_id, error)
            request.refuse(problem)
        except Exception as error:  # noqa: BLE001 - a fault of ours is a 500 and ends no server
            self._fail(request, error)

    def _fail(self, request: RequestContext, error: Exception) -> None:
        self._on_fault(request.call.request_id, error)
        request.refuse(internal())

    def _collect(self, store: Store, book: UsageJournal, job: Job) -> None:
        """Bring the usage journal over now and then.

        By now every call has its answer, and what was promised is committed: if this fails, the
        journal keeps what it has for the next time, and for `audit`, which tells of the failure.
        """
        if self._collected_at and job.now - self._collected_at < _COLLECT_EVERY:
            return
        self._collected_at = job.now
        with suppress(errors.CardoffersError):
            with store.transaction():
                collected = collect(store, book)
            book.forget(collected)


def _may_be_old(request: RequestContext) -> bool:
    return request.route is not None and request.route.is_read


def _handler(route: Route) -> Callable[..., Answer]:
    module, _, name = (route.name or "").partition(":")
    handler: Callable[..., Answer] = getattr(
        import_module(f"cardoffers_cli.http.contract.{module}"), name
    )
    return handler


def _answers(requests: Sequence[RequestContext]) -> list[Answer]:
    return [request.answer or internal().answer(request.call.request_id) for request in requests]
