"""What people would use instead, each checking one transaction file as far as it can.

Run as `python others.py NAME FILE`: prints JSON with the rows read, the errors found and the
seconds of the check alone, without the start of Python and the imports. Where a tool cannot state
a rule, `CANNOT` says so.
"""
# ruff: noqa: PLC0415  a process imports the tool it runs, and no other

from __future__ import annotations

import csv
import json
import re
import sys
import time
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

LATEST = datetime(2026, 11, 2, tzinfo=UTC)
TOKEN = r"^[!-~]{1,256}$"  # noqa: S105  a pattern
REF = r"^[!-~]{1,128}$"
ACCEPTOR = r"^[^\x00-\x1f\x7f]+$"
CARD_LIKE = r"^(?:[0-9][ -]?){12,19}$"
E_MAIL = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
AMOUNT = r"^[0-9]{1,12}(?:\.[0-9]{1,2})?$"
MOMENT = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$"

EVERY_TOOL = "the line of a faulty row in the file itself; a stray quote kept to its own line"
CANNOT = {
    "pandera": f"{EVERY_TOOL}; the check digit of card numbers; conflict told from duplicate",
    "frictionless": f"{EVERY_TOOL}; check digits; several rules of one field; offsets in times",
    "pydantic": f"{EVERY_TOOL}; the second broken rule of a field; conflict told from duplicate",
}


def pandera(path: str) -> tuple[int, int]:
    """Check with pandera's polars back end: the rules are expressions over whole columns."""
    import pandera.polars as pa
    import polars as pl
    from pandera.errors import SchemaErrors

    def never(pattern: str) -> pa.Check:
        return pa.Check(lambda data: data.lazyframe.select(~pl.col(data.key).str.contains(pattern)))

    def real_and_past(data: Any) -> pl.LazyFrame:
        moment = pl.col(data.key).str.to_datetime(time_zone="UTC", strict=False)
        return data.lazyframe.select((moment < LATEST).fill_null(value=False))

    token = [pa.Check.str_matches(TOKEN), never(CARD_LIKE), never(E_MAIL)]
    positive = pa.Check(lambda data: data.lazyframe.select(pl.col(data.key).str.contains("[1-9]")))
    schema = pa.DataFrameSchema(
        {
            "cardholder_token": pa.Column(str, [*token, pa.Check.str_length(32, 256)]),
            "card_token": pa.Column(str, token),
            "card_acceptor_id": pa.Column(str, pa.Check.str_matches(ACCEPTOR)),
            "amount": pa.Column(str, [pa.Check.str_matches(AMOUNT), positive]),
            "transaction_ref": pa.Column(str, pa.Check.str_matches(REF), unique=True),
            "transacted_at": pa.Column(
                str, [pa.Check.str_matches(MOMENT), pa.Check(real_and_past)]
            ),
        }
    )
    frame = pl.read_csv(path, infer_schema=False)
    try:
        schema.validate(frame, lazy=True)
    except SchemaErrors as error:
        return frame.height, error.failure_cases.height
    return frame.height, 0


def frictionless(path: str) -> tuple[int, int]:
    """Check with a Frictionless table schema: types, patterns and limits of each field."""
    import frictionless as fr

    def text(name: str, pattern: str, **constraints: Any) -> dict[str, Any]:
        rules = {"required": True, "pattern": pattern.strip("^$"), **constraints}
        return {"name": name, "type": "string", "constraints": rules}

    fields = [
        text("cardholder_token", TOKEN, minLength=32),
        text("card_token", TOKEN),
        text("card_acceptor_id", ACCEPTOR),
        text("amount", AMOUNT),
        text("transaction_ref", REF, unique=True),
        {
            "name": "transacted_at",
            "type": "datetime",
            "format": "%Y-%m-%dT%H:%M:%SZ",
            "constraints": {"required": True, "maximum": f"{LATEST:%Y-%m-%dT%H:%M:%SZ}"},
        },
    ]
    schema = fr.Schema.from_descriptor({"fields": fields})
    with fr.system.use_context(trusted=True):
        report = fr.Resource(path=path, schema=schema).validate(limit_errors=1_000_000)
    return report.tasks[0].stats["rows"], report.stats["errors"]


def pydantic(path: str) -> tuple[int, int]:
    """Check each row of the csv module with a pydantic model, and the references with a set."""
    from typing import Annotated

    from pydantic import AfterValidator, StringConstraints, ValidationError, create_model

    card_like, e_mail = re.compile(CARD_LIKE), re.compile(E_MAIL)

    def opaque(token: str) -> str:
        if (card_like.match(token) and _luhn(token)) or e_mail.match(token):
            raise ValueError("not an opaque token")
        return token

    def positive(text: str) -> str:
        if not Decimal(text) > 0:
            raise ValueError("not positive")
        return text

    def past(text: str) -> str:
        if datetime.fromisoformat(text) > LATEST:
            raise ValueError("in the future")
        return text

    def of(pattern: str, check: Callable[[str], str], **limits: int) -> Any:
        return Annotated[str, StringConstraints(pattern=pattern, **limits), AfterValidator(check)]

    fields: dict[str, Any] = {
        "cardholder_token": of(TOKEN, opaque, min_length=32),
        "card_token": of(TOKEN, opaque),
        "card_acceptor_id": of(ACCEPTOR, str),
        "amount": of(AMOUNT, positive),
        "transaction_ref": of(REF, str),
        "transacted_at": of(MOMENT, past),
    }
    model = create_model("Row", **fields)
    seen: set[str] = set()
    rows = errors = 0
    with open(path, newline="", encoding="utf-8") as file:  # noqa: PTH123
        for rows, record in enumerate(csv.DictReader(file), start=1):  # noqa: B007
            try:
                row: Any = model.model_validate(record)
            except ValidationError as error:
                errors += error.error_count()
                continue
            errors += row.transaction_ref in seen
            seen.add(row.transaction_ref)
    return rows, errors


def _luhn(text: str) -> bool:
    digits = [int(digit) for digit in text if digit.isdigit()][::-1]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def duckdb(path: str, database: str = ":memory:") -> tuple[int, int]:
    """Load the file as it is into a table of text: the baseline, which checks nothing."""
    import duckdb as db

    with db.connect(database) as connection:
        connection.execute(
            "create table transactions as select * from read_csv(?, all_varchar = true)", [path]
        )
        return connection.execute("select count(*) from transactions").fetchall()[0][0], 0


TOOLS: dict[str, Callable[..., tuple[int, int]]] = {
    "duckdb": duckdb,
    "frictionless": frictionless,
    "pandera": pandera,
    "pydantic": pydantic,
}
IMPORTS = {
    "duckdb": ("duckdb",),
    "frictionless": ("frictionless",),
    "pandera": ("polars", "pandera.polars"),
    "pydantic": ("pydantic",),
}


def main(name: str, *arguments: str) -> None:
    """Import what the tool needs, then time the check and print the outcome."""
    for module in IMPORTS[name]:
        __import__(module)
    started = time.perf_counter()
    rows, errors = TOOLS[name](*arguments)
    seconds = time.perf_counter() - started
    print(json.dumps({"rows": rows, "errors": errors, "seconds": seconds}))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
