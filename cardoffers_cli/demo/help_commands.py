"""`cardoffers help`: what is not about one command: lists of the program, and the pages of `docs/`.

To add a page, write `docs/<name>.md` and give it a line in `docs/pages.txt`. What a finding's code
means, why it matters, and a bad and a mended line to look at stand in `kernel/words/findings.toml`.
The reference is written from the commands themselves; `.github/COMMANDS.md` is a copy, to be read
beside the code.
"""

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Annotated, Any

import typer

from cardoffers_cli.kernel.cli.commands import Format, everywhere_params, help_of
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.exits import EXIT_CODES
from cardoffers_cli.kernel.cli.options import argument
from cardoffers_cli.kernel.cli.show import Column, Sheet, Text
from cardoffers_cli.kernel.words import findings
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.nearest import did_you_mean, nearest
from cardoffers_cli.payouts.bank_codes import REASONS

_DOCS = files("cardoffers_cli").joinpath("docs")
PAGES = dict(
    line.split(maxsplit=1) for line in _DOCS.joinpath("pages.txt").read_text("utf-8").splitlines()
)
"""The pages of `docs/`, which are read beside the code too, and what each is about."""

LISTS = {
    "exit-codes": "How a command ends, and what to do then.",
    "commands": "Every command with its options and examples, as one page.",
    "findings": "What can be wrong with a file, a row or a payment, and how to fix it.",
}

MEANING = ("code", "level", "summary", "fix", "why")
EXAMPLE = (Column("part"), Column("line"))


def _topics() -> list[str]:
    """Offer the topics to a shell."""
    return [*LISTS, *PAGES]


def _codes(ctx: typer.Context) -> list[str]:
    """Offer the codes of findings to a shell, behind the topic that explains them."""
    return [*KNOWN, *REASONS] if ctx.params.get("name") == "findings" else []


def topic(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="TOPIC", help=", ".join(_topics()), autocompletion=_topics),
    ] = None,
    code: Annotated[
        str | None, argument("CODE", "One finding's code.", autocompletion=_codes)
    ] = None,
) -> None:
    """Show a page: the rules, a tour, formats, files, operations; or explain a code."""
    context = CommandContext.of(ctx)
    front_page: Any = ctx.find_root().command
    if name in PAGES:
        _show_text(context, name, page_text(name))
    elif name == "commands":
        _show_text(context, name, reference(front_page))
    elif name == "findings" and code:
        _show_finding(context, code)
    elif name == "findings":
        texts = ("code", "level", "summary", "fix")
        every = (*KNOWN.values(), *REASONS.values())
        _show(context, "findings", [{of: getattr(row, of) for of in texts} for row in every], texts)
    elif name == "exit-codes":
        rows = [{"code": row.code, "meaning": row.meaning, "fix": row.advice} for row in EXIT_CODES]
        _show(context, "exit-codes", rows, ("code", "meaning", "fix"))
    elif name is None:
        rows = [{"topic": topic, "about": about} for topic, about in {**LISTS, **PAGES}.items()]
        _show(context, "topics", rows, ("topic", "about"))
    else:
        raise _no_topic(name, is_command=name in front_page.list_commands(ctx))


def _show_text(context: CommandContext, name: str, text: str) -> None:
    """Show a page to read: as Markdown where no other form is asked for."""
    if context.options.format is None and context.output is None:
        context.page(text)
    elif context.format is Format.md:
        context.write(text.encode())
    elif context.format in {Format.table, Format.html}:
        context.show(text, Text(text.splitlines()))
    else:
        row = {"topic": name, "text": text}
        context.show(row, Sheet(name, (Column("topic"), Column("text")), [row]))


def _no_topic(name: str, *, is_command: bool) -> NotFound:
    hint = f"`cardoffers {name} --help` explains the command." if is_command else None
    return NotFound(
        f"There is no topic {name!r}.",
        code="topic_unknown",
        hint=hint
        or did_you_mean(nearest(name, _topics()))
        or f"The topics are {', '.join(_topics())}. For a command: --help.",
    )


def page_text(name: str) -> str:
    """Return a page's Markdown; to that of files, the columns of catalogue files are added."""
    text = _DOCS.joinpath(f"{name}.md").read_text("utf-8")
    return "\n".join([text.rstrip(), "", *_catalogue_files()]) if name == "files" else text


