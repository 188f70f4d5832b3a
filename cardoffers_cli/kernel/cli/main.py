"""The command line's front page: which commands there are, in a newcomer's order.

A command's module is imported when it is called, not before, so that `--help` and completion are
instant. To add one, add its line to `commands.txt`.
"""

import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.completion import shell_complete
from typer.main import get_command, get_group

from cardoffers_cli import __version__
from cardoffers_cli.kernel.cli import exits
from cardoffers_cli.kernel.cli.commands import Command, Group
from cardoffers_cli.kernel.words.errors import UsageError


@dataclass(frozen=True)
class Entry:
    """One command: where it is made, and its line on the front page."""

    section: str
    name: str
    target: str
    help: str


def _entries(table: str) -> Iterator[Entry]:
    section = ""
    for line in table.splitlines():
        if line.startswith("#"):
            continue
        if line.startswith(" "):
            yield Entry(section, *line.split(maxsplit=2))
        else:
            section = line


COMMANDS = tuple(_entries(Path(__file__).with_name("commands.txt").read_text("utf-8")))

REPLACED = {"certify": "validate FILE... --certificate FILE"}
"""Commands of the version before, and what is typed in their place."""


class LazyCommands(Mapping[str, Any]):
    """The commands by name, each made when it is asked for."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self._entries = {entry.name: entry for entry in entries}

    def __getitem__(self, name: str) -> Any:
        return load(self._entries[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def load(entry: Entry) -> Any:
    """Make a command of its module's function, or a group of its `typer.Typer`."""
    module, _, name = entry.target.partition(":")
    target = getattr(import_module(f"cardoffers_cli.{module}"), name)
    is_group = isinstance(target, typer.Typer)
    app = target if is_group else typer.Typer(add_completion=False)
    if not is_group:
        app.command()(target)
    app.rich_markup_mode = None  # plain help is quick
    app.info.cls = Group
    for registered in app.registered_commands:
        registered.cls = Command
    command = get_group(app) if is_group else get_command(app)
    command.name = entry.name
    return command


class FrontPage(Group):
    """The top of the command line, where errors end and commands are listed unloaded."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = LazyCommands(COMMANDS)  # type: ignore[assignment]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that was named; raise `UsageError` for one that was replaced."""
        if instead := REPLACED.get(args[0]):
            raise UsageError.from_table(
                "kernel/cli", "command_replaced", word=args[0], instead=instead
            )
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names of the commands, in the page's order."""
        return list(self.commands)

    def sections(self) -> dict[str, list[Entry]]:
        """Return the commands by section, in the page's order."""
        sections: dict[str, list[Entry]] = {}
        for entry in COMMANDS:
            sections.setdefault(entry.section, []).append(entry)
        return sections

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the commands by section."""
        for section, entries in self.sections().items():
            with formatter.section(section):
                formatter.write_dl([(entry.name, entry.help) for entry in entries])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: ARG002  Click's signature
        windows_expand_args: bool = True,  # noqa: ARG002
        **extra: Any,
    ) -> NoReturn:
        """Run a command line and end the process with its exit code."""
        words = list(sys.argv[1:] if args is None else args)
        name = prog_name or "cardoffers"

        def work() -> None:
            variable = complete_var or f"_{name}_COMPLETE".upper()
            if instruction := os.environ.get(variable):
                raise typer.Exit(shell_complete(self, extra, name, variable, instruction))
            with self.make_context(name, list(words), **extra) as ctx:
                self.invoke(ctx)

        raise SystemExit(exits.run(work, words))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Offer the commands' names from the page, without loading them."""
        loaded = self.commands
        self.commands = {
            entry.name: Command(entry.name, short_help=entry.help) for entry in COMMANDS
        }
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self.commands = loaded


_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="cardoffers", cls=FrontPage, rich_markup_mode=None, context_settings=_SETTINGS
)


def _version(wanted: bool) -> None:
    if wanted:
        from cardoffers_cli.kernel.cli.show import say

        say(__version__)
        raise typer.Exit


WIDTH = 80
"""Columns of the screen that `cardoffers` alone shows."""


@app.callback(invoke_without_command=True)
def front_page(
    ctx: typer.Context,
    version: Annotated[  # noqa: ARG001  its callback ends the command
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Show the version.")
    ] = False,
) -> None:
    """Run a card-linked-offers service as batch jobs on a DuckDB store.

    New here? `cardoffers demo` shows everything in ten seconds.
    """
    if ctx.invoked_subcommand is None:
        from cardoffers_cli.kernel.cli.context import CommandContext
        from cardoffers_cli.kernel.cli.show import say

        status = import_module("cardoffers_cli.night.status_commands")
        lines = status.store_in_short(CommandContext.of(ctx))
        store = "\n".join(line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines)
        screen = Path(__file__).with_name("screen.txt").read_text("utf-8").rstrip()
        say(screen.format(version=__version__, store=store))


_OBJECTS_AT_A_TIME = 100_000
"""After how many new objects to look for cycles among them: modules make tens of thousands, which
stay, and to look through them every 700 takes a command longer than to load some of them."""


def main() -> NoReturn:
    """Run the command line of this process and end it."""
    gc.set_threshold(_OBJECTS_AT_A_TIME)
    exits.unwind_on_signals()
    raise SystemExit(get_command(app).main(prog_name="cardoffers"))
