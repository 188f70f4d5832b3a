"""What a night says on a terminal: while it runs, on stderr, and of its end, on one screen.

While it runs there is one line for every step that ends: for a person, for a log, or for a machine.
On a terminal a bar shows how far the step is, with rate and remaining time; in a log a line says so
now and then. Where the screen is not shown, `ending_lines` are what a mail of cron needs to say:
which night, what became of it, every file that failed and every other finding, each with what to
type, and the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.cli import exits
from cardoffers_cli.kernel.cli.show import Block, Sheet, Text, columns_of
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.night.options import NightObserver

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from cardoffers_cli.kernel.cli.context import CommandContext
    from cardoffers_cli.kernel.cli.progress import Progress
    from cardoffers_cli.night.hooks import HookOutcome
    from cardoffers_cli.night.options import NightResult, StepReport
    from cardoffers_cli.night.questions import NightFinding


class NightLines(NightObserver):
    """For people: a bar or a line now and then, and a line for every step."""

    def __init__(self, context: CommandContext) -> None:
        self._desk = context
        self._step = ""
        self._shown = ExitStack()
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._shown.close()

    def begins(self, step: str, position: int, of: int) -> None:
        """Show the step that begins."""
        self._step = f"{position}/{of} {step}"
        self._bar = self._shown.enter_context(self._desk.progress(self._step))

    def moves(self, what: str, count: int, total: int | None) -> None:
        """Show how far the step is."""
        if self._bar:
            self._bar.describe(f"{self._step}: {what}")
            self._bar.update(count, total)

    def ends(self, step: StepReport) -> None:
        """Say what the step came to."""
        self._shown.close()
        findings = len(step.findings or ())
        suffix = f"; {counted(findings, 'finding')}" if findings else ""
        counts = ", ".join(in_words(step.counts))
        self._desk.note(
            f"{real_now():%H:%M:%S} {self._step}: {step.seconds:.1f} s; {counts or 'done'}{suffix}"
        )

    def is_stopping(self) -> bool:
        """Whether a signal came."""
        return exits.is_interrupted()

    def told(self, outcome: HookOutcome) -> None:
        """Say of a hook that it failed, also to those who want quiet."""
        if outcome.error:
            exits.tell("\n".join(failed_hook(outcome)), as_it_is=True)

    def warn(self, message: str) -> None:
        """Say what went wrong beside the run, also to those who want quiet."""
        exits.tell(f"warning: {message}", as_it_is=True)

    def ending(self, error: BaseException) -> tuple[int, str]:
        """Return what the command ends with."""
        ending = exits.ending_by(error)
        return ending.exit_code, ending.code


class JsonLines(NightLines):
    """For machines: one JSON object a line, when a step begins and when it ends."""

    def begins(self, step: str, position: int, of: int) -> None:
        """Say that a step begins."""
        self._say({"event": "step_begins", "step": step, "position": position, "of": of})

    def moves(self, what: str, count: int, total: int | None) -> None:
        """Keep silent: the steps tell enough."""

    def ends(self, step: StepReport) -> None:
        """Say what the step came to."""
        self._say({"event": "step_ends", "step": step.name, **step})

    def told(self, outcome: HookOutcome) -> None:
        """Say what came of a hook."""
        self._say({**outcome, "event": "hook", "hook": outcome.event})

    def warn(self, message: str) -> None:
        """Say what went wrong beside the run."""
        self._say({"event": "warning", "message": message})

    def over(self, result: NightResult) -> None:
        """Say what the night came to, and every finding."""
        names = ("run_id", "night", "status", "findings", "reports")
        self._say({"event": "night_ends", **{name: result[name] for name in names}})

    def _say(self, members: Mapping[str, Any]) -> None:
        exits.tell(dumps({"at": real_now(), **members}), as_it_is=True)


def failed_hook(outcome: HookOutcome) -> Iterator[str]:
    """Yield what to know of a hook that failed: who was not told, why, and what it said."""
    yield f"warning: The hook {outcome.event}, {outcome.to}, failed: {outcome.error}."
    yield from (f"    {line}" for line in (outcome.output or "").splitlines())
    yield "    -> cardoffers help watch"


_UNSAID = {"security_log_head", "after_run_no", "up_to_run_no"}
"""What a step tells of itself that says nothing to a reader of the log."""


def in_words(counts: Mapping[str, Any]) -> list[str]:
    """Return what was counted in words, zeros left out, amounts by currency.

    The first plural of a name is made singular where there is one: `files_on_time`, 1 file on time.
    """
    texts = []
    for name, value in counts.items():
        if name in _UNSAID:
            continue
        words = name.removeprefix("size_").replace("_", " ")
        if isinstance(value, Mapping):
            texts += [f"{amount:,} {code} {words}" for code, amount in value.items() if amount]
        elif isinstance(value, int) and value:
            texts.append(counted(value, re.sub(r"(?<![su])s\b", "", words, count=1), words))
        elif isinstance(value, str):
            texts.append(f"{words} {value}")
    return texts


PAGE = "index.html"
"""The page of a night, in the folder of its reports."""


def night_blocks(result: NightResult) -> Iterator[Block]:
    """Yield the screen of a night; formats of one sheet have the institutions."""
    from cardoffers_cli.night.questions import NightIntakeRow

    yield Sheet.of(
        NightIntakeRow, "came_in", result.institutions, title="What came in, and what it became"
    )
    yield Sheet(
        "money",
        columns_of(
            NightIntakeRow,
            "institution currency amount_accepted merchant_funded_amount commission_amount"
            " institution_payout_amount settled_institution_payout_amount",
        ),
        result.institutions,
        title="Money",
    )
    if result.findings:
        yield Text(list(findings_lines(result.findings)), title="Findings, most urgent first")
    yield Text(list(_said(result)))


def findings_lines(findings: Sequence[NightFinding]) -> Iterator[str]:
    """Yield findings, the most urgent first; each with what to do."""
    urgency = {"error": 0, "warning": 1, "note": 2}
    for finding in sorted(findings, key=lambda finding: urgency[finding.level]):
        yield f"{finding.level}: {finding.message}"
        if finding.next:
            yield f"    -> {finding.next}"


def ending_lines(result: NightResult) -> Iterator[str]:
    """Yield what became of a night, for somebody who sees nothing else of it."""
    failed = sum(file.status == "failed" for file in result.imports)
    urgent = sum(finding.level != "note" for finding in result.findings)
    counts = [counted(len(result.imports), "file")]
    counts += [f"{failed:,} of them failed"] if failed else []
    needs = "needs" if urgent == 1 else "need"
    counts += [f"{counted(urgent, 'finding')} {needs} attention"] if urgent else []
    status = result.status.replace("_", " ")
    dry = ", rehearsed (--dry-run)" if result.dry_run else ""
    which = f"Nightly run of {result.night}, run {result.run_id}"
    yield f"{which}: {status}{dry}; {', '.join(counts)}."
    yield from findings_lines(result.findings)
    if result.dry_run:
        yield from _hook_lines(result)
    if result.reports:
        yield f"Page: {result.reports}/{PAGE}"


def _hook_lines(result: NightResult) -> Iterator[str]:
    """Yield who would be told of the run."""
    for hook in result.hooks or ():
        yield f"Would be told {hook.event}: {hook.to}"


def _said(result: NightResult) -> Iterator[str]:
    when = format_minute(result.as_of)
    if result.status == "nothing_new":
        yield f"The nightly run of {result.night} has ended already, and there is nothing new."
    elif result.dry_run:
        yield f"The nightly run of {result.night} would come to this."
        yield "Nothing was written (--dry-run)."
        yield from _hook_lines(result)
    else:
        took = sum(step.seconds for step in result.steps)
        files = sum(file.status == "imported" for file in result.imports)
        yield f"The nightly run of {result.night}, as of {when}: {result.status}."
        steps = counted(len(result.steps), "step")
        yield f"{counted(files, 'file')} taken, {steps}, {took:.1f} s."
    if result.reports:
        yield f"Page: {result.reports}/{PAGE}"
    if result.security_log_head:
        yield f"Head of the security log: {result.security_log_head}"
