"""The command line's front page: which commands there are, in a newcomer's order.

A command's module is imported when it is called, not before, so that `--help` and completion are
instant. To add one, add its line to `COMMANDS`; `module:name` is a function, or a `typer.Typer` for
a group.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
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


COMMANDS = (
    Entry("Begin", "demo", "demo.commands:demo", "See the whole service run on sample data."),
    Entry("Begin", "init", "storage.commands:init", "Make a store."),
    Entry(
        "Begin",
        "status",
        "night.status_commands:status",
        "Show the state of everything on one screen.",
    ),
    Entry("Begin", "sample", "sample.commands:sample", "Write realistic sample data of any size."),
    Entry(
        "Catalogue",
        "catalog",
        "catalogue.commands:app",
        "Institutions, merchants, offers, links: in, out.",
    ),
    Entry(
        "Catalogue",
        "institution",
        "institutions.commands:app",
        "List, show, add and set institutions.",
    ),
    Entry("Catalogue", "merchant", "merchants.commands:app", "List, add and identify merchants."),
    Entry(
        "Offers", "offer", "offers.commands:app", "What cardholders are shown, and what they add."
    ),
    Entry(
        "From file to money",
        "validate",
        "river.checking_commands:validate",
        "Check files; no store needed.",
    ),
    Entry(
        "From file to money",
        "schema",
        "intake.layout_commands:schema",
        "What a file has to look like.",
    ),
    Entry(
        "From file to money",
        "profile",
        "intake.layout_commands:app",
        "Read files in a layout of their own.",
    ),
    Entry(
        "From file to money",
        "pack",
        "intake.layout_commands:pack_app",
        "The check of files as one page, to hand on.",
    ),
    Entry("From file to money", "import", "river.commands:import_", "Take transaction files in."),
    Entry(
        "From file to money",
        "file",
        "night.commands:files_app",
        "Files that were taken, or are held.",
    ),
    Entry(
        "From file to money",
        "simulate",
        "river.commands:simulate",
        "Match without writing anything.",
    ),
    Entry("From file to money", "match", "river.commands:match", "Match purchases to offers."),
    Entry(
        "From file to money",
        "refund",
        "refunds.commands:app",
        "What came back, and what it takes back.",
    ),
    Entry("From file to money", "settle", "river.commands:settle", "Settle what is due."),
    Entry(
        "From file to money",
        "pickup",
        "pickup.commands:pickup",
        "Fetch files into the drop folder.",
    ),
    Entry(
        "From file to money", "nightly", "night.commands:nightly", "All of it, in one run a day."
    ),
    Entry(
        "From file to money", "webhook", "events.commands:app", "Tell institutions of redemptions."
    ),
    Entry("From file to money", "redemption", "river.commands:app", "Show one, or reverse it."),
    Entry("Closing a month", "credit", "credits.commands:app", "What was credited to cardholders."),
    Entry(
        "Closing a month",
        "reconcile",
        "credits.reconcile_commands:app",
        "Credited, against redeemed.",
    ),
    Entry(
        "Closing a month",
        "statement",
        "documents.commands:app",
        "What is owed for a month, closed.",
    ),
    Entry("Closing a month", "payout", "payouts.commands:app", "Pay what statements say."),
    Entry("Closing a month", "bank", "payouts.bank_commands:app", "What the bank says of payouts."),
    Entry(
        "Closing a month",
        "invoice",
        "documents.commands:invoices",
        "What merchants are asked for a month.",
    ),
    Entry(
        "Closing a month", "approve", "approvals.commands:app", "What waits for a second person."
    ),
    Entry("Answers", "why", "answers.commands:why", "Why a purchase did, or did not, redeem."),
    Entry(
        "Answers", "timeline", "answers.commands:timeline", "Everything that happened, from any id."
    ),
    Entry(
        "Answers",
        "find",
        "answers.find_commands:find",
        "Purchases, rejects, duplicates, by what is known.",
    ),
    Entry(
        "Answers",
        "browse",
        "answers.find_commands:browse",
        "All of it on one screen: search, look, answer.",
    ),
    Entry(
        "Answers", "watch", "watch.commands:app", "What came in strangely, and what you say of it."
    ),
    Entry(
        "Answers", "arrivals", "arrivals.commands:arrivals", "Which expected files came, and when."
    ),
    Entry(
        "Answers",
        "report",
        "reports.commands:app",
        "Redemptions, settlements, offers, merchants, more.",
    ),
    Entry("Institutions", "key", "keys.commands:app", "API keys: make, rotate, revoke, check."),
    Entry(
        "Institutions", "inbox", "events.commands:inbox_app", "What an institution's team was told."
    ),
    Entry("Institutions", "api", "http.commands:api", "Call the HTTP contract without a server."),
    Entry("Institutions", "serve", "http.commands:serve", "Answer the HTTP contract on a port."),
    Entry(
        "Upkeep", "privacy", "privacy.commands:app", "What is kept of a cardholder, and its end."
    ),
    Entry(
        "Upkeep",
        "retention",
        "privacy.commands:retention_app",
        "How long things are kept, and their end.",
    ),
    Entry(
        "Upkeep",
        "audit",
        "keys.audit_commands:app",
        "The security log, and the proof that it is whole.",
    ),
    Entry(
        "Upkeep",
        "run",
        "night.commands:app",
        "The nightly runs that were, and going on with one.",
    ),
    Entry(
        "Upkeep",
        "doctor",
        "storage.commands:doctor",
        "Audit the store: what must not be in it.",
    ),
    Entry("Upkeep", "store", "storage.commands:app", "Look at, migrate and publish the store."),
    Entry(
        "Upkeep",
        "help",
        "kernel.cli.help_topics:topic",
        "Rules, a tour, files, findings, exit codes.",
    ),
)

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
            raise UsageError(
                f"`{args[0]}` was replaced.",
                code="command_replaced",
                hint=f"Type `cardoffers {instead}`.",
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


@app.callback()
def front_page(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Show the version.")
    ] = False,
) -> None:
    """Run a card-linked-offers service as batch jobs on a DuckDB store.

    New here? `cardoffers demo` shows everything in ten seconds.
    """


def main() -> NoReturn:
    """Run the command line of this process and end it."""
    exits.unwind_on_signals()
    raise SystemExit(get_command(app).main(prog_name="cardoffers"))
