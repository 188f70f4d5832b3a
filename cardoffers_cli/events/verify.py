"""`cardoffers webhook verify`: is a captured request genuine, and if not, which rule failed."""

import re
import sys
from datetime import UTC
from pathlib import Path
from typing import Annotated

import typer

from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import argument, option
from cardoffers_cli.kernel.cli.secret import VARIABLE, SecretFile, read_secrets
from cardoffers_cli.kernel.cli.show import Column, Sheet
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.signing import RULES, TOLERANCE_S, check_signature

_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*(.*)")
_LONGEST_BODY = 1024 * 1024

FAILED = (Column("rule"), Column("meaning"))


def verify(
    ctx: typer.Context,
    body: Annotated[str, argument("BODY", "The raw body; - is stdin.")],
    *,
    header: Annotated[
        list[str] | None, option("One header.", "-H", metavar="'NAME: VALUE'")
    ] = None,
    headers: Annotated[
        Path | None, option("A file of headers, one a line.", metavar="FILE")
    ] = None,
    secret_file: SecretFile = None,
    tolerance: Annotated[
        int, option("How old a timestamp may be.", min=0, metavar="SECONDS")
    ] = TOLERANCE_S,
) -> None:
    """Check the signatures of a captured webhook, as a receiver must, and say which rule failed."""
    context = CommandContext.of(ctx)
    if body == "-" and secret_file == Path("-"):
        raise UsageError("Standard input cannot be both the body and the secret.")
    secrets = read_secrets(secret_file)
    if not secrets:
        raise UsageError(
            "There is no secret to check with.",
            code="secret_missing",
            hint=f"Name --secret-file, or set {VARIABLE}.",
        )
    given = _headers([*(_lines(headers) if headers else []), *(header or [])])
    content = sys.stdin.buffer.read(_LONGEST_BODY) if body == "-" else _read(Path(body))
    now_s = int(context.now.replace(tzinfo=UTC).timestamp())
    failed = check_signature(content, given, secrets, now_s, tolerance)
    rows = [{"rule": rule, "meaning": RULES[rule]} for rule in failed]
    if not failed:
        context.note("Genuine: V1, V2 and the timestamp fit.")
    document = {"ok": not failed, "failed": failed}
    exit_code, why = (WITH_FINDINGS, "Not genuine.") if failed else (0, "")
    context.show(document, Sheet("failed", FAILED, rows), exit_code=exit_code, why=why)


def _lines(file: Path) -> list[str]:
    """Return the lines of a captured head that are headers: request lines and blanks are none."""
    text = _read(file).decode("utf-8", "replace")
    return [line for line in text.splitlines() if _HEADER.fullmatch(line)]


def _read(file: Path) -> bytes:
    from cardoffers_cli.intake.sources import open_input

    try:
        with open_input(file) as opened:
            return opened.read()
    except FileNotFoundError:
        raise NotFound(f"There is no file {file}.", code="file_missing") from None
    except IsADirectoryError:
        raise NotFound(f"{file} is a folder.", code="file_missing") from None


def _headers(lines: list[str]) -> dict[str, str]:
    found = {}
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise UsageError("A header has no name.", hint="Write -H 'Name: value'.")
        found[match[1]] = match[2]
    return found
