"""`cardoffers pickup`: fetch files from where institutions put them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardoffers_cli.kernel.cli import exits
from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import AnyInstitution, DryRun, argument
from cardoffers_cli.kernel.cli.show import Block, Sheet, Text
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from cardoffers_cli.pickup.questions import PickupResult


def pickup(
    ctx: typer.Context,
    drop: Annotated[
        Path | None,
        argument("DROP_DIR", "Where to put them [the drop folder of the last nightly run]."),
    ] = None,
    *,
    institution: AnyInstitution = None,
    dry_run: DryRun = False,
) -> None:
    """Fetch files from the places of [pickup.INST] into the drop folder, each once."""
    from cardoffers_cli.pickup.work import needs_attention, pick_up

    context = CommandContext.of(ctx)
    wait_s = context.options.lock_wait or 0
    with context.progress("Fetching files"):
        result = pick_up(context.job, drop, institution, wait_s=wait_s, dry_run=dry_run)
    exit_code = WITH_FINDINGS if needs_attention(result.findings) else 0
    if not (context.is_terminal and context.format is Format.table):
        for row in result.findings:
            exits.tell(f"{row.message}\n    -> {row.next}" if row.next else row.message)
    context.show(result, *_shown(result), exit_code=exit_code, why="")


def _shown(result: "PickupResult") -> Iterator[Block]:
    from cardoffers_cli.pickup.questions import PickupFinding, PickupRow

    yield Sheet.of(PickupRow, "files", result.files)
    if result.findings:
        yield Sheet.of(PickupFinding, "findings", result.findings, title="What to know")
    if result.dry_run:
        new = sum(file.state == "new" for file in result.files)
        yield Text([f"{counted(new, 'file')} would be fetched. Nothing was written (--dry-run)."])
    else:
        lines = [f"{counted(result.fetched, 'file')} fetched into {result.drop}."]
        if result.fetched:
            lines.append(f"    -> cardoffers nightly {result.drop}")
        yield Text(lines)
