"""Layout profiles: how an institution's own export is laid out, and what its columns mean.

A profile is a value read from TOML (rules.md#profiles): the form of the lines, and for each field
of a transaction event the column it is read from and how it is written there. It holds no
expressions and no code. Columns are named as in the header, or by their number from 1. Wrong text
is refused with the place in the TOML where it stands. The key that makes tokens is read here too.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from cardoffers_cli.kernel.disk.inputs import open_input
from cardoffers_cli.kernel.disk.outputs import read_private_file
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.moments import SERIAL_DAYS, zone_name

ENCODINGS = (
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "iso8859-1", "iso8859-15"),
    *("cp1250", "cp1252", "cp437", "cp850", "mac-roman"),
)
"""The encodings a profile may name, as Python's codecs call them; aliases are understood."""

_DIRECTIVES = frozenset("dmyYbBHIMSpfz")
_CLOCK = frozenset("HI")
_CLOCKS = (frozenset("HM"), frozenset("IMp"))
_SECONDS = frozenset("Sf")
_TIME_OF_DAY = frozenset("HIMpSf")

Column = Annotated[str, Field(min_length=1)] | Annotated[int, Field(ge=1)]


class _ProfilePart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TokenKey(_ProfilePart):
    """Make tokens of raw customer keys: HMAC-SHA256 with the key in a file. Only `convert` does."""

    key_file: Annotated[str, Field(min_length=1)]


class FieldSource(_ProfilePart):
    """Where the text of one field comes from: a column, several of them joined, or a constant.

    Blanks at the ends are taken off. `empty` lists the texts that mean nothing is there.
    """

    column: Column | None = None
    columns: tuple[Column, ...] = ()
    join: str = ""
    constant: Annotated[str, Field(min_length=1)] | None = None
    empty: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_source(self) -> FieldSource:
        count = (self.column is not None) + bool(self.columns) + (self.constant is not None)
        if count != 1:
            raise ValueError("give one of column, columns and constant")
        return self

    @property
    def sources(self) -> tuple[Column, ...]:
        """The columns that are read, in their order."""
        return self.columns if self.column is None else (self.column,)


class TextSource(FieldSource):
    """A text; `pad` puts zeros before numbers that have lost them, up to this length."""

    pad: Annotated[int, Field(ge=1, le=128)] | None = None


class TokenSource(TextSource):
    """A token, or what `convert` makes one of."""

    hmac: TokenKey | None = None


class AmountSource(FieldSource):
    """An amount: its decimal mark, what stands between thousands, its currency's sign.

    `parentheses` says that (5.00) is negative, `minor_units` that 500 is 5.00, `negate` that
    purchases are written as negative numbers.
    """

    decimal: Literal[".", ","] = "."
    thousands: Literal["", ",", ".", " ", "'"] = ""
    currency: Annotated[str, Field(max_length=8)] = ""
    parentheses: bool = False
    minor_units: bool = False
    negate: bool = False

    @model_validator(mode="after")
    def _marks_differ(self) -> AmountSource:
        if self.decimal == self.thousands:
            raise ValueError("decimal and thousands are the same")
        return self


class TimeSource(FieldSource):
    """A time: how it is written, or that days are counted, and the zone of what names none."""

    join: str = " "
    format: str
    zone: str | None = None

    @field_validator("format")
    @classmethod
    def _known_directives(cls, text: str) -> str:
        if text == SERIAL_DAYS:
            return text
        directives = re.findall(r"%(.?)", text.replace("%%", ""))
        unknown = [f"%{directive}" for directive in directives if directive not in _DIRECTIVES]
        if unknown:
            raise ValueError(f"there is no {unknown[0]}; known are %d %m %y %Y %b %H %M %S %z …")
        is_dated = {"d", "m"} <= set(directives) or {"d", "b"} <= set(directives)
        if not is_dated or not {"y", "Y"} & set(directives):
            raise ValueError("a date needs day, month and year, such as %d/%m/%Y")
        if len(directives) != len(set(directives)):
            raise ValueError("a part of the date is named twice")
        clock = _TIME_OF_DAY & set(directives)
        if clock and not any(form <= clock <= form | _SECONDS for form in _CLOCKS):
            raise ValueError("a time of day is %H:%M or %I:%M %p, with %S behind it or without")
        if "S" not in clock and "f" in clock:
            raise ValueError("%f are parts of a second, so %S stands before it")
        if "z" in directives and not clock:
            raise ValueError("%z says how far a time of day is from UTC, and there is none")
        return text

    @field_validator("zone")
    @classmethod
    def _known_zone(cls, text: str | None) -> str | None:
        return text and zone_name(text)

    @property
    def has_clock(self) -> bool:
        """Whether there is a time of day in it."""
        return self.is_serial or any(f"%{directive}" in self.format for directive in _CLOCK)

    @property
    def is_serial(self) -> bool:
        """Whether it is a number of days, as spreadsheets count them."""
        return self.format == SERIAL_DAYS

    @property
    def has_offset(self) -> bool:
        """Whether it says itself how far it is from UTC."""
        return "%z" in self.format


