"""The options that every command has, and the commands and groups that take them.

`everywhere` declares them once; `Command` and `Group` add them to each command, so that they work
before its name and after it. What was given lands in `Options`, as `ctx.obj`; flags that were not
given stay None here, and `kernel/store/settings.py` looks on in the environment and the file.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from cardoffers_cli.kernel.words.cards import holds_card_number
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.moments import parse_moment, zone_name


class Format(StrEnum):
    """The forms in which data can be shown."""

    table = "table"
    tsv = "tsv"
    csv = "csv"
    json = "json"
    jsonl = "jsonl"
    md = "md"
    html = "html"
    parquet = "parquet"
    xlsx = "xlsx"


@dataclass
class Options:
    """What the command line said, before the command or after it."""

    store: Path | None = None
    config: Path | None = None
    as_of: datetime | None = None
    lock_wait: int | None = None
    engine: str | None = None
    format: Format | None = None
    output: Path | None = None
    quiet: bool = False
    no_color: bool = False
    debug: bool = False


def zone(value: str | None) -> str | None:
    """Check that an option names a time zone."""
    try:
        return value and zone_name(value)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def own_output(ctx: typer.Context) -> Path | None:
    """Take -o for a file that the command itself writes, whatever its suffix."""
    options = ctx.ensure_object(Options)
    output, options.output = options.output, None
    return None if output == Path("-") else output


def needed_output(ctx: typer.Context, name: str, hint: str = "Name the file to write.") -> Path:
    """Take -o as `own_output` does; raise `UsageError` without it."""
    if (output := own_output(ctx)) is None:
        raise UsageError(f"-o {name} is missing.", hint=hint)
    return output


def declared(command: Callable[..., None], **typed: tuple[Any, Any]) -> Callable[..., None]:
    """Give a command its parameters, where a table has them: each as it is typed, and default."""
    command.__annotations__ = {word: kind for word, (kind, _) in typed.items()}
    command.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter(word, Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for word, (kind, default) in typed.items()
        ]
    )
    return command


def moment(value: str | None) -> datetime | None:
    """Read an option's moment, as a naive datetime in UTC."""
    try:
        return parse_moment(value) if value else None
    except ValueError:
        raise typer.BadParameter(
            f"{value!r} is not a time; write 2026-03-01 or 2026-03-01T06:00:00Z"
        ) from None


def everywhere(
    *,
    store: Annotated[
        Path | None, typer.Option(help="The store [CARDOFFERS_STORE, else ./cardoffers.duckdb].")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="Configuration, TOML [CARDOFFERS_CONFIG].")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option(metavar="TIME", callback=moment, help="The clock, if not now.")
    ] = None,
    lock_wait: Annotated[
        int | None,
        typer.Option(min=0, metavar="SECONDS", help="How long to wait for a busy store [60]."),
    ] = None,
    format: Annotated[  # noqa: A002  the flag's name
        Format | None,
        typer.Option(
            metavar="FORMAT", help=f"One of {', '.join(Format)} [table on a terminal, else tsv]."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to a file; its suffix is a format.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes, no progress.")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours [NO_COLOR].")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Say where an unexpected error was.")
    ] = False,
) -> None:
    """Declare the options of every command."""


def _value(param: Any, ctx: Any, value: Any, checked: Callable[[Any, Any], Any]) -> Any:
    """Return what a command gets for a value; `checked` is Typer's way, which loads pydantic.

    What is not given, texts, names of a choice, paths that can be read, and defaults are taken as
    they are.
    """
    kind, about = param.type_descriptor.annotation, param.type_descriptor.parameter_info
    plain_path = about.file_okay and about.dir_okay and not (about.writable or about.resolve_path)
    if about.parser or (param.required and not value):
        return checked(ctx, value)
    if value is None and not (param.multiple or param.nargs == -1):
        parsed: Any = None
    elif kind is str and isinstance(value, str):
        parsed = value
    elif kind == list[str] and isinstance(value, (list, tuple)):
        parsed = [*value]
    elif kind is Path and plain_path and os.access(value, os.R_OK):
        parsed = Path(value)
    elif isinstance(value, str) and value in getattr(kind, "__members__", ()):
        parsed = kind[value]
    elif value == param.default if type(value) is kind else value in get_args(kind):
        parsed = value
    else:
        return checked(ctx, value)
    return param.callback(ctx, param, parsed) if param.callback else parsed


class _Argument(TyperArgument):
    """An argument."""

    def process_value(self, ctx: Any, value: Any) -> Any:
        """Return what the command gets."""
        return _value(self, ctx, value, super().process_value)


class _Several(TyperOption):
    """An option that may be given several times."""

    def process_value(self, ctx: Any, value: Any) -> Any:
        """Return what the command gets."""
        return _value(self, ctx, value, super().process_value)


class _Single(_Several):
    """An option that is not a list: it may be given twice only with the same value."""

    def add_to_parser(self, parser: Any, ctx: Any) -> None:
        """Let the parser collect every value that is given."""
        collecting: Any = _Collecting(parser)
        super().add_to_parser(collecting, ctx)

    def handle_parse_result(self, ctx: Any, opts: Any, args: list[str]) -> Any:
        """Take the value that was given; raise `UsageError` for two that differ."""
        values = opts.get(self.name)
        if values is None:
            return super().handle_parse_result(ctx, opts, args)
        if any(value != values[0] for value in values) and not ctx.resilient_parsing:
            raise _given_twice(self.opts[0], *self.secondary_opts[:1])
        if self.name == "reason" and any(map(holds_card_number, values)):
            hint = "Leave the number out: reasons are kept, and told to others."
            raise UsageError("--reason holds a card number.", code="card_number", hint=hint)
        return super().handle_parse_result(ctx, {**opts, self.name: values[-1]}, args)


