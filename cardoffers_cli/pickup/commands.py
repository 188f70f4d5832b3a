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
    from cardoffers_cli.pickup.result import PickupResult


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
        told = pick_up(context.job, drop, institution, wait_s=wait_s, dry_run=dry_run)
    exit_code = WITH_FINDINGS if needs_attention(told.findings) else 0
    if not (context.is_terminal and context.format is Format.table):
        for found in told.findings:
            exits.tell(f"{found.message}\n    -> {found.next}" if found.next else found.message)
    context.show(told, *_shown(told), exit_code=exit_code, why="")


def _shown(told: "PickupResult") -> Iterator[Block]:
    from cardoffers_cli.pickup.result import PickupFinding, PickupRow

    yield Sheet.of(PickupRow, "files", told.files)
    if told.findings:
        yield Sheet.of(PickupFinding, "findings", told.findings, title="What to know")
    if told.dry_run:
        new = sum(file.state == "new" for file in told.files)
        yield Text([f"{counted(new, 'file')} would be fetched. Nothing was written (--dry-run)."])
    else:
        lines = [f"{counted(told.fetched, 'file')} fetched into {told.drop}."]
        if told.fetched:
            lines.append(f"    -> cardoffers nightly {told.drop}")
        yield Text(lines)
