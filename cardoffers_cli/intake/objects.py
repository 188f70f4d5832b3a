"""JSON objects of files, whichever parser reads them, and their values as the texts of a CSV file.

No field is given twice, numbers keep their text, and a message gives a position, never the text
found there. `documents.py` has the parser that files are read by, `plain/readers.py` one of the
standard library; both refuse the same, at the same place. A value of the wrong JSON type leaves
some text in its column, so that it does not look empty. Imports the standard library only: numbers
that are not whole are whatever a parser makes of them, of which nothing is asked but their text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.json_chunks import Document, Position
from cardoffers_cli.intake.lines import MAX_LINE_BYTES, is_blank, split_lines
from cardoffers_cli.kernel.words.findings import Finding, make_finding, unusable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence


if TYPE_CHECKING:
    Parse = Callable[..., Any]

_MOST_ITEMS = 100_000
"""Items of a page: those of a stretch may be as many as it has bytes."""


@dataclass(frozen=True, kw_only=True)
class Objects:
    """JSON objects of one stretch of a file with their lines or indexes, and what was not one."""

    positions: list[int]
    values: list[dict[str, Any]]
    findings: list[Finding] = field(default_factory=list)
    lines: int = 0
    blank_lines: int = 0


class JsonFault(ValueError):
    """JSON that does not parse: `code` is `json_invalid` or `duplicate_key`.

    `line` and `column` are where it stops to be JSON, both from 1; of a text that ends early
    (`is_short`), behind its last character.
    """

    def __init__(self, code: str, text: bytes, line: int, column: int, *, is_short: bool) -> None:
        self.code, self.is_short = code, is_short
        self.line, self.column = line, column
        if is_short:
            end = Position().after(text.rstrip())
            self.line, self.column = end.line, end.column
        elif not column:  # at the line end before
            self.line -= 1
            self.column = len(text.split(b"\n", self.line)[self.line - 1]) + 1
        super().__init__(code)


@dataclass(frozen=True)
class Parser:
    """What makes values of JSON: `parse` raises `JsonFault`, and keeps numbers as `number` does.

    `parse` takes a text and, by name, `unique_keys`: whether an object may name a field twice.
    """

    parse: Parse
    number: Callable[[str], Any]

    def marked(self, text: bytes) -> tuple[Any, bool]:
        """Parse one text, and mark the objects that name a field twice in place of refusing them.

        Returns the value, and whether anything in it is marked (`has_repeated` tells what). Raises
        `JsonFault` for all else that `parse` refuses.
        """
        try:
            return self.parse(text), False
        except JsonFault as fault:
            if fault.code != "duplicate_key":
                raise
        self.parse(text, unique_keys=False)  # nothing else is wrong with it, or this raises
        return json.loads(text, parse_float=self.number, object_pairs_hook=_object_of), True


def kind_of(parser: Parser, head: bytes, list_key: str | None, known: Collection[str] = ()) -> str:
    """Tell by the first bytes of a file whether it is `csv`, `json` or `jsonl`.

    An object that is complete on the first line makes JSON Lines, unless it is the one that holds
    the list, or holds another list and nothing that is `known`: then it is a document, on however
    many lines it is written. JSON Lines is also a first line that ends its object badly when the
    next one starts another.
    """
    start = head.lstrip()
    if not start.startswith((b"{", b"[")):
        try:
            parser.parse(start)
        except JsonFault:
            return "csv"
        return "json"
    if start.startswith(b"["):
        return "json"
    first, *others = [line.strip() for line in start.splitlines() if not is_blank(line)]
    try:
        value = parser.parse(first, unique_keys=False)
    except JsonFault:
        return "jsonl" if first.endswith(b"}") and others and others[0][:1] == b"{" else "json"
    if not list_key:
        return "jsonl"
    has_list = isinstance(value.get(list_key), list)
    has_another = any(isinstance(member, list) for member in value.values())
    is_other = not others and not value.keys() & {*known, list_key} and has_another
    return "json" if has_list or is_other else "jsonl"


def read_document(
    parser: Parser, blocks: Iterable[bytes], list_key: str | None, known: Collection[str] = ()
) -> Iterator[Objects]:
    """Read a document that is an array of objects, or an object with such an array, page by page.

    Positions are the items' indexes from 0. Raises `FileUnusable` with `json_syntax`, `json_root`,
    at the latest at the end: what a document gave before is void.
    """
    document = Document(blocks, list_key)
    first = 0
    for stretch in document.stretches():
        seam = Position().after(stretch.opening)
        items, marked = _parsed(parser, stretch.array, seam, stretch.place)
        own = items if stretch.is_first else items[1:]
        for start in range(0, len(own) or 1, _MOST_ITEMS):
            part = own[start : start + _MOST_ITEMS]
            yield as_objects(part, first=first, marked=marked)
            first += len(part)
    seam = Position().after(document.head)
    root, _ = _parsed(parser, document.head + document.tail, seam, document.tail_place)
    if is_repeated(root):
        raise unusable("json_syntax", "The outermost object of the JSON names a field twice.")
    members = root if isinstance(root, dict) else {}
    if isinstance(root, list) or (list_key and isinstance(members.get(list_key), list)):
        return
    if list_key in members:
        raise unusable("json_root", f"`{list_key}` in the object is not an array.")
    if members.keys() & {*known}:
        raise unusable("json_root", "The JSON is one record, not an array of them.")
    if members and list_key:
        raise unusable("json_root", f"There is no `{list_key}` in the object.")
    wanted = f", nor an object with `{list_key}`" if list_key else ""
    raise unusable("json_root", f"The JSON is not an array{wanted}, nor JSON Lines.")


def read_json_lines(parser: Parser, text: bytes, *, first_line: int) -> Objects:
    """Read whole, LF-ended lines with one object each; positions are line numbers."""
    positions, values, findings, blank_lines = [], [], [], 0
    lines = split_lines(text)
    for number, line in enumerate(lines, start=first_line):
        if not line:
            blank_lines += 1
            continue
        value = _object_of_line(parser, line, number)
        if isinstance(value, dict):
            positions.append(number)
            values.append(value)
        elif value is None:
            blank_lines += 1
        else:
            findings.append(value)
    return Objects(
        positions=positions,
        values=values,
        findings=findings,
        lines=len(lines),
        blank_lines=blank_lines,
    )


def _object_of_line(parser: Parser, line: bytes, number: int) -> dict[str, Any] | Finding | None:
    """Return the line's object, what is wrong with it, or None for a blank line."""
    if len(line) > MAX_LINE_BYTES:
        return make_finding("line_too_long", "the line is longer than 64 KiB", line=number)
    if is_blank(line):
        return None
    try:
        value = parser.parse(line)
    except JsonFault as fault:
        if fault.code == "duplicate_key":
            return make_finding("duplicate_key", "the object names a field twice", line=number)
        try:
            line.decode()
        except UnicodeDecodeError as error:
            message = f"byte {error.start} of the line is not UTF-8"
            return make_finding("encoding", message, line=number)
        message = f"the line is not JSON (column {fault.column})"
        return make_finding("json_invalid", message, line=number)
    return value if isinstance(value, dict) else _not_an_object(number)


