"""One file read by columns and in plain Python, and what both tell of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.chunks import FileReading
from cardoffers_cli.intake.plain.validation import PlainValidation
from cardoffers_cli.intake.profiles.refunds import settled
from cardoffers_cli.kernel.words import json_text
from cardoffers_cli.kernel.words.money import MINOR_UNITS
from cardoffers_cli.kernel.words.row_kinds import BY_NAME
from cardoffers_cli.river.checks import validate
from cardoffers_cli.river.receiving import Outputs
from tables import NOON
from work import job

if TYPE_CHECKING:
    from pathlib import Path

Told = dict[str, str | bytes]


def by_columns(content: bytes, folder: Path, **options: Any) -> Told:
    """Return what `validate` makes of a file: its document, and the files it writes."""
    path = folder / "transactions"
    path.write_bytes(content)
    outputs = {name: folder / name for name in ("errors", "valid", "rejected")}
    for each in outputs.values():
        each.unlink(missing_ok=True)
    currency = options.get("currency")
    kind = options.get("kind")
    reading = FileReading(
        kind=BY_NAME[kind or "purchases"],
        is_kind_given=kind is not None,
        now=NOON,
        currency=currency,
        decimals=MINOR_UNITS[currency] if currency else 2,
        delimiter=options.get("delimiter", ","),
        assume_timezone=options.get("assume_timezone"),
        unterminated="error",
        profile=options.get("profile"),
    )
    raw = options.get("raw_rejected", False)
    report = validate(str(path), reading, job(), outputs=Outputs(**outputs, raw=raw))
    told: Told = {"document": json_text.dumps(report.document(), indent=1)}
    if not report.file_error:
        told |= {name: each.read_bytes() for name, each in outputs.items()}
    return told


def in_plain_python(content: bytes, folder: Path, step: int = 1 << 20, **options: Any) -> Told:
    """Return the same of the plain reading, which is handed the file in pieces of a size."""
    pieces = [content[at : at + step] for at in range(0, len(content), step)]
    if profile := options.get("profile"):
        options["profile"] = json.loads(json.dumps(settled(profile)))
    check = PlainValidation(str(folder / "transactions"), {"now": NOON, **options})
    for piece in pieces:
        check.feed(piece)
    told: Told = {"document": json_text.dumps(check.finish(), indent=1)}
    if not check.is_unusable:
        told["errors"] = b"".join(check.errors_csv())
        apart = check.apart()
        parts = [*map(apart.add, pieces), apart.end()]
        told["valid"], told["rejected"] = (b"".join(each) for each in zip(*parts, strict=True))
    return told


def check(content: bytes, folder: Path, step: int = 1 << 20, **options: Any) -> Told:
    """Hold the two readings of a file against each other."""
    expected = by_columns(content, folder, **options)
    told = in_plain_python(content, folder, step, **options)
    assert expected == told, content
    return told
