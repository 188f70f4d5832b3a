"""Say of a file in another layout than ours what that seems to be, and which command comes next.

Whoever sends the export of a bank for the first time is told its encoding, delimiter and header
line, in which columns the amount and the time seem to be and how they are written, in the place of
the names that a header of ours has. A column is named only where that can be nothing but a name.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from cardoffers_cli.intake.headers import shown_name
from cardoffers_cli.intake.profiles.guessing import guess_layout
from cardoffers_cli.intake.profiles.proposing import settings_told
from cardoffers_cli.intake.sources import HEAD_BYTES, WIDE_MARKS
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.intake.profiles.guessing import GuessedLayout
    from cardoffers_cli.intake.sources import SheetText

_TOLD = ("amount", "transacted_at", "transaction_ref")
"""The fields that are told of; a profile has more."""

_USUAL = {"amount": {"decimal": "."}}
"""What a profile need not say."""


def in_other_layout(
    error: FileUnusable, source: str, head: bytes, sheet: SheetText | None = None
) -> FileUnusable:
    """Return the error of a header with the layout that the file seems to have as its hint.

    `head` is how the file begins, or the `sheet` of it that is read. Where there seem to be no
    amounts and times the error stays as it is, but for other sheets of a workbook, which are named.
    """
    name = sheet.name if sheet else None
    guess = guess_layout(head, is_whole=len(head) < HEAD_BYTES, sheet=name)
    if guess is None or not guess.is_transactions:
        if sheet is None:
            return error
        message, hint = f"In the sheet {visible(sheet.name)}: {error.message}", error.hint
        if others := ", ".join(map(visible, sheet.others)):
            hint = f"{hint} To read another sheet add --sheet with one of: {others}."
        return FileUnusable(message, code=error.code, hint=hint, **error.details)
    file = "FILE" if source == "-" else quote(source)
    encoding = ", in UTF-8" if guess.encoding == "utf-8" and not sheet else ""
    hint = (
        f"It seems to be an export in another layout: {guess.form()}{encoding};"
        f" {'; '.join(_fields(guess))}."
        f" To read it by a profile: `cardoffers profile new {file} -o layout.toml`."
    )
    return FileUnusable(error.message, code=error.code, hint=hint, **error.details)


def of_wide_text(error: FileUnusable, source: str, head: bytes) -> FileUnusable:
    """Return the error of a file; of one in UTF-16 with the layout that it seems to have."""
    return in_other_layout(error, source, head) if head.startswith(WIDE_MARKS) else error


def _fields(guess: GuessedLayout) -> Iterator[str]:
    """Yield where the fields seem to be, how they are written, and how sure that is."""
    for field in _TOLD:
        if guessed := guess.fields.get(field):
            columns = guessed.settings.get("columns", [guessed.column])
            places = " and ".join(_place(guess, column) for column in columns)
            parts = [places, settings_told({**_USUAL.get(field, {}), **guessed.settings})]
            doubt = "" if guessed.sureness == "sure" else f" ({guessed.sureness})"
            yield f"{field} in {', '.join(part for part in parts if part)}{doubt}"


def _place(guess: GuessedLayout, column: str | int | None) -> str:
    if not isinstance(column, str):
        return f"column {column}"
    return shown_name(column) or f"column {[*guess.columns].index(column) + 1}"