def _not_an_object(position: int) -> Finding:
    return make_finding("not_an_object", "the item is not a JSON object", line=position)


def _parsed(parser: Parser, text: bytes, seam: Position, place: Position) -> tuple[Any, bool]:
    """Parse what was cut out of a document, where what follows `seam` stands at `place`."""
    try:
        return parser.marked(text)
    except JsonFault as fault:
        line, column, is_short = fault.line, fault.column, fault.is_short
    if (line, column) >= (seam.line, seam.column):
        column += place.column - seam.column if line == seam.line else 0
        line += place.line - seam.line
    what = "ends early, after" if is_short else "does not parse at"
    raise unusable("json_syntax", f"The JSON {what} line {line}, column {column}.", line=line)


class _Repeated(dict[str, Any]):
    """An object that names a field twice."""


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    return values if len(values) == len(pairs) else _Repeated(values)


def is_repeated(value: Any) -> bool:
    """Whether a value of `Parser.marked` is an object that itself names a field twice."""
    return isinstance(value, _Repeated)


def has_repeated(value: Any) -> bool:
    """Whether a value of `Parser.marked` names a field twice, itself or deeper inside."""
    inside = value.values() if isinstance(value, dict) else value
    return is_repeated(value) or (isinstance(value, dict | list) and any(map(has_repeated, inside)))


def as_objects(items: Sequence[Any], *, first: int = 0, marked: bool = False) -> Objects:
    """Tell objects from other items and, where any is marked, from those that name a field twice.

    Positions are counted from `first`.
    """
    positions, values, findings = [], [], []
    for position, item in enumerate(items, first):
        if not isinstance(item, dict):
            findings.append(_not_an_object(position))
        elif marked and has_repeated(item):
            findings.append(
                make_finding("duplicate_key", "the object names a field twice", line=position)
            )
        else:
            positions.append(position)
            values.append(item)
    return Objects(positions=positions, values=values, findings=findings, lines=len(items))


_WIDEST = 40  # digits; more decide nothing an amount of 18 digits does not show


def is_mistyped(name: str, value: Any) -> bool:
    """Whether a field has a value that is not null and not of its type: a text, or a number."""
    if name == "amount":
        return isinstance(value, bool | str | list | dict)
    return not (value is None or isinstance(value, str))


def other_text(value: Mapping[str, Any], unknown: set[str]) -> str | None:
    """Return all text of the fields that are not known, their names too."""
    names = unknown.intersection(value)
    return " ".join(_texts({name: value[name] for name in names})) if names else None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        yield from chain.from_iterable(map(_texts, value.values()))
    elif isinstance(value, list):
        yield from chain.from_iterable(map(_texts, value))


def mark(names: list[str] | None) -> str | None:
    """Return what the column `mistyped` has of a row with such fields, None of any other."""
    return f"|{'|'.join(names)}|" if names else None


def text_of(value: Any) -> str | None:
    """Write a value as text; lists and objects leave a mark that is only not empty."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        return "{}"
    return str(value).lower() if isinstance(value, int) else plain_digits(str(value))


def plain_digits(token: str) -> str:
    """Write a number token without an exponent; huge and tiny ones are cut to a fitting width."""
    if "e" not in token and "E" not in token:
        return token
    number = Decimal(token)
    sign = "-" if number.is_signed() else ""
    if not number:
        return f"{sign}0"
    if number.adjusted() > _WIDEST:
        return f"{sign}1{'0' * _WIDEST}"
    if number.adjusted() < -_WIDEST:
        return f"{sign}0.{'0' * _WIDEST}1"
    return f"{number:f}"
