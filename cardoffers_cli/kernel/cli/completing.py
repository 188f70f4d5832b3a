"""The values a shell offers when Tab is pressed: institutions, offers, keys.

Whatever is wrong (no store, a busy one, a broken configuration), nothing is offered and nothing is
said: an error in the middle of a line that is being typed helps nobody. Each look is under the
store's lock like any other reading, but never waits for it. Shells evaluate what they are offered,
so a value is offered only if it is made of plain letters.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job


_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]*")
_NOT_PLAIN = re.compile(r"[^\w .@+-]")

Offered = list[tuple[str, str] | str]


def institutions(ctx: typer.Context) -> Offered:
    """Offer the slugs of the institutions."""
    rows = _quietly(ctx, lambda job: _rows(job, "institutions"))
    return _plain(row["value"] for row in rows)


def offers(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer the ids of offers, of the institution's program where one is named already."""
    named = ctx.params.get("institution")
    return _plain(_quietly(ctx, lambda job: offer_ids(job, incomplete, named)))


def keys(ctx: typer.Context) -> Offered:
    """Offer the ids of keys; shells that can show whose they are, and their names."""
    rows = _quietly(ctx, lambda job: _rows(job, "keys"))
    return [(row["value"], _NOT_PLAIN.sub(" ", row["meaning"])) for row in rows]


def _quietly(ctx: typer.Context, look: Callable[[Any], Sequence[Any]]) -> Sequence[Any]:
    from cardoffers_cli.kernel.cli.commands import Options
    from cardoffers_cli.kernel.cli.context import CommandContext

    try:
        return look(CommandContext(ctx.ensure_object(Options), os.environ, "completion").job)
    except Exception:  # noqa: BLE001  see above: nothing may be said here
        return []


def _plain(values: Iterable[str]) -> Offered:
    return [value for value in values if _PLAIN.fullmatch(value)]


_MOST = 200
"""Values that a person may still look through."""


def offer_ids(job: "Job", beginning: str, institution: str | None = None) -> list[str]:
    """Return the ids of some offers that begin so, of a program (slug or id) or of all."""
    rows = _rows(job, "offers", beginning=beginning, slug_or_id=institution, most=_MOST)
    return [row["value"] for row in rows]


def _rows(job: "Job", query: str, **parameters: Any) -> Sequence[Mapping[str, Any]]:
    with job.store(read_only=True, wait_s=0) as store:
        return store.rows(f"kernel/cli/completing:{query}", **parameters)
