"""Engines elsewhere: what a job gives to one, lets it compute, and takes back from it.

An engine reads the parts of the history where they are. What else it needs is handed to it, and of
what it finds only redemptions, known refs and counts travel; decisions and outcomes it writes into
parts of the history. It never writes to the store, and the store lists a part only in the
transaction that keeps the run.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cardoffers_cli.domain.errors import Refused, UsageError
from cardoffers_cli.engine.duck import DuckEngine
from cardoffers_cli.jobs.export import move_recent
from cardoffers_cli.jobs.merge import merge_due, sweep
from cardoffers_cli.jobs.runs import Run, start_run
from cardoffers_cli.pipeline.handles import Held
from cardoffers_cli.pipeline.judge import take_known
from cardoffers_cli.pipeline.match import match
from cardoffers_cli.pipeline.redeem import (
    find_held,
    redeem,
    take_decisions,
    take_redemptions,
)
from cardoffers_cli.pipeline.resolve import find_undecided, import_looked_at, resolve
from cardoffers_cli.store import history
from cardoffers_cli.store.engine_lock import engine_lock
from cardoffers_cli.store.layout import history_root
from cardoffers_cli.store.places import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from cardoffers_cli.domain.errors import CardoffersError
    from cardoffers_cli.engine.spark import SparkEngine
    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.pipeline.handles import Decided, Known, MatchCounts, Numbered
    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.places import Place
    from cardoffers_cli.store.store import Store

_CATALOGUE = (*("merchants", "identifiers", "terms_in_force", "link_starts"),)
_FROM_HISTORY = ("purchases", "decisions")
_SAVED = ("decisions", "outcomes")
"""The tables of the history that a match adds a part to."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where an engine works for a store: its address, and the history's place, here and there."""

    url: str
    root: Place
    named: str

    @property
    def endpoint(self) -> str:
        """The address as it may be shown and kept, without the token that it may carry."""
        return self.url.partition("/;")[0]

    def there(self, folder: Place) -> str:
        """Return how the engine names a folder of the history."""
        return self.named + str(folder).removeprefix(str(self.root))

    @contextmanager
    def engine(self) -> Iterator[SparkEngine]:
        """Open a session for the length of a `with` block; what it left on the way is removed."""
        from cardoffers_cli.engine.spark import SparkEngine  # noqa: PLC0415 - heavy, and seldom

        work = history.work_folder(self.root, str(uuid4()))
        engine = SparkEngine.at(self.url, self.there(work))
        try:
            yield engine
        finally:
            engine.close()
            work.remove()


@dataclass(frozen=True, kw_only=True)
class Given:
    """What an engine is given: rows by value, and folders of the history to read in place."""

    rows: dict[str, pa.Table]
    folders: dict[str, list[str]]

    def to(self, engine: SparkEngine) -> dict[str, Table]:
        """Hand it over; return the tables there by name."""
        return {
            name: engine.put(name, rows.to_reader(), self.folders.get(name, ()))
            for name, rows in self.rows.items()
        }


@dataclass(frozen=True, kw_only=True)
class Computed:
    """What an engine made of a run that was begun: counts, redemptions, and parts to be listed.

    `unmerged` says why small parts of the history were not merged before it, if they were to be.
    """

    site: Site
    run: Run
    counts: MatchCounts
    redeemed: pa.Table
    parts: dict[str, history.Sums]
    unmerged: CardoffersError | None


@dataclass(frozen=True, kw_only=True)
class _Begun:
    run: Run
    given: Given
    unmerged: CardoffersError | None


def site_of(store: Store, job: Job) -> Site | None:
    """Return where the engine of a job works, or None if it has none.

    Raises `Refused` for a store with purchases and no history: an engine cannot read them.
    """
    if job.settings.engine is None:
        return None
    root = history.root(store)
    if root is None and history.recent(store):
        raise Refused(
            "An engine cannot read the purchases that are in this store.",
            code="history_missing",
            hint="Move them out first: `cardoffers store export --to ROOT`.",
        )
    root = root or place_of(history_root(job.path))
    return Site(
        url=job.settings.engine,
        root=root,
        named=(job.settings.engine_root or str(root)).rstrip("/"),
    )


def dedupe(store: Store, site: Site, numbered: Numbered) -> Known:
    """Find the staged rows whose refs an engine finds in the history.

    The store stays open meanwhile, as its transaction holds what is staged.
    """
    given = _given(store, site, [numbered.refs], (), ("purchases",))
    with site.engine() as engine:
        refs = given.to(engine)["staged_refs"]
        known = engine.run("dedupe", refs)["known_refs"]
        rows = engine.fetch(known).read_all()
    return take_known(store, rows)


