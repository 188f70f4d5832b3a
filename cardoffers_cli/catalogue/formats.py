"""What is asked of each column of any kind of files: of catalogue files here, of rows in intake.

`catalogue.txt` names the form of each column of a catalogue file, and `forms.py` has its pattern.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.catalogue import files as catalogue_kinds
from cardoffers_cli.intake import fields, rules
from cardoffers_cli.intake.schemas import formats
from cardoffers_cli.intake.schemas.limits import TextLimits, limits_of
from cardoffers_cli.kernel.words import row_kinds
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.findings import CATALOGUE_CODES
from cardoffers_cli.kernel.words.nearest import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence


def kinds() -> tuple[str, ...]:
    """Return the names of all kinds of files, those of transactions first."""
    return (*row_kinds.BY_NAME, *catalogue_kinds.KINDS)


def format_of(
    kind: str, currency: str | None = None, columns: Sequence[str] | None = None
) -> formats.FileFormat:
    """Return the format of a kind of files, its amounts in a currency.

    With `columns` it is that of files with these alone, in their order. Raises `NotFound`, and
    `UsageError` for columns that do not fit the kind.
    """
    if kind in row_kinds.BY_NAME:
        form = formats.format_of_rows(row_kinds.BY_NAME[kind], currency)
    elif kind in catalogue_kinds.KINDS:
        form = _of_catalogue(catalogue_kinds.KINDS[kind])
    else:
        raise NotFound(
            f"There is no kind of files {kind!r}.",
            code="kind_unknown",
            hint=did_you_mean(nearest(kind, kinds())) or f"The kinds are {', '.join(kinds())}.",
        )
    return form if columns is None else formats.with_columns(form, columns)


def _of_catalogue(kind: catalogue_kinds.Kind) -> formats.FileFormat:
    described = []
    # What a kind asks of its own is about several columns; what it takes over is about one.
    own = [rule for rule in kind.own_rules if rule.code not in catalogue_kinds.TOKEN_CODES]
    beyond = dict.fromkeys([*(rule.code for rule in own), *formats.IN_PART])
    beyond |= {"webhook_url_refused": None} if "webhook_url" in kind.names else {}
    for column in kind.columns:
        form = column.form
        codes = [rule.code for rule in kind.rules if rule.column == column.name]
        same = {"control_character", *catalogue_kinds.TOKEN_CODES}.intersection(codes)
        shared = [rule for rule in rules.RULES if rule.column == column.name and rule.code in same]
        limits, others = limits_of(shared, column.name, {f"declared_{column.name}": False})
        beyond |= dict.fromkeys([*others, *([formats.CARD_NUMBER] if column.prose else [])])
        has, lacks = ((pattern,) if pattern else () for pattern in (form.pattern, form.refused))
        own_limits = TextLimits(has=has, lacks=(*lacks, fields.INVISIBLE), words=form.words)
        described.append(
            formats.FieldFormat(
                name=column.name,
                says=form.says,
                example=column.example,
                is_needed=not column.optional,
                default=column.default,
                json=form.json,
                limits=(*limits, own_limits),
                may_be_text=True,
                item=form.item,
                numbers=form.limits,
                codes=tuple(dict.fromkeys(codes)),
            )
        )
    return formats.FileFormat(
        name=kind.name,
        list_key=kind.name,
        judge="catalog import --dry-run",
        fields=tuple(described),
        beyond=tuple(beyond),
        meanings=CATALOGUE_CODES,
    )
