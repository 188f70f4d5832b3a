"""Find and read catalogue files: what is well formed comes as typed rows, the rest as findings.

Which kind a file is says its name, else its columns. Reading goes page by page, so that a file of
links may be of any length. A row is judged by itself here; what it points to is looked up later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.catalogue.forms import Form, form_of
from cardoffers_cli.intake.conditions import Condition, settled
from cardoffers_cli.intake.fields import INVISIBLE
from cardoffers_cli.intake.headers import Names
from cardoffers_cli.intake.numbers import are_card_numbers
from cardoffers_cli.intake.paging import RecordFile, pages
from cardoffers_cli.intake.rulebook import expression
from cardoffers_cli.intake.rules import RULES, Rule
from cardoffers_cli.intake.sources import open_source
from cardoffers_cli.kernel.sheets.exports import read_tables
from cardoffers_cli.kernel.words.addresses import check_url
from cardoffers_cli.kernel.words.errors import FileUnusable, NotFound, UsageError
from cardoffers_cli.kernel.words.findings import CATALOGUE_CODES, make_finding
from cardoffers_cli.kernel.words.money import MINOR_UNITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.kernel.words.findings import Finding


# The kinds of catalogue files: their columns, and what must hold within one of their rows.
#
# The table to read, and to change, for the format of catalogue files is `catalogue.txt`.


TOKEN_CODES = (
    "card_number",
    "personal_data",
    "token_placeholder",
    "spreadsheet_damage",
    "token_invalid",
)
"""What a token is refused for here as in transaction files."""


@dataclass(frozen=True, eq=False)
class CellRule:
    """One rule: `broken` is true in the rows whose cell of a column breaks it."""

    code: str
    column: str | None
    message: str
    broken: pl.Expr


@dataclass(frozen=True)
class CatalogueColumn:
    """One column: its form, whether a cell may be empty, what an empty one means, an example.

    In one that is `prose` there may be no card number. One `in_header` must stand in that of a CSV.
    """

    name: str
    form: Form
    optional: bool = False
    default: str | None = None
    example: str = ""
    prose: bool = False
    in_header: bool = False

    @property
    def text(self) -> pl.Expr:
        """The text of the cell."""
        return pl.col(self.name)

    @property
    def value(self) -> pl.Expr:
        """The value read from the cell, null where it is empty or does not have the form."""
        value = self.form.read(pl.when(self.form.fits(self.text)).then(self.text))
        return value.alias(_read(self.name))

    @property
    def rules(self) -> tuple[CellRule, ...]:
        """What must hold for the cell alone, in order of precedence."""
        missing = pl.lit(False) if self.optional else self.text.is_null()
        wrong = self.text.is_not_null() & pl.col(_read(self.name)).is_null()
        holds = self.text.map_batches(partial(are_card_numbers, field=self.name), pl.Boolean)
        card = CellRule("card_number", self.name, f"{self.name} holds a card number", holds)
        return (
            *([card] if self.prose else []),
            CellRule("required_missing", self.name, f"{self.name} is empty", missing),
            CellRule(
                "control_character",
                self.name,
                f"{self.name} holds an invisible control character",
                self.text.str.contains(INVISIBLE),
            ),
            CellRule("value_invalid", self.name, f"{self.name} must be {self.form.says}", wrong),
        )


@dataclass(frozen=True)
class Kind:
    """One kind of file: its columns, and rules of its own beyond those of the columns."""

    name: str
    columns: tuple[CatalogueColumn, ...]
    own_rules: tuple[CellRule, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the columns that a CSV header must have."""
        return tuple(column.name for column in self.columns if column.in_header)

    @property
    def example(self) -> dict[str, str]:
        """One row, by column; columns that are left out are empty."""
        return {column.name: column.example for column in self.columns if column.example}

    @property
    def rules(self) -> tuple[CellRule, ...]:
        """Every rule, in order of precedence."""
        return (*self.own_rules, *(rule for column in self.columns for rule in column.rules))


def _read(name: str) -> str:
    return f"read:{name}"