def compute(job: Job, *, rematch: bool = False) -> Computed:
    """Begin a run of match and compute it, the store being closed meanwhile.

    Everything recent moves into the history first, where many small parts become few. Raises
    `EngineFailed`; if nobody answers, nothing was begun.
    """
    with job.store(read_only=True) as store:
        site = site_of(store, job)
    if site is None:
        raise UsageError("No engine is named.", hint="Name one with --engine sc://host:port.")
    with engine_lock(job.path), site.engine() as engine:
        begun = _begin(job, site)
        decided = _decided(engine, begun.given.to(engine), rematch=rematch)
        return Computed(
            site=site,
            run=begun.run,
            counts=decided.counts,
            redeemed=engine.fetch(decided.redemptions).read_all(),
            parts={table: _saved(engine, site, begun.run, table, decided) for table in _SAVED},
            unmerged=begun.unmerged,
        )


def list_parts(store: Store, computed: Computed) -> Table:
    """Add what was computed to the history, in the caller's transaction; return redemptions."""
    run = computed.run
    for table, sums in computed.parts.items():
        folder = history.folder_of(computed.site.root, table, run.run_id)
        history.list_part(store, table, folder, run.run_no, run.run_id, expected=sums)
    return take_redemptions(store, computed.redeemed)


def compute_in(
    store: Store, site: Site, run_no: int, *, rematch: bool = False, import_no: int | None = None
) -> tuple[MatchCounts, Table]:
    """Compute a run that is not kept, in the caller's transaction, which sees what is in it.

    Redemptions are fetched and returned, and of one import its decisions and outcomes taken.
    """
    handed = [*vars(find_held(store, run_no)).values()]
    if import_no is not None:
        handed.append(import_looked_at(store, import_no))
    given = _given(store, site, handed, _CATALOGUE, _FROM_HISTORY)
    with site.engine() as engine:
        there = given.to(engine)
        decided = _decided(engine, there, rematch=rematch)
        redeemed = engine.fetch(decided.redemptions).read_all()
        if import_no is not None:
            tables = (decided.decisions, decided.outcomes, there["import_looked_at"])
            of_import = engine.define("of_import", *tables)
            decisions = engine.fetch(of_import["decided_of_import"]).read_all()
            outcomes = engine.fetch(of_import["outcomes_of_import"]).read_all()
            take_decisions(store, decisions, outcomes)
    return decided.counts, take_redemptions(store, redeemed)


def _begin(job: Job, site: Site) -> _Begun:
    """Record a run, so that what it leaves behind is known, and take what the engine is given."""
    with job.store() as store:
        sweep(store, job, site.root)
        move_recent(store, job, site.root)
        unmerged = merge_due(store, job).failure
        with store.transaction():
            run = start_run(store, kind="match", now=job.now, actor=job.actor)
        handed = [*vars(find_held(store, run.run_no)).values()]
        given = _given(store, site, handed, _CATALOGUE, _FROM_HISTORY)
        return _Begun(run=run, given=given, unmerged=unmerged)


def _given(
    store: Store,
    site: Site,
    handed: Sequence[Table],
    names: tuple[str, ...],
    kept: tuple[str, ...],
) -> Given:
    """Take tables by value: those handed, the store's own, and what it still has of the history."""
    duck = DuckEngine(store.connection, store.tables)
    with store.guarded():
        rows = {table.name: duck.fetch(table).read_all() for table in handed}
        rows |= {name: duck.read(name).read_all() for name in names}
        recent = {name: duck.read(f"recent_{name}").read_all() for name in kept}
    folders: dict[str, list[str]] = {}
    for part in history.parts(store):
        folders.setdefault(part.table, []).append(site.there(part.folder))
    return Given(rows=rows | recent, folders=folders)


def _decided(engine: SparkEngine, there: Mapping[str, Table], *, rematch: bool) -> Decided:
    resolutions = resolve(engine, find_undecided(engine, rematch=rematch))
    held = Held(**{name: there[name] for name in ("reserved", "uses", "this_run")})
    return redeem(engine, resolutions, match(engine, resolutions), held)


def _saved(engine: SparkEngine, site: Site, run: Run, table: str, decided: Decided) -> history.Sums:
    folder = history.folder_of(site.root, table, run.run_id)
    saved: dict[str, Any] = engine.save(getattr(decided, table), site.there(folder))
    return history.Sums(
        row_count=saved["row_count"], purchase_no_sum=saved["purchase_no_sum"] or 0, amount=None
    )
