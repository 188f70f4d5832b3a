"""Write a guess as the TOML of a profile, for a person to read and to correct."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cardoffers_cli.intake.profiles.guessing import GuessedLayout

_MISSING = {
    "amount": 'column = "…"',
    "transacted_at": 'column = "…"\n# format = "%d.%m.%Y %H:%M"\n# zone = "Europe/London"',
    "transaction_ref": (
        'columns = ["…", "…"]  # what is unique for ever; "#line" is the number of the line\n'
        '# join = "-"'
    ),
    "cardholder_token": 'column = "…"  # the same for every purchase of a customer',
    "card_token": 'column = "…"',
}
"""What a profile needs, and how it is said where nothing was found."""


def proposed(guess: GuessedLayout, name: str, *, zone: str | None = None) -> str:
    """Return the profile that a guess comes to.

    `name` is the file it was made from, `zone` the time zone of its times, where somebody knows it.
    """
    missing = [
        f"\n# [fields.{name}]  # missing: no column seems to hold it\n# {how}"
        for name, how in _MISSING.items()
        if name not in guess.fields
    ]
    return "\n".join([*_head(guess, name), *_fields(guess, zone), *missing, ""])


def _head(guess: GuessedLayout, name: str) -> Iterator[str]:
    yield f"# The layout of {visible(name)}, guessed from {guess.rows} of its rows."
    yield "# Read it, and fix it: `cardoffers profile check` shows what each column becomes."
    yield ""
    if guess.sheet is None:
        yield f"encoding = {_text(guess.encoding)}"
    if guess.skip_lines:
        yield f"skip_lines = {guess.skip_lines}"
    if guess.header_line != guess.skip_lines + 1 and not guess.widths:
        yield f"header_line = {guess.header_line}"
    if guess.sheet is not None:
        yield f"form = {{sheet = {_text(guess.sheet)}}}"
    elif guess.widths:
        yield f"form = {{widths = {[*guess.widths]}}}"
    else:
        yield f"form = {{delimiter = {_text(guess.delimiter)}}}"
    if "amount" in guess.fields and guess.fields["amount"].has_negatives:
        yield '# negatives = "refund"  # leaves out negative amounts; else they are errors'
    if guess.trailer:
        yield f"trailer = {guess.trailer}"


def _fields(guess: GuessedLayout, zone: str | None) -> Iterator[str]:
    if not guess.fields:
        yield "\n[fields]"
    for name, field in guess.fields.items():
        is_local = name == "transacted_at" and "%z" not in field.settings["format"]
        settings = {**field.settings, "zone": zone} if is_local and zone else field.settings
        yield ""
        yield f"[fields.{name}]  # {field.sureness}: {field.why}"
        for key, value in settings.items():
            doubt = "  # likely: by currency or language" if key == "zone" and not zone else ""
            yield f"{key} = {_text(value)}{doubt}"
        if is_local and "zone" not in settings:
            yield '# zone = "Europe/London"  # missing: the file does not say where it was made'


def _text(value: Any) -> str:
    """Write a value as TOML does."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_text(item)}' for key, item in value.items())}}}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def settings_told(settings: Mapping[str, Any]) -> str:
    """Say how a field is written, as one line."""
    details = {key: value for key, value in settings.items() if key not in {"column", "columns"}}
    return ", ".join(f"{key} {_text(value)}" for key, value in details.items())
