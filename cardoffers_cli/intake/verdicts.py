"""The parts of the verdict on a transaction file, in the shape of `validate --format json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.findings import CODES
from cardoffers_cli.kernel.words.row_kinds import BY_NAME, PURCHASES, REFUNDS
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from cardoffers_cli.kernel.words.errors import FileUnusable
    from cardoffers_cli.kernel.words.findings import Finding
    from cardoffers_cli.kernel.words.row_kinds import RowKind


def about_code(finding: Mapping[str, Any]) -> dict[str, object]:
    """Tell what was found in rows by one code: code, level, row_count, the first lines."""
    return {
        "code": finding["code"],
        "level": finding["level"],
        "rows": finding["row_count"],
        "lines": finding["lines"],
        "fix": CODES[finding["code"]].fix,
    }


def about_file(finding: Finding) -> dict[str, object]:
    """Tell what was found of the file as a whole."""
    return {
        "code": finding.code,
        "level": finding.level,
        "rows": 0,
        "lines": [] if finding.line is None else [finding.line],
        "fix": CODES[finding.code].fix,
        "message": finding.message,
    }


def about_error(error: FileUnusable | None) -> dict[str, object] | None:
    """Tell why a file could not be read, if it could not."""
    if error is None:
        return None
    return {
        "code": error.code,
        "message": error.message,
        "line": error.details.get("line"),
        "hint": error.hint,
    }


def in_their_words(
    rows: Iterable[Mapping[str, Any]], labels: Mapping[str, str]
) -> Iterator[Mapping[str, Any]]:
    """Name in each finding the column of the file, where it is not called as our field."""
    for row in rows:
        label = labels.get(row["field"] or "", row["field"])
        if label == row["field"]:
            yield row
        else:
            message = row["message"] or CODES[row["code"]].summary
            yield {**row, "field": label, "message": f"{message} (column {label})"}


ASKED = {
    "references": "known references",
    "refund_originals": "the purchases of the refunds",
    "merchants": "known merchants",
    "other_institutions": "rows of other institutions",
    "numbers": "numbers known to be no card numbers",
}
"""What only a store can say of a file, and what that is called."""


def not_asked(
    kinds: Collection[RowKind], earning: int | None, findings: Iterable[Mapping[str, Any]]
) -> Sequence[str]:
    """Return what an import would ask its store of a file of rows of these kinds."""
    looks_like_card = {"card_number", "reference_like_card"}
    applies = {
        "references": kinds,
        "refund_originals": REFUNDS in kinds,
        "merchants": earning,
        "other_institutions": kinds,
        "numbers": looks_like_card.intersection(finding["code"] for finding in findings),
    }
    return [name for name in ASKED if applies[name]]


def verdict_of(file: Mapping[str, Any]) -> tuple[str, str]:
    """Return the verdict on a file in a word, and how many of its rows can be taken and can earn.

    It is good only where some rows can be taken, and some of its purchases can earn.
    """
    kind, usable, earning = BY_NAME[file["kind_of_rows"]], file["can_be_taken"], file["can_earn"]
    noun = "row" if kind is PURCHASES else kind.noun
    invalid, duplicates, conflicts = (file[name] for name in ("invalid", "duplicates", "conflicts"))
    untaken = {
        f"{invalid:,} invalid": invalid,
        counted(duplicates, "duplicate"): duplicates,
        f"{conflicts:,} of them in conflict": conflicts,
    }
    others = ", ".join(words for words, count in untaken.items() if count)
    detail = f"{usable:,} of {counted(file['received'], noun)} can be taken"
    detail += f" ({others})" if others else ""
    refunds = file.get("refunds")
    purchases = usable - (refunds["can_be_taken"] if refunds else 0)
    if earning is not None and purchases:
        detail += f"; {earning:,} of {purchases:,} can earn"
        detail += "" if earning else f": {_why_none(file)}"
    is_good = usable and (earning or earning is None or not purchases)
    word = "not all good" if not file["ok"] else "good" if is_good else "readable"
    return word, detail


def _why_none(file: Mapping[str, Any]) -> str:
    """Say why no row of a file can earn."""
    if any(row["code"] == "merchant_missing" and not row["rows"] for row in file["findings"]):
        return "the file names no merchant"
    return "no row names a merchant" if file["not_asked"] else "no merchant of its rows is known"
