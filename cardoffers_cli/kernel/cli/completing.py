"""The values a shell offers when Tab is pressed: institutions, offers, keys.

Whatever is wrong (no store, a busy one, a broken configuration), nothing is offered and nothing is
said: an error in the middle of a line that is being typed helps nobody. Shells evaluate what they
are offered, so a value is offered only if it is made of plain letters.
"""

import os
import re
from collections.abc import Callable, Iterable
from typing import Any

import typer

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]*")
_NOT_PLAIN = re.compile(r"[^\w .@+-]")

Offered = list[tuple[str, str] | str]


def institutions(ctx: typer.Context) -> Offered:
    """Offer the slugs of the institutions."""
    from cardoffers_cli.kernel.cli.completions import institution_slugs

    return _plain(_quietly(ctx, institution_slugs))


def offers(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer the ids of offers, of the institution's program where one is named already."""
    from cardoffers_cli.kernel.cli.completions import offer_ids

    named = ctx.params.get("institution")
    return _plain(_quietly(ctx, lambda job: offer_ids(job, incomplete, named)))


def keys(ctx: typer.Context) -> Offered:
    """Offer the ids of keys; shells that can show whose they are, and their names."""
    from cardoffers_cli.kernel.cli.completions import key_ids

    pairs = _quietly(ctx, key_ids)
    return [(key_id, _NOT_PLAIN.sub(" ", meaning)) for key_id, meaning in pairs]


def _quietly(ctx: typer.Context, look: Callable[[Any], list[Any]]) -> list[Any]:
    from cardoffers_cli.kernel.cli.commands import Options
    from cardoffers_cli.kernel.cli.context import CommandContext

    try:
        return look(CommandContext(ctx.ensure_object(Options), os.environ, "completion").job)
    except Exception:  # noqa: BLE001  see above: nothing may be said here
        return []


def _plain(values: Iterable[str]) -> Offered:
    return [value for value in values if _PLAIN.fullmatch(value)]
