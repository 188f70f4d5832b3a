"""What can be wrong with a row or a file, as data: the codes, their levels and how to mend them.

A finding (rules.md#findings) never quotes its value: it names line, column and rule. The codes
are stable (they stand in reports, JSON and tests) and this catalogue is their only list: `help
findings`, the grouped summary of `validate` and the rules of `files/rules.py` all read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cardoffers_cli.domain.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """One cause found in one row, or in the whole file when it has no line."""

    line: int | None
    transaction_ref: str | None
    column: str | None
    code: str
    level: Level
    message: str


@dataclass(frozen=True)
class Code:
    """A kind of finding: what it means, and what mends it."""

    code: str
    level: Level
    summary: str
    fix: str

    @property
    def advice(self) -> str:
        """The fix as a sentence, for the hint of an error."""
        return f"{sentence(self.fix)}."


def _error(code: str, summary: str, fix: str) -> Code:
    return Code(code, "error", summary, fix)


def _warning(code: str, summary: str, fix: str) -> Code:
    return Code(code, "warning", summary, fix)


_LINES = (
    _error(
        "field_count",
        "the line has too few or too many fields",
        "give every line as many fields as the header; quote a field that holds the delimiter",
    ),
    _error(
        "unclosed_quote",
        "a quoted field is not closed on its line",
        "close the quote; a field may not hold a line break",
    ),
    _error(
        "stray_quote",
        "a quote stands inside a field that is not quoted",
        'put the whole field in quotes and write each quote in it as ""',
    ),
    _error("encoding", "the line is not UTF-8", "save the file as UTF-8"),
    _error(
        "line_too_long",
        "the line is longer than 64 KiB",
        "look for a lost line break; a transaction takes a few hundred bytes",
    ),
    _error(
        "last_line_unterminated",
        "the last line has no line end: it may have been cut off",
        "send the file whole, its last line ended too, or take it with --allow-unterminated",
    ),
    _error("json_invalid", "the line is not JSON", "write one complete JSON object on each line"),
    _error("not_an_object", "the item is not a JSON object", "write each event as an object"),
    _error("duplicate_key", "an object names a field twice", "give each field once"),
)

_FIELDS = (
    _error(
        "control_character",
        "a field holds a control, bidirectional or zero-width character",
        "remove invisible characters at the source of the export",
    ),
    _error(
        "required_missing",
        "a required field is empty",
        "fill cardholder_token, amount, transaction_ref, transacted_at and a card or instrument "
        "token; of a refund refund_ref, amount and refunded_at; of a credited row credit_ref, "
        "amount, status and credited_at",
    ),
    _error(
        "token_placeholder",
        "a token, reference or identifier is NULL, N/A, none, nan, #REF!, TRUE or a dash",
        "send the value, or leave the field empty, or the row out; never a word in its place",
    ),
    _error(
        "spreadsheet_damage",
        "a token, reference or identifier was changed by a spreadsheet",
        "export the column from its source as text: no formula, apostrophe, blanks, 5.2E+14, date",
    ),
    _error(
        "date_turned",
        "a spreadsheet has turned a date into a number of days, or an amount into a date",
        "export the column from its source, not from a spreadsheet; a profile reads days with "
        'format = "serial"',
    ),
    _warning(
        "spreadsheet_error",
        "a text is an error of a spreadsheet, such as #N/A",
        "nothing to do, or fix the formula of the column",
    ),
    _error(
        "token_invalid",
        "a token or reference has spaces, non-ASCII characters or too many of them",
        "send tokens of at most 256 visible ASCII characters, references of at most 128",
    ),
    _error(
        "text_invalid",
        "a JSON field that must be text is something else",
        "write the value in quotes",
    ),
    _error(
        "card_number",
        "a token, a reference or another text is, or holds, a real card number",
        "never send card numbers: send the token of your tokenisation; treat the file as exposed",
    ),
    _error(
        "personal_data",
        "a token is an e-mail address",
        "send a keyed HMAC-SHA256 of a stable customer key, never personal data",
    ),
    _error(
        "instrument_conflict",
        "card_token and instrument_token differ",
        "send one of the two, or the same value in both",
    ),
    _error(
        "instrument_type_unknown",
        "instrument_type is not a known one",
        "use card, wallet or account, or leave it empty",
    ),
    _error(
        "refund_kind_unknown",
        "kind is not one that a refund has",
        "use refund, void or adjustment, or leave it empty for refund",
    ),
    _error(
        "original_missing",
        "a refund names neither its purchase nor cardholder, instrument and merchant",
        "send original_transaction_ref, the transaction_ref of the purchase; else "
        "cardholder_token, card_token and a merchant field, so that it can be looked for",
    ),
    _error(
        "redemption_missing",
        "a credited row names neither its redemption nor the purchase that redeemed",
        "send redemption_id, as the report of redemptions and webhooks have it, or transaction_ref",
    ),
    _error(
        "redemption_id_invalid",
        "redemption_id is not a UUID",
        "send the redemption_id that the service gave, or transaction_ref in its place",
    ),
    _error(
        "credit_status_unknown",
        "status is not one that a credited row has",
        "use credited, failed or reversed, in small letters",
    ),
    _warning(
        "failure_code_missing",
        "a credit failed, and nothing says why",
        "send the code of the failure, so that it is known whether to try again",
    ),
    _warning(
        "failure_code_unexpected",
        "a row has a failure_code and says that it was credited",
        "check which of the two is right: the status counts",
    ),
    _error(
        "merchant_identifier_type_unknown",
        "merchant_identifier_type is not a known one",
        "use card_acceptor, pix_key, upi_vpa, codi or psp_merchant_id, or leave it empty",
    ),
    _error(
        "merchant_conflict",
        "card_acceptor_id and merchant_identifier differ",
        "send one of the two, or the same value in both",
    ),
    _error("merchant_id_invalid", "merchant_id is not a UUID", "send the merchant's UUID or none"),
    _warning(
        "merchant_missing",
        "no merchant field is filled: the purchase can match nothing",
        "send card_acceptor_id (ISO 8583 field 42) as it came in the authorisation",
    ),
    _error(
        "amount_invalid",
        "the amount is not a plain number",
        "write digits with an optional point and decimals, as in 12.50; in JSON a number",
    ),
    _error(
        "amount_not_positive",
        "the amount is zero or negative",
        "write amounts above zero; send refunds in a file of their own (`cardoffers help files`), "
        "and a credit that was taken back with the status reversed",
    ),
    _error("amount_too_large", "the amount is 10^12 or more", "check the unit of the amounts"),
    _error(
        "amount_precision",
        "the amount has more decimals than its currency, and they are not zeros",
        "round at the source, or name the right currency",
    ),
    _error(
        "currency_mismatch",
        "the currency is not the program's",
        "send only purchases in the program's currency, its code as in ISO 4217, or no currency",
    ),
    _error(
        "timestamp_invalid",
        "the timestamp is not ISO 8601, or not a real time",
        "write YYYY-MM-DDTHH:MM:SS with Z or an offset such as +02:00",
    ),
    _error(
        "timestamp_no_offset",
        "the timestamp does not say in which time zone it is",
        "add Z or an offset, or read the file with --assume-timezone",
    ),
    _error(
        "timestamp_ambiguous",
        "the local time comes twice: the clocks went back (files read by a profile)",
        "export times with their offset, or in UTC, and say so in the format of the profile",
    ),
    _error(
        "timestamp_skipped",
        "the local time did not come: the clocks went forward (files read by a profile)",
        "check the zone of the profile; export times with their offset, or in UTC",
    ),
    _error(
        "timestamp_in_future",
        "the timestamp is more than 24 hours ahead",
        "check the clock and the time zone of the export",
    ),
    _error(
        "institution_mismatch",
        "institution_id is another institution's",
        "send each institution's events with its own key or slug, or leave institution_id out",
    ),
    _warning(
        "token_weak",
        "cardholder_token is shorter than 32 characters",
        "make the token as a keyed HMAC-SHA256 over a stable customer key",
    ),
)

_FILES = (
    _warning(
        "column_unknown", "a column is not known and is ignored", "remove it or correct its name"
    ),
    _warning(
        "column_ignored",
        "institution_id in a CSV file is ignored",
        "remove the column: the institution comes from the account",
    ),
    _warning(
        "refunds_among",
        "rows with negative amounts are refunds, as the profile says",
        "nothing to do: `import` takes them as refunds; if they are none, leave out `negatives`",
    ),
    _warning("rows_missing", "the file has a header and no rows", "check the export's time window"),
    _warning(
        "tokens_unstable",
        "almost every cardholder_token occurs once: tokens look rotated",
        "give the same customer the same token in every event, or nothing will match",
    ),
    _warning(
        "reference_like_card",
        "some references or identifiers look like card numbers, as many as by chance",
        "nothing to do, if they are numbers of your own; with letters they could not be mistaken",
    ),
    _warning(
        "leading_zeros_lost",
        "some identifiers, tokens or references are shorter numbers than most of their column",
        "export the column as text: a spreadsheet has dropped leading zeros",
    ),
)

_REPEATS = (
    _warning(
        "duplicate",
        "the same transaction was received before",
        "nothing to do: the first one counts",
    ),
    _warning(
        "duplicate_conflict",
        "the transaction_ref was received before with other content",
        "check whether a correction was meant; give every transaction its own reference",
    ),
    _warning(
        "look_alike",
        "another transaction has the same instrument, second, amount and merchant",
        "check whether one purchase was sent under two references: both are taken, and both count",
    ),
)

CODES: Mapping[str, Code] = {code.code: code for code in (*_LINES, *_FIELDS, *_FILES, *_REPEATS)}
"""Every code a row, or a file that was read, can be given."""

_UNUSABLE = (
    _error("file_missing", "there is no such file", "check the path"),
    _error("file_unreadable", "the file cannot be opened", "check that it is a readable file"),
    _error("file_empty", "the file has no content", "check the export"),
    _error("file_binary", "the file is not text", "export it as CSV, JSON or JSON Lines"),
    _error("sheet_missing", "the file has no such sheet", "name a sheet that the workbook has"),
    _error("file_encoding", "the file is not UTF-8", "save the file as UTF-8"),
    _error("file_corrupt", "the compressed file is damaged or cut off", "transfer it again"),
    _error("header_missing", "the first line is not a header", "put the column names first"),
    _error("header_column_missing", "the header lacks a column", "add the column"),
    _error("header_column_duplicate", "the header names a column twice", "remove one of them"),
    _error(
        "kind_of_rows_mismatch",
        "the file holds rows of another kind than the command takes",
        "take refunds with `cardoffers refund import`, credited rows with `cardoffers credit "
        "import`, purchases with `cardoffers import`",
    ),
    _error(
        "profile_field_missing",
        "the profile lacks a field that every transaction has",
        "add the field to the profile, with the column that it is read from",
    ),
    _error(
        "trailer_mismatch",
        "the trailer is missing, or says otherwise than the rows",
        "transfer the file again, or check the trailer of the profile",
    ),
    _error("header_delimiter", "the header has another delimiter", "name it with --delimiter"),
    _error(
        "header_quotes",
        "the header is in quotes that are not those of its fields",
        'take the quotes away, here and in the rows, or put "each field" in double quotes',
    ),
    _error(
        "json_root",
        "the JSON holds no list of records",
        "send an array of objects, an object with the list, or JSON Lines",
    ),
    _error("json_syntax", "the JSON document does not parse", "send one complete JSON document"),
)

FILE_CODES: Mapping[str, Code] = {code.code: code for code in _UNUSABLE}
"""Every code for a file that cannot be read at all (`FileUnusable`)."""


def make_finding(
    code: str,
    message: str,
    *,
    line: int | None = None,
    transaction_ref: str | None = None,
    column: str | None = None,
    level: Level | None = None,
) -> Finding:
    """Make a finding with the level its code has in `CODES`, if none is given."""
    return Finding(line, transaction_ref, column, code, level or CODES[code].level, message)
