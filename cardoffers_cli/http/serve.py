"""`cardoffers serve`: the HTTP contract on a port."""

from pathlib import Path
from typing import Annotated

import typer

from cardoffers_cli.kernel.cli import exits
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.extras import extra
from cardoffers_cli.kernel.cli.options import option
from cardoffers_cli.kernel.store.clock import Clock

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
    from cardoffers_cli.kernel.sheets.exports import replacing
    from cardoffers_cli.storage.stores import is_free

    with extra("serve", EXTRA, "Serving"):
        from cardoffers_cli.http.listening import ListeningPlace
        from cardoffers_cli.http.server import serve as run
    context = CommandContext.of(ctx)
    context.writes({"--port-file": port_file, "--metrics-socket": metrics_socket})
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