class ProfileFields(_ProfilePart):
    """The fields of a transaction event that are read from a file."""

    cardholder_token: TokenSource | None = None
    card_token: TokenSource | None = None
    instrument_token: TokenSource | None = None
    instrument_type: TextSource | None = None
    card_acceptor_id: TextSource | None = None
    merchant_identifier: TextSource | None = None
    mcc: TextSource | None = None
    merchant_descriptor: TextSource | None = None
    network: TextSource | None = None
    merchant_identifier_type: TextSource | None = None
    merchant_id: TextSource | None = None
    amount: AmountSource | None = None
    currency: TextSource | None = None
    transaction_ref: TextSource | None = None
    transacted_at: TimeSource | None = None

    def given(self) -> dict[str, FieldSource]:
        """Return the fields that are read, by name, in the order of our own layout."""
        values = ((name, getattr(self, name)) for name in type(self).model_fields)
        return {name: value for name, value in values if value is not None}


class LineForm(_ProfilePart):
    """How a line is cut into columns: by a delimiter, or at fixed widths in characters.

    A `sheet` of a workbook, by its name or its number, is read as text that commas separate.
    """

    sheet: Annotated[str, Field(min_length=1)] | Annotated[int, Field(ge=1)] | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    quote: Literal['"', "'", ""] = '"'
    widths: tuple[Annotated[int, Field(ge=1)], ...] = ()

    @model_validator(mode="after")
    def _one_form(self) -> LineForm:
        if (self.delimiter is not None) + bool(self.widths) + (self.sheet is not None) != 1:
            raise ValueError("give one of delimiter, widths and sheet")
        if self.delimiter is not None and (
            not self.delimiter.isascii() or self.delimiter in "\r\n\"'"
        ):
            raise ValueError("the delimiter is one ASCII character, and not a quote")
        if self.sheet is not None:
            return self.model_copy(update={"delimiter": ","})
        return self


Place = (
    Annotated[int, Field(ge=1)] | tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]]
)
"""The number of a field, or its first and last character."""


class Trailer(_ProfilePart):
    """The last line, which says how many rows there are and what their amounts add up to."""

    starts_with: Annotated[str, Field(min_length=1)]
    count: Place | None = None
    sum: Place | None = None


class DropCondition(_ProfilePart):
    """Which rows are left out: those whose column is, is not, or begins with one of some texts."""

    column: Column
    is_: Annotated[tuple[str, ...], Field(alias="is")] = ()
    is_not: tuple[str, ...] = ()
    starts_with: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_test(self) -> DropCondition:
        if bool(self.is_) + bool(self.is_not) + bool(self.starts_with) != 1:
            raise ValueError("give one of is, is_not and starts_with")
        return self


