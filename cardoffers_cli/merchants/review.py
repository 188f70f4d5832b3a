"""`cardoffers merchant suggest --review`: one suggestion after the other, answered by keys.

Each answer is written as the command of its name writes it, before the next suggestion is shown, so
that whoever leaves, by Ctrl-C too, loses none. Keys pressed before a suggestion is shown are thrown
away: nobody accepts what nobody saw.
"""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol, Self

from cardoffers_cli.kernel.words.errors import CardoffersError, UsageError
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cardoffers_cli.kernel.cli.context import CommandContext
    from cardoffers_cli.kernel.store.clock import Clock
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.merchants.answers import AnsweredIdentifier
    from cardoffers_cli.merchants.suggestions import Suggestion

_LONGEST = 4096  # bytes of a line; no reason is as long
_LEAVES = {"q", "", "\x04"}


class Keyboard(Protocol):
    """Where answers come from."""

    def forget(self) -> None:
        """Throw away what was pressed so far."""

    def key(self) -> str:
        """Return the next key; empty where nobody is there any more."""

    def line(self) -> str:
        """Return the next line."""


class Terminal:
    """The keyboard of whoever reviews; in its block keys come one by one, and are not shown."""

    def __init__(self) -> None:
        self._number = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._number)

    def __enter__(self) -> Self:
        """Take keys one by one."""
        tty.setcbreak(self._number, termios.TCSADRAIN)
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the terminal as it was."""
        termios.tcsetattr(self._number, termios.TCSADRAIN, self._before)

    def forget(self) -> None:
        """Throw away what was pressed so far."""
        termios.tcflush(self._number, termios.TCIFLUSH)

    def key(self) -> str:
        """Return the next key; what comes as several letters is none of those asked for."""
        select.select([self._number], [], [])  # Ctrl-C ends this; polars lets a read go on
        return os.read(self._number, _LONGEST).decode(errors="replace")

    def line(self) -> str:
        """Return the next line, shown as it is typed."""
        self.__exit__()
        try:
            return self.key().strip()
        finally:
            self.__enter__()


def check(context: CommandContext) -> None:
    """Refuse a review that nobody could see, or answer."""
    if not (context.is_terminal and sys.stdin.isatty()):
        raise UsageError(
            "--review asks at a terminal, and here is none.",
            hint="`cardoffers merchant suggest -o review.csv` writes a list to fill in.",
        )


@dataclass
class Review:
    """One review, from a keyboard; `say` tells."""

    job: Job
    clock: Clock
    keyboard: Keyboard
    say: Callable[[str], None]
    told: list[AnsweredIdentifier] = field(default_factory=list)
    _reasons: dict[str, str] = field(default_factory=dict)

    def run(self, suggested: Sequence[Suggestion]) -> None:
        """Show each suggestion and take its answer, until there is none or somebody leaves."""
        groups: dict[tuple[str, str], list[Suggestion]] = {}
        for suggestion in suggested:
            key = suggestion.merchant_identifier_type, suggestion.merchant_identifier
            groups.setdefault(key, []).append(suggestion)  # one for each currency
        for place, (key, rows) in enumerate(groups.items(), start=1):
            if key in {(a.merchant_identifier_type, a.merchant_identifier) for a in self.told}:
                continue  # answered with its cluster
            self.keyboard.forget()
            self.say("\n".join(["", f"{place} of {len(groups)}", *evidence(rows)]))
            if not self._is_answered(rows[0]):
                return

    def _is_answered(self, row: Suggestion) -> bool:
        """Take keys until one settles a suggestion; return whether to go on."""
        cluster = f", c accept all {row.cluster}" if row.cluster > 1 else ""
        while True:
            self.say(f"a accept{cluster}, r refuse, n new merchant, s skip, w reasons, q leave:")
            pressed = self.keyboard.key()
            if pressed in _LEAVES:
                return False
            if pressed == "s":
                return True
            if pressed == "w":
                self._reasons.clear()
                self.say("The next answer asks for its reason.")
                continue
            try:
                results = self._answer(pressed, row)
            except CardoffersError as error:
                self.say(
                    f"Error: {error.message}" + (f"\nHint: {error.hint}" if error.hint else "")
                )
                continue
            if results:
                self.told += results
                self.say(f"{results[0].answer}: {_listed(results)}, {results[0].merchant_name}")
                return True

    def _answer(self, pressed: str, row: Suggestion) -> list[AnsweredIdentifier]:
        """Write what a key says of a suggestion; nothing where it says nothing."""
        job = replace(self.job, now=self.clock.now())
        if pressed == "n":
            return self._made(job, row)
        if pressed in {"a", "r"} or (pressed == "c" and row.cluster > 1):
            what = "refuse" if pressed == "r" else "accept"
            if not self._reasons.get(what):
                self._reasons[what] = self._asked(f"Why do you {what}? Kept with each (w: another)")
            reason = self._reasons[what]
            return self._said(job, row, pressed, reason) if reason else []
        return []

    def _made(self, job: Job, row: Suggestion) -> list[AnsweredIdentifier]:
        from cardoffers_cli.merchants.answers import make_merchant

        category = self._asked("What it sells, its category")
        if not category:
            return []
        name = self._asked(f"What cardholders call it [{row.merchant_descriptor}]") or None
        kind = row.merchant_identifier_type
        return [
            make_merchant(job, row.merchant_identifier, category, name=name, identifier_type=kind)
        ]

    def _said(
        self, job: Job, row: Suggestion, pressed: str, reason: str
    ) -> list[AnsweredIdentifier]:
        from cardoffers_cli.merchants.answers import accept, refuse

        words = (job, row.merchant_identifier, str(row.merchant_id), reason)
        kind = row.merchant_identifier_type
        if pressed == "r":
            return [refuse(*words, identifier_type=kind)]
        if pressed == "a":
            return accept(*words, identifier_type=kind)
        group = accept(*words, identifier_type=kind, is_cluster=True, dry_run=True)
        self.say(f"{_listed(group)}: accept all {len(group)}? y does:")
        is_sure = self.keyboard.key() == "y"
        return accept(*words, identifier_type=kind, is_cluster=True) if is_sure else []

    def _asked(self, question: str) -> str:
        self.say(f"{question}:")
        return self.keyboard.line()


def evidence(rows: Sequence[Suggestion]) -> Iterator[str]:
    """Tell what speaks for a suggestion, and what hangs on it; a row for each currency."""
    row = rows[0]
    yield _pair("identifier", f"{row.merchant_identifier} ({row.merchant_identifier_type})")
    yield _pair("is called", row.merchant_descriptor)
    yield _pair("may be", f"{row.merchant_name}, {row.category or 'no category'}")
    yield _pair("probability", f"{row.probability:.1%}")
    yield _pair(
        "names",
        f"known as {row.known_as}; spelling {row.spelling}, words in common {row.words_in_common},"
        f" rarest word {row.rarest_word}",
    )
    yield _pair(
        "number",
        f"{row.leading_characters} leading characters as the merchant's own,"
        f" {row.leading_characters_of_any} as anybody's",
    )
    for item in rows:
        first, last = (f"{moment:%Y-%m-%d}" for moment in (item.first_seen_at, item.last_seen_at))
        amount = money_text(item.amount, item.currency)
        cashback = money_text(item.cashback or Decimal(0), item.currency)
        yield _pair(
            "waiting", f"{counted(item.purchases, 'purchase')}, {amount}, {first} to {last}"
        )
        yield _pair("would pay", f"{cashback}, {counted(item.links, 'link')}")
    yield _pair(
        "cardholders", f"{row.cardholders}, {row.cardholders_in_common} of them bought there before"
    )
    yield _pair("category code", row.mcc or "none")


def _listed(answered: Sequence[AnsweredIdentifier]) -> str:
    return ", ".join(identifier.merchant_identifier for identifier in answered)


def _pair(name: str, value: str) -> str:
    return f"  {name:<14} {value}"