def _catalogue_files() -> Iterator[str]:
    """Yield the columns of every kind of catalogue file."""
    from cardoffers_cli.catalogue.files import KINDS

    for kind in KINDS.values():
        yield f"## `{kind.name}`\n"
        yield "| column | needed | holds |\n|---|---|---|"
        for column in kind.columns:
            default = f"no; else {column.default}" if column.default else "no"
            needed = default if column.optional else "yes"
            meaning = column.form.says.replace("|", r"\|")
            yield f"| `{column.name}` | {needed} | {meaning} |"
        yield ""


def _show(
    context: CommandContext, name: str, rows: list[dict[str, object]], columns: tuple[str, ...]
) -> None:
    context.show(rows, Sheet(name, tuple(map(Column, columns)), rows))


def _show_finding(context: CommandContext, code: str) -> None:
    finding = KNOWN.get(code) or REASONS.get(code)
    if finding is None:
        raise NotFound(
            f"There is no finding {code!r}.",
            code="finding_unknown",
            hint=did_you_mean(nearest(code, [*KNOWN, *REASONS]))
            or "`cardoffers help findings` lists them.",
        )
    example = finding.example
    document = {
        "code": finding.code,
        "level": finding.level,
        "summary": finding.summary,
        "fix": finding.fix,
        "why": finding.why,
        "header": example.header or None if example else None,
        "bad": example.bad if example else None,
        "mended": example.mended if example else None,
    }
    blocks = [Sheet("findings", tuple(map(Column, MEANING)), [document])]
    if finding.example:
        blocks.append(
            Sheet(
                "example",
                EXAMPLE,
                [
                    {"part": part, "line": line}
                    for part in ("header", "bad", "mended")
                    for line in (document[part] or "").splitlines()
                ],
                title="Example",
            )
        )
    context.show([document], *blocks)


KNOWN = {
    **findings.CATALOGUE_CODES,
    **findings.CODES,
    **findings.FILE_CODES,
    **findings.DROP_CODES,
    **findings.PICKUP_CODES,
    **findings.BANK_CODES,
}
"""Every code there is; one that rows and catalogues share is explained for rows.

Beside them are the codes that banks give for payments (`payouts/bank_codes.py`).
"""


_TITLE = """# Commands

Written by `cardoffers help commands` from the commands themselves.
"""
_ESCAPED = re.compile(r"([|<>*\[\]])")


def reference(page: Any) -> str:
    """Return the page of a command line, as its front page assembles it.

    It has each command by section, with its usage, arguments, options and examples.
    """
    root = page.context_class(page, info_name="cardoffers")
    parts = [_TITLE, *_table("Options of every command", everywhere_params(), root)]
    for section, entries in page.sections().items():
        parts.append(f"## {section}\n")
        for entry in entries:
            parts.extend(_command(page.get_command(root, entry.name), entry.name, root))
    return "\n".join(parts).rstrip() + "\n"


def _command(command: Any, name: str, parent: Any) -> Iterator[str]:
    ctx = command.context_class(command, info_name=name, parent=parent)
    yield f"### {ctx.command_path}\n"
    yield f"```text\n{' '.join([ctx.command_path, *command.collect_usage_pieces(ctx)])}\n```\n"
    # An indented paragraph, the examples, is code.
    for paragraph in help_of(ctx).partition("\f")[0].strip().split("\n\n"):
        lines = paragraph.split("\n")
        if paragraph.startswith("  "):
            yield "\n".join(["```sh", *(line.strip() for line in lines), "```\n"])
        elif paragraph.strip():
            yield f"{paragraph.strip()}\n"
    own = [param for param in command.get_params(ctx) if param not in everywhere_params()]
    yield from _table("Arguments", [param for param in own if _is_argument(param)], ctx)
    yield from _table("Options", [param for param in own if not _is_argument(param)], ctx)
    for child in getattr(command, "commands", ()):
        yield from _command(command.get_command(ctx, child), child, ctx)


def _table(title: str, params: list[Any], ctx: Any) -> Iterator[str]:
    records = [record for param in params if (record := param.get_help_record(ctx))]
    records = [(name, text) for name, text in records if name != "--help"]
    if records:
        yield f"| {title} | |\n|---|---|"
        yield from (f"| `{_cell(name)}` | {_escaped(text)} |" for name, text in records)
        yield ""


def _is_argument(param: Any) -> bool:
    return bool(param.param_type_name == "argument")


def _cell(name: str) -> str:
    return " ".join(name.split()).replace("|", r"\|")


def _escaped(text: str) -> str:
    return _ESCAPED.sub(r"\\\1", " ".join(text.split()))
