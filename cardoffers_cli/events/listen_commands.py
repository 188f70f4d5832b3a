"""`cardoffers webhook listen`: a local receiver that verifies what it gets, or misbehaves."""

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import VARIABLE, SecretFile, argument, option, read_secrets
from cardoffers_cli.kernel.cli.show import Column, Sheet, say
from cardoffers_cli.kernel.words import json_text
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.signing import RULES, TOLERANCE_S, check_signature
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from cardoffers_cli.events.receiver import ReceivedEvent


def listen(
    ctx: typer.Context,
    *,
    port: Annotated[int, option("The port; 0 is any free one.", min=0, max=65535)] = 8080,
    host: Annotated[str, option("The address to listen on.")] = "127.0.0.1",
    secret_file: SecretFile = None,
    certificate: Annotated[
        Path | None, option("Speak TLS: certificate and key, PEM.", metavar="FILE")
    ] = None,
    count: Annotated[int | None, option("End after so many requests.", min=1)] = None,
    fail: Annotated[int, option("Answer the first so many with an error.", min=0)] = 0,
    status: Annotated[
        int | None, option("Answer so; with --fail, the errors.", min=200, max=599)
    ] = None,
    delay: Annotated[float, option("Answer late.", min=0, metavar="SECONDS")] = 0,
) -> None:
    """Receive webhooks on this machine, verify them, and show each as it comes."""
    from cardoffers_cli.events.receiver import ReceivedEvent, listening

    context = CommandContext.of(ctx)
    secrets = read_secrets(secret_file)
    place = partial(listening, host=host, port=port, certificate=certificate)
    rows = []
    with (
        suppress(KeyboardInterrupt),  # the way to end it
        place(secrets, status=status, fail=fail, delay_s=delay) as listener,
    ):
        context.note(f"Listening on {listener.url}; Ctrl-C ends it.")
        if not secrets:
            context.note(f"Nothing is verified: name --secret-file, or set {VARIABLE}.")
        for row in islice(listener.rows, count):
            rows.append(row)
            _tell(context, row)
    code = WITH_FINDINGS if any(row.faults for row in rows) else 0
    if _is_live(context):
        raise typer.Exit(code)
    context.show(rows, Sheet.of(ReceivedEvent, "received", rows), exit_code=code, why="")


def _is_live(context: CommandContext) -> bool:
    """Whether each request is written when it comes: to a person, or as a line of JSON."""
    return context.output is None and context.format in {Format.table, Format.jsonl}


def _tell(context: CommandContext, row: "ReceivedEvent") -> None:
    if not _is_live(context):
        context.note(_line(row))
    elif context.format is Format.jsonl:
        say(json_text.dumps(row))
    else:
        say(visible(_line(row)))


def _line(row: "ReceivedEvent") -> str:
    return "  ".join(_parts(row))


def _parts(row: "ReceivedEvent") -> Iterator[str]:
    yield format_moment(row.received_at)
    yield str(row.status)
    if row.verified is not None:
        yield "verified" if row.verified else f"not verified ({', '.join(row.faults)})"
    if row.event is None:
        yield "no event"
        return
    yield f"{row.event} {row.subject or row.redemption_id}"
    if row.subject:
        yield str(row.amount)
    elif row.amount is None:
        yield f"{row.institution_payout_amount} to {row.cardholder_token_masked}"
    else:
        yield f"{row.amount} back from {row.cardholder_token_masked} ({row.reason})"
    if row.copy > 1:
        yield f"copy {row.copy}"


# `cardoffers webhook verify`: is a captured request genuine, and if not, which rule failed.


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
    by_name = _headers([*(_lines(headers) if headers else []), *(header or [])])
    content = sys.stdin.buffer.read(_LONGEST_BODY) if body == "-" else _read(Path(body))
    now_s = int(context.now.replace(tzinfo=UTC).timestamp())
    failed = check_signature(content, by_name, secrets, now_s, tolerance)
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
    from cardoffers_cli.kernel.disk.inputs import open_input

    try:
        with open_input(file) as opened:
            return opened.read()
    except FileNotFoundError:
        raise NotFound(f"There is no file {file}.", code="file_missing") from None
    except IsADirectoryError:
        raise NotFound(f"{file} is a folder.", code="file_missing") from None


def _headers(lines: list[str]) -> dict[str, str]:
    headers = {}
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise UsageError("A header has no name.", hint="Write -H 'Name: value'.")
        headers[match[1]] = match[2]
    return headers
