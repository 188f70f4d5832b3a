from __future__ import annotations

import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from cardoffers_cli.archive import connecting
from cardoffers_cli.archive.spark import SparkEngine
from cardoffers_cli.kernel.cli.exits import exit_code_of
from cardoffers_cli.kernel.store.binding import Table
from cardoffers_cli.kernel.words.errors import EngineFailed, UsageError
from sizes import slow, tries
from sparks import free_port, sail

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sparks import Spark

ENOUGH_S = 15


@contextmanager
def in_time() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < ENOUGH_S


def one_run() -> pa.Table:
    return pa.table({"run_no": [7]})


def test_where_nothing_listens_the_engine_is_unreachable(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(connecting, "_ANSWER_S", 1)
    port = free_port()
    with in_time(), pytest.raises(EngineFailed) as caught:
        SparkEngine.at(f"sc://127.0.0.1:{port}/;token=secret", "/nowhere")
    assert (15, "engine_unreachable") == (exit_code_of(caught.value), caught.value.code)
    assert f"The engine at sc://127.0.0.1:{port} cannot be reached." == caught.value.message
    assert caught.value.hint
    assert ("", "") == capfd.readouterr()


def test_who_accepts_and_says_nothing_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_ANSWER_S", 1)
    with closing(socket.create_server(("127.0.0.1", 0))) as mute, in_time():
        with pytest.raises(EngineFailed) as caught:
            SparkEngine.at(f"sc://127.0.0.1:{mute.getsockname()[1]}", "/nowhere")
        assert "engine_unreachable" == caught.value.code


def test_a_server_of_something_else_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_ANSWER_S", 2)
    code = "import http.server as s; h = s.HTTPServer(('127.0.0.1', 0), s.BaseHTTPRequestHandler);"
    code += "print(h.server_port, flush=True); h.serve_forever()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as web:
        assert web.stdout is not None
        port = int(web.stdout.readline())
        with in_time(), pytest.raises(EngineFailed) as caught:
            SparkEngine.at(f"sc://127.0.0.1:{port}", "/nowhere")
        web.kill()
    assert "engine_unreachable" == caught.value.code


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:15002", "http://spark:15002", "sc://", "sc://spark:port", "sc://spark/x"]
)
def test_what_is_no_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        SparkEngine.at(url and f"{url}/;token=secret" if url != "sc://spark/x" else url, "/nowhere")
    assert "This is no address of an engine." == caught.value.message
    assert "Give it as sc://host:port." == caught.value.hint


def test_a_server_that_dies_is_unreachable(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connecting._RETRIES, "max_retries", tries(2, 6))
    with sail() as server:
        engine = SparkEngine.at(server.url, str(tmp_path / "work"))
        this_run = engine.put("this_run", one_run())
        server.kill()
        with in_time(), pytest.raises(EngineFailed) as caught:
            engine.count(this_run)
        with in_time():
            engine.close()
    assert "engine_unreachable" == caught.value.code
    assert ("", "") == capfd.readouterr()


@slow
def test_a_server_that_came_back_has_forgotten_the_session(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with sail() as server:
        engine = SparkEngine.at(server.url, str(tmp_path / "work"))
        this_run = engine.put("this_run", one_run())
        server.kill()
    with sail(server.port):
        with in_time(), pytest.raises(EngineFailed) as caught:
            engine.count(this_run)
        engine.close()
    assert "engine_failed" == caught.value.code
    assert ("", "") == capfd.readouterr()


def test_what_the_engine_says_is_not_passed_on(
    spark: Spark, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    engine = SparkEngine.at(spark.url, str(tmp_path / "work"))
    unknown = Table(name="identifiers", identifier="identifiers", columns=())
    with pytest.raises(EngineFailed) as caught:
        engine.count(unknown)
    engine.close()
    assert caught.value.message.startswith(f"The engine at {spark.url} failed (")
    assert "identifiers" not in caught.value.message
    assert ("", "") == capfd.readouterr()


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(UsageError) as caught:
        SparkEngine.at("sc://127.0.0.1", "/nowhere")
    assert "extra_missing" == caught.value.code
    assert "pip install 'cardoffers-cli[spark]'" == caught.value.hint


def test_who_asks_for_no_engine_loads_none() -> None:
    code = (
        "import sys, cardoffers_cli.archive.spark as s; print({'grpc', 'pyspark'} & {*sys.modules})"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "set()" == told.stdout.strip()
