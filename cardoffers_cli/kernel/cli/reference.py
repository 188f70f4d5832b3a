"""Every command as one Markdown page, written from the commands themselves.

`cardoffers help commands` prints it; `.github/COMMANDS.md` is a copy, to be read beside the code.
"""

import re
from collections.abc import Iterator
from typing import Any

from cardoffers_cli.kernel.cli.commands import everywhere_params, help_of

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
    yield from _prose(help_of(ctx))
    own = [param for param in command.get_params(ctx) if param not in everywhere_params()]
    yield from _table("Arguments", [param for param in own if _is_argument(param)], ctx)
    yield from _table("Options", [param for param in own if not _is_argument(param)], ctx)
    for child in getattr(command, "commands", ()):
        yield from _command(command.get_command(ctx, child), child, ctx)


def _prose(text: str) -> Iterator[str]:
    """Yield a docstring's paragraphs; an indented one, the examples, as code."""
    for paragraph in text.partition("\f")[0].strip().split("\n\n"):
        lines = paragraph.split("\n")
        if paragraph.startswith("  "):
            yield "\n".join(["```sh", *(line.strip() for line in lines), "```\n"])
        elif paragraph.strip():
            yield f"{paragraph.strip()}\n"


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
