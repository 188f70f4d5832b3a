"""One screen about a night: what came in, what it became, the money, and what needs attention.

Where that screen is not shown, `ending_lines` are what a mail of cron needs to say: which night,
what became of it, every file that failed and every other finding, each with what to type, and the
page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.cli.show import Block, Sheet, Text, columns_of
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cardoffers_cli.night.questions import NightFinding
    from cardoffers_cli.night.result import NightResult

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
