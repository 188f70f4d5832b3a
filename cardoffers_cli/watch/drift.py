"""Drift: what each file of a watched institution looked like, and what in a file is unlike before.

A file is counted once, from the rows that were taken of it, in a transaction behind the one that
took it: an error here stops no import, and the next look counts what is missing. Comparing a file
reads only what was kept of a dozen. Which of them, and what is unusual, `drift.sql` says.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.interning import next_number
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.watch.observations import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


class MissingShape(Record):
    """A file of which nothing is kept; how many cardholders were new only its import could tell."""

    import_no: int
    file_name: str
    new_cardholders: int


def next_cardholder_no(store: Store) -> int:
    """Return the number from which on cardholders are new: ask before a file is numbered."""
    return next_number(store, "kernel/store/interning:next_cardholder")


def keep_shape(store: Store, institution_id: UUID, file: MissingShape) -> None:
    """Keep what a file looked like of which nothing is kept."""
    of = {"institution_id": institution_id, "import_no": file.import_no}
    bought = store.make("watch/drift:bought_of_file", **of)
    new = file.new_cardholders
    store.execute("watch/drift:keep_shape", bought, **of, new_cardholders=new)
    store.execute("watch/drift:keep_merchants", bought, **of)
    store.drop(bought)


def keep_shapes(store: Store, institution_id: UUID, import_nos: Sequence[int]) -> None:
    """Keep what the files of some imports looked like, which were just taken."""
    for file in store.records(MissingShape, "watch/drift:missing", institution_id=institution_id):
        if file.import_no in import_nos:
            keep_shape(store, institution_id, file)


def compare(store: Store, institution_id: UUID, import_nos: Sequence[int]) -> list[Observation]:
    """Return what in some imports is unlike the files before them."""
    if not import_nos:
        return []
    of = {"institution_id": institution_id}
    some = {**of, "import_nos": [*import_nos]}
    like = store.make("watch/drift:like_files", **some)
    observations = [
        *map(_unusual, store.rows("watch/drift:unusual", like, **of)),
        *map(_known, store.rows("watch/drift:wholly_known", **some)),
        *map(_unknown, store.rows("watch/drift:unknown_cardholders", **some)),
        *map(_silent, store.rows("watch/drift:silent", like, **some)),
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
