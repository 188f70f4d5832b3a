"""`cardoffers api`: one call of the HTTP contract, answered in this process."""

import json
import os
import sys
from collections.abc import Mapping
from decimal import Decimal
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from cardoffers_cli.kernel.cli import exits
from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, argument, option
from cardoffers_cli.kernel.cli.people import extra
from cardoffers_cli.kernel.store.clock import Clock
from cardoffers_cli.kernel.words.errors import NotFound, StoreBusy, UsageError

if TYPE_CHECKING:
    from cardoffers_cli.http.contract.messages import Answer, Call


_KEY_VARIABLE = "CARDOFFERS_KEY"
_EXIT_CODES = {401: 4, 403: 4, 404: 5, 409: 4}
_HINTS = {
    401: f"Name a file that holds the API key with --key-file, or set {_KEY_VARIABLE}.",
    404: "`cardoffers api GET /openapi.json` describes every path.",
    503: "Nothing was done. Wait longer with --lock-wait, or try again later.",
}


def api(
    ctx: typer.Context,
    method: Annotated[str, argument("METHOD", "GET or POST.")],
    path: Annotated[str, argument("PATH", "The path, and a query after ?.")],
    *,
    key_file: Annotated[
        Path | None, option(f"A private file with the API key [{_KEY_VARIABLE}].", metavar="FILE")
    ] = None,
    body: Annotated[str | None, option("The body; - reads standard input.", metavar="FILE")] = None,
    header: Annotated[
        list[str] | None, option("One more header.", "-H", metavar="'NAME: VALUE'")
    ] = None,
    include: Annotated[bool, option("Show the status and the headers too.", "--include")] = False,
    dry_run: DryRun = False,
) -> None:
    """Call the HTTP contract without a server, and print the body as it comes."""
    context = CommandContext.of(ctx)
    context.writes({}, reads=[source for source in (body, key_file) if source])
    headers = _headers(header or [])
    key = _key(key_file)
    if key:
        headers["authorization"] = f"Bearer {key}"
    content = b"" if body is None else _content(body)
    if body is not None:
        headers.setdefault("content-type", "application/json")
    answer = _answer(context, _call(method, path, headers, content), dry_run=dry_run)
    if dry_run:
        context.note("Nothing of it was kept (--dry-run).")
    code = _exit_code(answer.status)
    why = _explained(answer) if answer.status >= HTTPStatus.BAD_REQUEST else ""
    if context.is_terminal and why and code != WITH_FINDINGS:
        context.note(why)
    if include and context.format is Format.json:
        flags = {"dry_run": True} if dry_run else {}
        context.show({**_document(answer), **flags}, exit_code=code, why=why)
    else:
        context.write((_head(answer) if include else b"") + answer.body, exit_code=code, why=why)


def _call(method: str, path: str, headers: dict[str, str], body: bytes) -> "Call":
    from cardoffers_cli.http.contract.messages import Call

    place, _, query = path.partition("?")
    return Call(
        method=method.upper(),
        path=place,
        query=query,
        headers=headers,
        body=body,
        request_id=str(uuid4()),
    )


def _answer(context: CommandContext, call: "Call", *, dry_run: bool) -> "Answer":
    from cardoffers_cli.http.contract.service import Service

    service = Service(context.job, lambda: context.now, dry_run=dry_run)
    try:
        (answer,) = service.answer_all([call], wait_s=context.settings.lock_wait_s)
    except StoreBusy:
        (answer,) = service.answer_busy([call])
    return answer.with_headers(x_request_id=call.request_id)


def _headers(lines: list[str]) -> dict[str, str]:
    """Return headers by lower-case name; one given twice is a list (RFC 9110, 5.3)."""
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        if not colon or not name:
            raise UsageError("A header has no name.", hint="Write -H 'Name: value'.")
        if name == "authorization":
            raise UsageError(
                "A key does not belong into a command line, where others can read it.",
                hint=_HINTS[401],
            )
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _key(file: Path | None) -> str:
    """Return the API key, or nothing where none was given."""
    if file is None:
        return os.environ.get(_KEY_VARIABLE, "").strip()
    from cardoffers_cli.kernel.disk.outputs import read_private_file

    return read_private_file(file).strip()


