"""Every command that the program tells somebody to type exists, with the options it is told with.

What is read: each text of the program that is no docstring, the help pages, the explanations of
findings and the docs. What stands in backticks from `cardoffers` on is a command, and so is what
follows a bare `cardoffers` up to the end of the clause. One that is only named (`cardoffers watch
accept`) has to exist; one with words behind it has to be one that the command line takes.
"""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import pytest
from typer.main import get_command

from cardoffers_cli.kernel.cli.commands import everywhere_params
from cardoffers_cli.kernel.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "cardoffers_cli"
MODULES = sorted(PACKAGE.rglob("*.py"))
PAGES = [
    *sorted((PACKAGE / "docs").iterdir()),
    *(PACKAGE / "kernel" / "cli" / name for name in ("help.md", "exits.txt")),
    PACKAGE / "demo" / "story.toml",
    PACKAGE / "kernel" / "words" / "languages" / "en.toml",
    ROOT / "README.md",
]
GAP = "\0"
"""Stands for what is known when the text is said: an id, a path, the name of an institution."""

TYPED = re.compile(r"`(?:\$ )?(?:[^`\s]*/)?cardoffers ([^`]*)`")
BARE = re.compile(r"(?<![\w`.-])cardoffers (?=[a-z-])([^`;\n]*)")
FENCE = re.compile(r"^```.*?^```$|^ {4}.*?$", re.MULTILINE | re.DOTALL)
ENDS = re.compile(r"[,:;)]$|^[(#|<>&]|^\d?>")
"""A word of the sentence or of the shell around a command: it ends there."""

OF_THE_PROGRAM = {"--help", "--version", "--install-completion", "--show-completion"}
KINDS_OF_FILES = {"certificate 2", "backup 1", "backup 2", "secrets 1", "erasures 1", "backup"}
SENTENCES = {"store.", "that wrote it.", 'begins"', "failed\" ops@cards.example'"}
"""What follows the name of the program where no command is named."""


TEXTS = (ast.Constant, ast.JoinedStr, ast.BinOp)


def text_of(node: ast.AST) -> str:
    """Return what a literal says, with a gap for each value in it."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(text_of, parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return text_of(left) + text_of(right)
    return GAP


def texts(module: str) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module that are no docstrings, each whole, with their lines."""
    tree = ast.parse(module)
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(node.value)
        if isinstance(node, TEXTS) and node not in inside and text_of(node).strip(GAP):
            inside.update(ast.walk(node))
            yield node.lineno, text_of(node)


def commands_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the commands that a file names, without the word `cardoffers`, with their lines."""
    text = path.read_text()
    if "cardoffers " not in text:
        return
    if path.suffix == ".py":
        for line, each in texts(text):
            yield from ((line, named) for named in commands_in(each))
        return
    shown = FENCE.findall(text) if path.suffix == ".md" else [text]
    yield from ((0, named) for named in TYPED.findall(FENCE.sub("", text)))
    for each in shown:
        yield from ((0, named) for named in commands_in(re.sub(r"\\\n\s*", " ", each)))


def commands_in(text: str) -> Iterator[str]:
    """Yield the commands that a text names, in backticks and without."""
    yield from TYPED.findall(text)
    yield from BARE.findall(TYPED.sub(" ", text))


@dataclass(frozen=True)
class Known:
    """A command or a group: what it is called, and what it takes."""

    name: str
    command: Any

    @property
    def flags(self) -> dict[str, Any]:
        """Return its options, and those of every command, by what is typed."""
        params = [*self.command.params, *everywhere_params()]
        return {flag: each for each in params for flag in (*each.opts, *each.secondary_opts)}

    @property
    def required(self) -> Iterator[str]:
        """Yield the options that have to be there."""
        options = (each for each in self.command.params if each not in self.places)
        return (each.opts[0] for each in options if each.required)

    @property
    def places(self) -> list[Any]:
        return [each for each in self.command.params if each.param_type_name == "argument"]


@cache
def program() -> Any:
    return get_command(app)


def known(words: list[str]) -> tuple[Known | None, list[str]]:
    """Return the command that the first words name, and the words behind it."""
    command, path = program(), []
    while words and hasattr(command, "commands") and words[0] in command.commands:
        command = command.commands[words[0]]
        path.append(words[0])
        words = words[1:]
    return (Known(" ".join(path), command) if path else None), words


def words_of(line: str) -> list[str]:
    """Split a command into words, up to where the sentence around it goes on."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # an apostrophe or a quotation mark of the sentence behind it
        words = line.split()
    for number, word in enumerate(words):
        if ENDS.search(word):
            return [*words[:number], *([word.rstrip(",:;)")] if word[0] not in "([#|<>&" else [])]
    return [
        word.rstrip(".") if number + 1 == len(words) else word for number, word in enumerate(words)
    ]