def _precision(name: str) -> CellRule:
    """Return the rule that an amount has at most as many decimals as its currency."""
    units = pl.col("currency").replace_strict(MINOR_UNITS, default=None, return_dtype=pl.Int64)
    decimals = pl.col(name).str.extract(r"^[0-9]+\.([0-9]{1,4})$").str.len_bytes()
    message = f"{name} has more decimals than its currency"
    return CellRule("amount_precision", name, message, decimals > units)


REWARD_COLUMNS = (
    *("reward_type", "cashback_percent", "max_cashback_amount"),
    *("commission_basis", "max_commission_amount"),
)
"""The columns of percent offers, and of commission on what is spent; others leave them empty."""


def _reward_rules() -> Iterator[CellRule]:
    """Yield what percent offers are asked for, and fixed ones (rules.md#percent-offers)."""
    is_percent = pl.col("reward_type").fill_null("fixed") == "percent"
    is_of_spend = (pl.col("commission_basis") == "spend") & pl.col("budget_amount").is_not_null()
    units = 10 ** pl.col("currency").replace_strict(MINOR_UNITS, default=0, return_dtype=pl.Int64)
    needed = {
        "cashback_amount": ("required_missing", "", ~is_percent),
        "cashback_percent": ("required_missing", "", is_percent),
        "max_cashback_amount": ("cap_required", "", is_percent),
        "max_commission_amount": ("cap_required", ", but there is a budget", is_of_spend),
    }
    for name, (code, why, is_needed) in needed.items():
        missing = is_needed & pl.col(name).is_null()
        yield CellRule(code, name, f"{name} is empty{why}", missing)
    for name, kind, is_kind in (
        ("cashback_amount", "fixed", ~is_percent),
        ("cashback_percent", "percent", is_percent),
        ("max_cashback_amount", "percent", is_percent),
    ):
        mixed = ~is_kind & pl.col(name).is_not_null()
        yield CellRule("reward_terms_mixed", name, f"{name} is of a {kind} offer", mixed)
    for name in ("max_cashback_amount", "max_commission_amount"):
        too_low = pl.col(_read(name)) * units.cast(pl.Decimal(18, 0)) < 1
        message = f"{name} is less than the smallest amount of its currency"
        yield CellRule("cap_below_minor_unit", name, message, too_low)
    name, percent = "cashback_percent", pl.col(_read("cashback_percent"))
    message = f"{name} must be from 0.01 to 100.00"
    yield CellRule("percent_out_of_range", name, message, ~percent.is_between(0.01, 100))


_ENDS_LATER = CellRule(
    "value_invalid",
    "expires_at",
    "expires_at must be after starts_at",
    pl.col(_read("expires_at")) <= pl.col(_read("starts_at")),
)

_OF_AN_OFFER = (
    CellRule(
        "required_missing",
        "offer_id",
        "offer_id is empty, but an offer_impression is of an offer",
        (pl.col("event") == "offer_impression") & pl.col("offer_id").is_null(),
    ),
    CellRule(
        "value_invalid",
        "offer_id",
        "offer_id must be empty: a widget_view is of no single offer",
        (pl.col("event") == "widget_view") & pl.col("offer_id").is_not_null(),
    ),
)


def _token_rules(*columns: str) -> tuple[CellRule, ...]:
    """Refuse a token here as it is refused in transaction files, by the same rules."""
    return tuple(
        CellRule(rule.code, rule.column, rule.message, expression(_undeclared(rule)))
        for rule in RULES
        if rule.column in columns and rule.code in TOKEN_CODES
    )


def _undeclared(rule: Rule) -> Condition:
    """Return the condition of a rule of tokens whose lengths nobody declared."""
    broken = settled(rule.broken, {f"declared_{rule.column}": False})
    return broken if isinstance(broken, Condition) else rule.broken