def _content(named: str) -> bytes:
    from cardoffers_cli.kernel.disk.inputs import open_input

    if named == "-":
        return sys.stdin.buffer.read()
    try:
        with open_input(named) as file:
            return file.read()
    except FileNotFoundError:
        raise NotFound(f"There is no file {named}.", code="file_missing") from None


def _exit_code(status: int) -> int:
    if status < HTTPStatus.BAD_REQUEST:
        return 0
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return 15
    return _EXIT_CODES.get(status, WITH_FINDINGS)


def _head(answer: "Answer") -> bytes:
    lines = [f"HTTP {answer.status} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    return "".join(f"{line}\n" for line in [*lines, ""]).encode()


def _document(answer: "Answer") -> Mapping[str, Any]:
    body = json.loads(answer.body, parse_float=Decimal)
    return {"status": answer.status, "headers": dict(answer.headers), "body": body}


def _explained(answer: "Answer") -> str:
    problem = _document(answer)["body"]
    lines = [f"{problem['status']} {problem['title']}: {problem['detail']}"]
    lines += [f"{error['pointer']}: {error['detail']}" for error in problem.get("errors", [])]
    hint = _HINTS.get(answer.status)
    return "\n".join([*lines, f"Hint: {hint}"] if hint else lines)


# `cardoffers serve`: the HTTP contract on a port.


EXTRA = {"h11"}
"""The packages of the extra `serve`."""


def serve(
    ctx: typer.Context,
    *,
    host: Annotated[str, option("Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, option("Port; 0 is any free one.", min=0, max=65535)] = 8484,
    tls_cert: Annotated[Path | None, option("Certificate chain, PEM.", metavar="FILE")] = None,
    tls_key: Annotated[Path | None, option("Its key, PEM.", metavar="FILE")] = None,
    plain_http: Annotated[
        bool, option("No TLS anywhere: a proxy in front ends it.", "--plain-http")
    ] = False,
    port_file: Annotated[
        Path | None, option("Write the port here when it listens.", metavar="FILE")
    ] = None,
    metrics: Annotated[
        bool, option("Answer GET /metrics too, to everybody who reaches the port.", "--metrics")
    ] = False,
    metrics_socket: Annotated[
        Path | None, option("Answer GET /metrics on a socket of this machine.", metavar="FILE")
    ] = None,
) -> None:
    """Answer the HTTP contract on a port, until Ctrl-C or SIGTERM."""
    from cardoffers_cli.copies.work import check_current
    from cardoffers_cli.kernel.sheets.exports import replacing
    from cardoffers_cli.storage.stores import is_free

    with extra("serve", EXTRA, "Serving"):
        from cardoffers_cli.http.listening import ListeningPlace
        from cardoffers_cli.http.server import serve as run
    context = CommandContext.of(ctx)
    context.writes({"--port-file": port_file, "--metrics-socket": metrics_socket})
    check_current(context.job)
    if not is_free(context.job):
        context.note("The store is busy; calls wait for it.")

    def ready(url: str, port: int) -> None:
        context.note(f"Listening on {url}")
        if port_file:
            with replacing(port_file, mode=None) as out:
                out.write(f"{port}\n".encode())

    place = ListeningPlace(
        host=host,
        port=port,
        tls_cert=tls_cert,
        tls_key=tls_key,
        is_plain_allowed=plain_http,
        has_metrics=metrics,
        metrics_socket=metrics_socket,
    )
    run(
        context.job,
        place,
        clock=Clock(context.options.as_of).now,
        log=exits.write_line,
        ready=ready,
    )
