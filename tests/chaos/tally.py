"""Counts what strikes did, by command or file, and sets apart what is known and not mended yet."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chaos.judging import KINDS, Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaos.strikes import Struck


@dataclass(frozen=True, kw_only=True)
class Known:
    """A fault that is known and not mended yet: how it is told, of what, and what it is."""

    where: str
    text: str
    what: str


KNOWN: tuple[Known, ...] = ()
"""Each is counted and printed apart, never left out. Remove a line when it is mended."""


_FEW = 3
"""Faults of one strike that are written out."""


@dataclass
class Tally:
    """What became of the strikes of one kind, by what was struck."""

    kind: str
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, struck: Struck) -> None:
        """Count one strike, under each kind of fault once."""
        counts = self.counts.setdefault(name, Counter())
        counts["struck"] += 1
        counts["ended"] += struck.ended
        counts["told"] += bool(struck.told)
        found = [(_known(name, fault), fault) for fault in struck.faults]
        counts.update({"known" if known else fault.kind for known, fault in found})
        for known, fault in found[:_FEW]:
            why = f" (known: {known.what})" if known else ""
            self.notes.append(f"{name}, {struck.how}: {fault.kind}: {fault.text}{why}")
        if more := found[_FEW:]:
            self.notes.append(f"{name}, {struck.how}: and {len(more)} more")

    def faults(self) -> int:
        """Return how many strikes found something that nobody knew."""
        return sum(counts[kind] for counts in self.counts.values() for kind in KINDS)

    def lines(self) -> Iterator[str]:
        """Yield a table in Markdown, its sums last."""
        shown = ("struck", "ended", "told", *KINDS, *(["known"] if self._is_known() else []))
        yield f"| {self.kind} | {' | '.join(shown)} |"
        yield "|---|" + "---:|" * len(shown)
        everything = sum(self.counts.values(), Counter())
        for name, counts in [*self.counts.items(), ("all", everything)]:
            yield f"| {name} | {' | '.join(f'{counts[each]:,}' for each in shown)} |"

    def _is_known(self) -> bool:
        return any(counts["known"] for counts in self.counts.values())


def _known(name: str, fault: Fault) -> Known | None:
    matches = (
        each
        for each in KNOWN
        if re.fullmatch(each.where, name) and re.search(each.text, f"{fault.kind}: {fault.text}")
    )
    return next(matches, None)