class Profile(_ProfilePart):
    """A layout: what a file's lines are, and what its columns mean.

    `skip_lines` come before everything. The header is `header_line` (counted from 1; 0 is none);
    without it, the line behind those that are skipped, and none at fixed widths. Other lines are
    rows, also those above the header. `columns` names the columns of a file without a header.
    `negatives` says whether a negative amount is an error, or a refund.
    """

    version: Literal[1] = 1
    name: Annotated[str, Field(max_length=80)] | None = None
    encoding: str = "utf-8"
    form: LineForm
    skip_lines: Annotated[int, Field(ge=0)] = 0
    header_line: Annotated[int, Field(ge=0)] | None = None
    columns: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    trailer: Trailer | None = None
    drop_where: tuple[DropCondition, ...] = ()
    negatives: Literal["reject", "refund"] = "reject"
    fields: ProfileFields

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, text: str) -> str:
        try:
            name = codecs.lookup(text).name
        except LookupError:
            name = ""
        if name not in ENCODINGS:
            raise ValueError(f"it is none of {', '.join(ENCODINGS)}")
        return name

    @model_validator(mode="after")
    def _header_behind_preamble(self) -> Profile:
        if self.form.sheet is not None and self.encoding != ENCODINGS[0]:
            raise ValueError("a sheet has no encoding")
        if self.header_line and self.header_line <= self.skip_lines:
            raise ValueError("header_line is among the lines that are skipped")
        if self.columns and self.header:
            raise ValueError("columns are named by the header; header_line = 0 says there is none")
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns names one twice")
        return self

    @property
    def header(self) -> int:
        """The line of the header; 0 is none."""
        if self.header_line is not None:
            return self.header_line
        return 0 if self.form.widths or self.columns else self.skip_lines + 1

    @property
    def digest(self) -> str:
        """The SHA-256 of what the profile says, in lower-case hex; comments and order are none."""
        text = self.model_dump_json(by_alias=True, exclude_defaults=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def makes_tokens(self) -> bool:
        """Whether raw customer keys are read, of which only `convert` makes tokens."""
        return any(getattr(field, "hmac", None) for field in self.fields.given().values())


def parse_profile(text: str, name: str) -> Profile:
    """Read a profile; raise `UsageError`, which says where in the TOML something is wrong."""
    try:
        document = json.dumps(
            tomllib.loads(text), default=str
        )  # JSON is read strictly, lists as tuples
        return Profile.model_validate_json(document)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"{name} is not TOML: {error}.",
            code="profile_syntax",
            hint="`cardoffers profile new SAMPLE` writes a profile to begin with.",
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UsageError(
            f"{name}: {_place(first['loc'])}{_wrong(first)}.",
            code="profile_invalid",
            hint="`cardoffers help profiles` says what a profile may hold.",
        ) from None


def _place(steps: tuple[int | str, ...]) -> str:
    """Name the key in the TOML; which of several types was tried is no part of it."""
    keys = [str(step) for step in steps if isinstance(step, int) or re.fullmatch(r"[a-z_]+", step)]
    own_keys = [key for key in keys if key not in _TYPES]
    return f"{'.'.join(own_keys)}: " if own_keys else ""


_TYPES = frozenset({"str", "int", "tuple"})


def _wrong(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        return "there is no such key"
    message: str = error["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


_LEAST_KEY = 32


def read_profile(path: Path) -> Profile:
    """Read a profile; raise `NotFound`, or `UsageError` where it is none."""
    return parse_profile(profile_text(path), str(path))


def profile_text(path: Path) -> str:
    """Return the text of a profile; raise as `read_profile` does."""
    try:
        with open_input(path) as file:
            return file.read().decode()
    except OSError as error:
        raise NotFound(
            f"The profile {path} cannot be read: {error.strerror}.",
            code="profile_missing",
            hint="`cardoffers profile new SAMPLE -o P.toml` writes one.",
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"The profile {path} is not UTF-8.", code="profile_syntax") from None


def refuse_raw_keys(profile: Profile, path: Path) -> None:
    """Refuse a profile of files with raw customer keys: only `profile convert` makes tokens."""
    if profile.makes_tokens:
        raise UsageError.from_table("intake", "profile_makes_tokens", path=path)


def read_token_key(profile: Profile, path: Path) -> bytes | None:
    """Return the key that makes tokens, if the profile names one, beside it or by its whole path.

    Raises `NotFound`, and `Refused` for a key that others may read.
    """
    sources = profile.fields.given().values()
    keys = {item.hmac.key_file for item in sources if isinstance(item, TokenSource) and item.hmac}
    if not keys:
        return None
    if len(keys) > 1:
        raise UsageError(f"{path} names several key files.", code="profile_invalid")
    file = path.parent / Path(keys.pop())
    try:
        key = read_private_file(file).strip().encode()
    except NotFound as error:
        hint = f"Make one, and keep it: (umask 077; openssl rand -hex 32 > {file})"
        raise NotFound(error.message, code="token_key_missing", hint=hint) from None
    if len(key) < _LEAST_KEY:
        raise UsageError.from_table("intake", "token_key_short", file=file, least=_LEAST_KEY)
    return key