def wrong_with(line: str) -> str | None:
    """Say what is wrong with a command, None if nothing is."""
    words = words_of(line)
    if line in KINDS_OF_FILES | SENTENCES or GAP in words[0] or words[0] in OF_THE_PROGRAM:
        return None
    found, rest = known(words)
    if found is None:
        return "there is no such command"
    if not rest or rest[0] == GAP or "--help" in rest:
        return None
    if hasattr(found.command, "commands") and not found.command.invoke_without_command:
        return f"{found.name} has no {rest[0]}"
    return wrong_words(found, rest)


def wrong_words(found: Known, rest: list[str]) -> str | None:
    """Say what is wrong with the words behind a command."""
    given, words, missing = 0, iter(rest), {*found.required}
    for word in words:
        flag, _, value = word.partition("=")
        if not flag.startswith("-") or flag == "-":
            given += word != "…"
            continue
        option = found.flags.get(flag)
        if option is None:
            return f"{found.name} has no {flag}"
        missing.discard(option.opts[0])
        if not option.is_flag and not value:
            value = next(words, "")
            if not value:  # the option is only named
                return None
        if wrong := wrong_value(option, value):
            return wrong
    most = sum(each.nargs if each.nargs > 0 else len(rest) for each in found.places)
    least = sum(each.required for each in found.places)
    if not least <= given <= most and GAP not in rest:
        return f"{found.name} takes {least} to {most} words, not {given}"
    return f"{found.name} needs {', '.join(missing)}" if missing else None


def wrong_value(option: Any, value: str) -> str | None:
    """Say which values an option takes, if it is none of them."""
    choices = [*choices_of(option.type_descriptor.annotation)]
    if not choices or option.is_flag or GAP in value or value.isupper() or value[0] in "{…":
        return None
    return None if value in choices else f"{option.opts[0]} is one of {', '.join(choices)}"


def choices_of(kind: Any) -> Iterator[str]:
    """Yield the values of an option that has few."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        yield from (str(each.value) for each in kind)
    elif get_origin(kind) is Literal:
        yield from map(str, get_args(kind))
    else:
        for each in get_args(kind):
            yield from choices_of(each)


FILES = {
    str(folder.relative_to(ROOT)): [path for path in (*MODULES, *PAGES) if path.parent == folder]
    for folder in sorted({path.parent for path in (*MODULES, *PAGES)})
}


@pytest.mark.parametrize("folder", FILES)
def test_what_is_told_to_be_typed_can_be_typed(folder: str) -> None:
    wrong = [
        f"{path.name}:{line}: cardoffers {named.replace(GAP, '…')}: {why}"
        for path in FILES[folder]
        for line, named in commands_of(path)
        if (why := wrong_with(named))
    ]
    assert [] == wrong


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("watch list --state open -i INST", None),
        ("watch accept", None),
        ("run accept larkmere/new.csv, if it is right", None),
        ("doctor --strict", None),
        (f"webhook retry {GAP} --store {GAP}", None),
        ("watch dismiss 1", "watch has no dismiss"),
        ("wach list", "there is no such command"),
        ("watch list --stale", "watch list has no --stale"),
        ("watch list --state old", "--state is one of open, accepted, resolved"),
        ("watch show 1 2", "watch show takes 1 to 1 words, not 2"),
        ("watch accept --reason holiday", "watch accept takes 1 to 1 words, not 0"),
        ("offer list --all", "offer list has no --all"),
        ("import FILE", "import needs --institution"),
    ],
)
def test_what_cannot_be_typed_is_found(line: str, why: str | None) -> None:
    assert why == wrong_with(line)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ('"""Of `cardoffers no`."""\nX = "Try `cardoffers match`, and more."', ["match"]),
        ('f"`cardoffers find --ref {ref} -i INST` does"', [f"find --ref {GAP} -i INST"]),
        ('"a " f"cardoffers run {x}" + "b"', [f"run {GAP}b"]),
        ('THEN = ("see `cardoffers a`", "cardoffers b; or not")', ["a", "b"]),
        ('X = "\\n  cardoffers nightly DROP"', ["nightly DROP"]),
    ],
)
def test_named_commands_are_found(tmp_path: Path, source: str, named: list[str]) -> None:
    (tmp_path / "module.py").write_text(source)
    assert named == [each for _, each in commands_of(tmp_path / "module.py")]