class _Collecting:
    """A parser to which options are added: of each it keeps all values, in place of the last."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser

    def add_option(self, *, action: str, **more: Any) -> None:
        """Add an option that collects its values."""
        collected = {"store": "append", "store_const": "append_const"}
        self._parser.add_option(action=collected[action], **more)


class _Shared(_Single):
    """An option of every command: it keeps what was given in `Options`.

    One that was not given is not looked at, because Typer would import pydantic for it.
    """

    def process_value(self, ctx: Any, value: Any) -> None:
        """Keep the value; raise `UsageError` for another one than before the command's name."""
        if value is None or value is False:
            return
        options, parsed = ctx.ensure_object(Options), super().process_value(ctx, value)
        before = getattr(options, self.name)
        if before not in {None, False, parsed} and not ctx.resilient_parsing:
            raise _given_twice(self.opts[0])
        setattr(options, self.name, parsed)


@cache
def everywhere_params() -> list[Any]:
    """Return the parameters that `everywhere` declares, made once."""
    declaration = typer.Typer(add_completion=False)
    declaration.command()(everywhere)
    params: list[Any] = get_command(declaration).params
    for param in params:
        param.expose_value = False
        param.__class__ = _Shared  # Typer makes every option a TyperOption
    return params


def _given_twice(name: str, opposite: str | None = None) -> UsageError:
    if opposite:
        return _exclude(name, opposite)
    return UsageError(f"{name} is given twice, with different values.", hint="Leave one out.")


def _exclude(name: str, other: str) -> UsageError:
    return UsageError(f"{name} and {other} exclude each other.", hint="Leave one out.")


class _Everywhere:
    """Adds the options of every command, and gives them a section of their own in the help.

    Options that contradict each other are refused here, for all commands.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's own parameters, then those of every command."""
        own: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in own:
            if getattr(param, "is_flag", False) and param.default is None:
                param.default = False  # for None, Typer would import pydantic
            if type(param) is TyperArgument:
                param.__class__ = _Argument
            if type(param) is TyperOption:
                param.__class__ = _Several if param.multiple or param.count else _Single
        return [*own, *everywhere_params()]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse, with a place where the options of every command are kept."""
        options = ctx.ensure_object(Options)
        remaining: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        if options.quiet and options.debug:
            raise _exclude("--quiet", "--debug")
        for name, value in ctx.params.items():
            if value and ctx.params.get(f"no_{name}"):
                raise _exclude(f"--{name}", f"--no-{name}")
        return remaining

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections of the help, the options of every command last."""
        shared = everywhere_params()
        own = [param for param in self.get_params(ctx) if param not in shared]
        sections = {
            "Arguments": [param for param in own if param.param_type_name == "argument"],
            "Options": [param for param in own if param.param_type_name == "option"],
        }
        for title, params in sections.items():
            _write_section(ctx, formatter, title, params)
        if isinstance(self, TyperGroup):
            self.format_commands(ctx, formatter)
        _write_section(ctx, formatter, "Everywhere", shared)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write what it is about; indented paragraphs (examples) keep their lines."""
        parts = help_of(ctx).partition("\f")[0].strip().split("\n\n")
        text = "\n\n".join(f"\b\n{part}" if part.startswith("  ") else part for part in parts)
        if text:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(text)


def help_of(ctx: Any) -> str:
    """Return what is said of a command: its docstring, then what `help.md` has under its name."""
    names, above = [ctx.info_name], ctx.parent
    while above and above.parent:
        names, above = [above.info_name, *names], above.parent
    return "\n\n".join([ctx.command.help or "", help_pages().get(" ".join(names), "")]).strip()


@cache
def help_pages() -> dict[str, str]:
    """Return what `help.md` says of each command, by its name."""
    text = Path(__file__).with_name("help.md").read_text("utf-8")
    parts = (part.partition("\n") for part in f"\n{text}".split("\n# ")[1:])
    return {name: page.strip() for name, _, page in parts}


def _write_section(ctx: Any, formatter: Any, title: str, params: list[Any]) -> None:
    records = [record for param in params if (record := param.get_help_record(ctx))]
    if records:
        with formatter.section(title):
            formatter.write_dl(records)


class Command(_Everywhere, TyperCommand):
    """A command with the options of every command."""


class Group(_Everywhere, TyperGroup):
    """A group of commands with the options of every command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse; nothing at all means looking around, but where the group does work of its own."""
        looks_around = not (args or ctx.resilient_parsing or self.invoke_without_command)
        return super().parse_args(ctx, ["--help"] if looks_around else args)


def group(about: str) -> typer.Typer:
    """Make a group of commands, to which its module adds them.

    One that does work of its own has that as its callback, `invoke_without_command`.
    """
    return typer.Typer(help=about, no_args_is_help=True, rich_markup_mode=None)
