"""Looking: what came in of watched institutions is compared, and what is strange is recorded.

It is never part of the transaction that took a file or matched it, so that nothing that goes wrong
here can stop those. A file is counted once, from the rows that were taken of it; the next look
counts what is missing. Comparing a file reads only what was kept of a dozen. Which of them, and
what is unusual, `scan.sql` says.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import Interrupted
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.kernel.words.visible import shortened
from cardoffers_cli.watch.observations import Observation, figures_text, watch_meaning
from cardoffers_cli.watch.questions import find_abuse, list_watch_findings, record_findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from uuid import UUID

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.watch.questions import WatchFinding


def look_at(job: Job, institution_id: UUID, failed: Callable[[Exception, str], None]) -> int:
    """Look at what came in of an institution, also at files whose import could not keep them.

    Each of these is kept by itself; `failed` is told of one that cannot be, by the name of its
    file, and the others are looked at. Raises what it raises.
    """
    with job.store() as store:
        for file in store.records(
            MissingShape, "watch/scan:missing", institution_id=institution_id
        ):
            try:
                with store.transaction():
                    keep_shape(store, institution_id, file)
            except Exception as error:  # noqa: BLE001  whatever it is, `failed` decides
                failed(error, file.file_name)
        with store.transaction():
            return look(store, job, institution_id)


def look(store: Store, job: Job, institution_id: UUID) -> int:
    """Look at what was kept of an institution since the look before; return how many are found.

    In the caller's transaction. Call it behind a match, which decides what redeems.
    """
    with run_record(store, kind="watch", now=job.now, actor=job.actor) as run:
        of = {"institution_id": institution_id}
        files = [int(row["import_no"]) for row in store.rows("watch/scan:unlooked", **of)]
        if files:
            store.execute("watch/scan:look", **of, import_nos=files)
        observations = [
            *compare(store, institution_id, files),
            *find_abuse(store, institution_id, job.now),
        ]
        store.execute("watch/abuse:keep_look", **of, run_no=run.run_no)
        new = record_findings(store, institution_id, observations, run_no=run.run_no, now=job.now)
        run.counts.update(files=len(files), found=new)
    return new


# Unusual: a file that was just taken, of a watched institution, is held against those before it.
#
# That is behind the transaction that took the file: whatever goes wrong here is told, and the
# import stands. The next nightly run looks at the file again.


_MOST_OPEN = 10_000
"""Open findings of an institution that those of a file are looked for in, the newest first."""


def look_at_imports(
    store: Store, job: Job, owner: Institution, import_nos: Sequence[int]
) -> list[str]:
    """Record what is unusual in imports; return a line for each finding, or on why there is none.

    In a transaction of its own. Whether purchases redeem is looked at behind the match.
    """
    try:
        with store.transaction():
            return [
                f"Unusual in {shortened(row.about)}: {watch_meaning(row.code).says}"
                f" ({figures_text(row.figures)}). Next: `cardoffers watch show {row.finding_id}`."
                for row in _look(store, job, owner, import_nos)
            ]
    except Interrupted:
        raise
    except Exception as error:  # noqa: BLE001  the file is taken, whatever this is
        return [_failed(owner, error)]


def _look(
    store: Store, job: Job, owner: Institution, import_nos: Sequence[int]
) -> list[WatchFinding]:
    """Return the findings of imports that are open, which may have been accepted before."""
    with run_record(store, kind="watch", now=job.now, actor=job.actor) as run:
        keep_shapes(store, owner.id, import_nos)
        items = compare(store, owner.id, import_nos)
        new = record_findings(store, owner.id, items, run_no=run.run_no, now=job.now)
        run.counts.update(files=len(import_nos), found=new)
    named = {(item.code, item.subject, item.about_on) for item in items}
    if not named:
        return []
    listed = list_watch_findings(store, institution_id=owner.id, state="open", limit=_MOST_OPEN)
    return [row for row in listed if (row.code, row.subject, row.about_on) in named]


def _failed(owner: Institution, error: Exception) -> str:
    """Say that a look failed, by the class of its error: a message could hold a value."""
    return (
        "The file is taken, but could not be compared with those before it"
        f" ({type(error.__cause__ or error).__name__}). The next nightly run tries again;"
        f" `cardoffers institution set {owner.slug} --watch off` ends the watch."
    )


class MissingShape(Record):
    """A file of which nothing is kept; how many cardholders were new only its import could tell."""

    import_no: int
    file_name: str
    new_cardholders: int


def keep_shape(store: Store, institution_id: UUID, file: MissingShape) -> None:
    """Keep what a file looked like of which nothing is kept."""
    of = {"institution_id": institution_id, "import_no": file.import_no}
    bought = store.make("watch/scan:bought_of_file", **of)
    new = file.new_cardholders
    store.execute("watch/scan:keep_shape", bought, **of, new_cardholders=new)
    store.execute("watch/scan:keep_merchants", bought, **of)
    store.drop(bought)


def keep_shapes(store: Store, institution_id: UUID, import_nos: Sequence[int]) -> None:
    """Keep what the files of some imports looked like, which were just taken."""
    for file in store.records(MissingShape, "watch/scan:missing", institution_id=institution_id):
        if file.import_no in import_nos:
            keep_shape(store, institution_id, file)


def compare(store: Store, institution_id: UUID, import_nos: Sequence[int]) -> list[Observation]:
    """Return what in some imports is unlike the files before them."""
    if not import_nos:
        return []
    of = {"institution_id": institution_id}
    some = {**of, "import_nos": [*import_nos]}
    like = store.make("watch/scan:like_files", **some)
    observations = [
        *map(_unusual, store.rows("watch/scan:unusual", like, **of)),
        *map(_known, store.rows("watch/scan:wholly_known", **some)),
        *map(_unknown, store.rows("watch/scan:unknown_cardholders", **some)),
        *map(_silent, store.rows("watch/scan:silent", like, **some)),
    ]
    store.drop(like)
    return observations


def _unusual(row: Mapping[str, Any]) -> Observation:
    return Observation(
        f"{row['name']}_unusual", row["file_name"], row["about_on"], dict(_figures(row))
    )


def _figures(row: Mapping[str, Any]) -> Iterator[tuple[str, int | Decimal]]:
    yield row["name"], _exact(row["figure"])
    if row["is_scale"]:
        yield "usual", _exact(row["usual_figure"])
    else:
        yield "among", int(row["among"])
        yield "usual_share", row["usual_share"]
    yield "like_files", int(row["files"])
    yield "deviations", row["deviations"]


def _exact(value: Any) -> int | Decimal:
    """Return a number as people write it: whole ones without decimals."""
    exact = Decimal(value)
    return int(exact) if exact == exact.to_integral_value() else exact.quantize(Decimal("0.01"))


def _known(row: Mapping[str, Any]) -> Observation:
    names = ("received", "duplicates", "conflicts")
    figures = {name: row[name] for name in names}
    return Observation("file_wholly_known", row["file_name"], row["about_on"], figures)


def _unknown(row: Mapping[str, Any]) -> Observation:
    figures = {name: row[name] for name in ("new_cardholders", "among", "known")}
    return Observation("cardholders_unknown", row["file_name"], row["about_on"], figures)


def _silent(row: Mapping[str, Any]) -> Observation:
    figures = {"purchases": 0, "expected": row["expected"], "like_files": int(row["files"])}
    return Observation("merchant_silent", str(row["merchant_id"]), row["about_on"], figures)
