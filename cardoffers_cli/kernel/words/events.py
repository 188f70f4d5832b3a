"""The kinds of events that institutions are sent, as data: what they tell of, when, and how.

`events.toml` is their only list: what `webhook set` takes, what is queued, audited and described
all read it. To add a kind, write its table there, and the statement that it names.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FIELD = re.compile(r"(id|text|masked|amount|moment)(\??)(?::\s(.+))?")
_MOOT = ("never", "reversed", "not_announced")


@dataclass(frozen=True, kw_only=True)
class EventKind:
    """A kind of event; what its members are stands at the top of `events.toml`.

    Of each of its `fields` there are the type, whether it may be left out, and its meaning.
    """

    name: str
    what: str
    always: bool
    moot_when: str
    noun: str
    schema: str
    carries: str
    summary: str
    description: str
    example: str
    fields: Mapping[str, tuple[str, bool, str | None]]
    needs: str | None = None
    only_new: str | None = None

    @property
    def subject(self) -> str:
        """What it tells of, in one word."""
        return self.name.partition(".")[0]

    @property
    def word(self) -> str:
        """How it is typed and kept: of redemptions, by the rest of its name alone."""
        return self.name.removeprefix("redemption.")


def read_events(text: str) -> Mapping[str, EventKind]:
    """Return the kinds of tables by their names.

    Raises `TypeError` where the table of a kind lacks something, or has what is not known.
    """
    tables = tomllib.loads(text).items()
    named = {f"{of}.{what}": one for of, table in tables for what, one in table.items()}
    kinds = {name: EventKind(name=name, **_parsed(table)) for name, table in named.items()}
    for name, kind in kinds.items():
        is_known = kind.moot_when in _MOOT and (kind.needs or name) in kinds
        if not is_known or f"{kind.subject}_id" not in kind.fields:
            raise TypeError(f"events.toml: {name} is moot, needs or is of what is not known")
    return kinds


def _parsed(table: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: _FIELD.fullmatch(text) for name, text in table["fields"].items()}
    if None in fields.values():
        raise TypeError("events.toml: there is a field of no type that is known")
    types = {name: (match[1], bool(match[2]), match[3]) for name, match in fields.items() if match}
    return {**table, "fields": types}


EVENTS = read_events(files(__package__).joinpath("events.toml").read_text("utf-8"))
"""Every kind of event by its name."""

ANNOUNCEMENT = next(iter(EVENTS.values()))
"""The kind that tells of a redemption, which is meant where none is named."""

WORDS = {kind.word: kind for kind in EVENTS.values()}
"""The kinds by how they are typed."""


def events_of(words: Iterable[str]) -> list[EventKind]:
    """Return the kinds of words or names, in their order.

    Raises `ValueError` for none at all, for unknown ones, and for one that needs what is not there.
    """
    wanted = {*words}
    kinds = [kind for kind in EVENTS.values() if wanted & {kind.word, kind.name}]
    needed = {kind.needs for kind in kinds} - {None, *(kind.name for kind in kinds)}
    if needed or not kinds or not wanted <= {*WORDS, *EVENTS}:
        raise ValueError(words)
    return kinds