_OWN_RULES = {
    "offers": (
        *_reward_rules(),
        *map(_precision, ("min_spend", "cashback_amount", "budget_amount")),
        *map(_precision, ("max_cashback_amount", "max_commission_amount")),
        _ENDS_LATER,
    ),
    "links": _token_rules("cardholder_token", "card_token"),
    "engagement": (*_token_rules("cardholder_token"), *_OF_AN_OFFER),
}


def _column(line: str) -> CatalogueColumn:
    name, form, needed, *example = re.split(" {2,}", line)
    return CatalogueColumn(
        name,
        form_of(form),
        optional=needed != "needed",
        default=needed.removeprefix("else ") if needed.startswith("else ") else None,
        example=example[0] if example else "",
        prose=form in {"text", "long text"} and name != "webhook_url",
        in_header=needed in {"needed", "if fixed"},
    )


KINDS = {
    name: Kind(name, tuple(map(_column, lines)), _OWN_RULES.get(name, ()))
    for name, lines in read_tables(__package__, "catalogue.txt").items()
}
"""The kinds of files by name, in the order of import."""


_NAME = re.compile(r"(?P<kind>.+?)\.(?:csv|json|jsonl|ndjson)(?:\.gz)?", re.IGNORECASE)
_WORD = re.compile(rb"[A-Za-z_-]+")
_FINDINGS = {
    "line": pl.UInt64,
    "column": pl.String,
    "code": pl.String,
    "level": pl.String,
    "message": pl.String,
}


@dataclass(frozen=True)
class CataloguePage:
    """One stretch of a file: its well-formed rows, typed, and what is wrong with others.

    `rows` has `line` and the kind's columns; `findings` has line, column, code, level, message.
    """

    rows: pl.DataFrame
    findings: pl.DataFrame


class CatalogueFile:
    """A catalogue file of a known kind; `received` is complete when the pages are exhausted.

    `allow_insecure` is what `check_url` asks of webhooks' URLs.
    """

    def __init__(self, source: str, kind: Kind, *, allow_insecure: bool = False) -> None:
        self.source = source
        self.kind = kind
        self.received = 0
        self._allow_insecure = allow_insecure

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return Path(self.source).name

    def pages(self) -> Iterator[CataloguePage]:
        """Read the file; the last page holds no rows, but the findings about the whole file."""
        try:
            names = Names(known=self.kind.names, required=self.kind.required)
            with open_source(self.source) as opened:
                file = RecordFile(opened, names, list_key=self.kind.name)
                for texts, broken in pages(file, self.kind.names):
                    rows, findings = _judge(texts, self.kind)
                    refused = _urls_refused(rows, allow_insecure=self._allow_insecure)
                    yield CataloguePage(
                        rows.filter(~pl.col("line").is_in(refused["line"].implode())),
                        pl.concat([_as_frame(broken), findings, refused]),
                    )
                self.received = file.received
                about_file = [*file.header_findings]
                if not file.received:
                    about_file.append(make_finding("rows_missing", "the file has no rows"))
                yield CataloguePage(rows.clear(), _as_frame(about_file))
        except FileUnusable as error:
            raise error.of(self.name) from None


def read_row(kind: Kind, cells: Mapping[str, str | None]) -> CataloguePage:
    """Judge one row that came by another way than a file, as if it stood on line 1 of one."""
    schema = {"line": pl.UInt64, **dict.fromkeys(kind.names, pl.String)}
    values = {"line": 1, **{name: cells.get(name) or None for name in kind.names}}
    return CataloguePage(*_judge(pl.DataFrame([values], schema=schema), kind))


def catalogue_files(path: Path, *, allow_insecure: bool = False) -> list[CatalogueFile]:
    """Return the catalogue files at a path, in order of import.

    A folder may hold any of them, and other files, which are left alone. Raises `NotFound` where
    there is none, and `FileUnusable` where two are of one kind or the kind of a file is unknown.
    """
    if not path.is_dir():
        name = _kind_by_name(path) or _kind_by_columns(path)
        return _in_order([(name, path)], allow_insecure=allow_insecure)
    files = [(kind, file) for file in sorted(path.iterdir()) if (kind := _kind_by_name(file))]
    if not files:
        raise NotFound.from_table(
            "catalogue", "catalogue_missing", path=path, kinds=", ".join(KINDS)
        )
    kinds = [kind for kind, _ in files]
    if twice := [kind for kind in kinds if kinds.count(kind) > 1]:
        raise FileUnusable.from_table("catalogue", "catalogue_file_twice", name=twice[0])
    return _in_order(files, allow_insecure=allow_insecure)


def _in_order(files: Sequence[tuple[str, Path]], *, allow_insecure: bool) -> list[CatalogueFile]:
    by_kind = dict(files)
    return [
        CatalogueFile(str(by_kind[name]), KINDS[name], allow_insecure=allow_insecure)
        for name in KINDS
        if name in by_kind
    ]


def _kind_by_name(path: Path) -> str | None:
    match = _NAME.fullmatch(path.name)
    kind = match["kind"].lower() if match else None
    return kind if kind in KINDS else None


def _kind_by_columns(path: Path) -> str:
    with open_source(str(path)) as opened:
        head = opened.head().lstrip()
    # a CSV header, or the fields of a first JSON object
    start = head.partition(b"}")[0] if head.startswith((b"{", b"[")) else head.splitlines()[0]
    words = {word.decode() for word in _WORD.findall(start)}
    fitting = [kind for kind in KINDS.values() if words.issuperset(kind.required)]
    if not fitting:
        raise FileUnusable(
            f"{path} is no catalogue file: neither its name nor its columns say which kind.",
            code="catalogue_kind_unknown",
            hint=f"Name the file after its kind: {', '.join(KINDS)}.",
        )
    return max(fitting, key=lambda kind: len(words.intersection(kind.names))).name


def _judge(texts: pl.DataFrame, kind: Kind) -> tuple[pl.DataFrame, pl.DataFrame]:
    filled = texts.with_columns(
        pl.col(column.name).fill_null(column.default) for column in kind.columns if column.default
    )
    # `mistyped` is what the rules of tokens ask of JSON; tables have turned every value to text.
    cells = filled.with_columns(
        pl.lit(None, pl.String).alias("mistyped"), *(column.value for column in kind.columns)
    )
    # Of the rules that one cell breaks the first speaks.
    broken = cells.select(
        rule.broken.fill_null(value=False).alias(str(number))
        for number, rule in enumerate(kind.rules)
    )
    breaches = broken.select(pl.all().any()).row(0)
    frames = [
        cells.filter(broken[str(number)]).select(
            "line",
            column=pl.lit(rule.column),
            code=pl.lit(rule.code),
            level=pl.lit(CATALOGUE_CODES[rule.code].level),
            message=pl.lit(rule.message),
        )
        for number, rule in enumerate(kind.rules)
        if breaches[number]
    ]
    findings = pl.concat([pl.DataFrame(schema=_FINDINGS), *frames]).unique(
        ["line", "column"], keep="first", maintain_order=True
    )
    well_formed = cells.filter(~pl.col("line").is_in(findings["line"].implode()))
    values = [pl.col(f"read:{name}").alias(name) for name in kind.names]
    return well_formed.select("line", *values), findings


def _urls_refused(rows: pl.DataFrame, *, allow_insecure: bool) -> pl.DataFrame:
    """Return a finding for every webhook_url that `cardoffers webhook set` would refuse."""
    findings = []
    if "webhook_url" in rows.columns:
        urls = rows.select("line", "webhook_url").drop_nulls()
        for line, url in urls.iter_rows():
            try:
                check_url(url, allow_insecure=allow_insecure)
            except UsageError as refusal:
                text = f"{refusal.message} {refusal.hint}"
                findings.append((line, "webhook_url", "webhook_url_refused", "error", text))
    return pl.DataFrame(findings, schema=_FINDINGS, orient="row")


def _as_frame(findings: Sequence[Finding]) -> pl.DataFrame:
    rows = [(item.line, item.column, item.code, item.level, item.message) for item in findings]
    return pl.DataFrame(rows, schema=_FINDINGS, orient="row")
