from __future__ import annotations

import json
from typing import Any

import pytest

from cardoffers_cli.http.access_log import AccessLog
from cardoffers_cli.http.contract.messages import Answer

SECRET = "co_live_canary"  # noqa: S105  a canary


@pytest.fixture
def lines() -> list[str]:
    return []


def line_of(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(lines.pop())
    return found


def test_a_request_is_one_line(lines: list[str]) -> None:
    answer = Answer(
        status=202,
        body=b"123",
        route="/api/v1/transactions",
        key_prefix="co_live_ab12",
        institution="alder",
        unknown_fields=2,
    )
    AccessLog(lines.append).request("an id", "POST", answer, 0.0421)
    line = line_of(lines)
    assert line.pop("time").endswith("Z")
    assert {
        "request_id": "an id",
        "method": "POST",
        "route": "/api/v1/transactions",
        "status": 202,
        "duration_ms": 42,
        "bytes": 3,
        "key_prefix": "co_live_ab12",
        "institution": "alder",
        "code": None,
        "unknown_fields": 2,
    } == line


def test_a_method_of_the_client_s_own_is_left_out(lines: list[str]) -> None:
    AccessLog(lines.append).request("an id", SECRET, Answer(status=405), 0)
    assert line_of(lines)["method"] is None


def failing(text: str) -> None:
    try:
        _ = {}[text]
    except KeyError as error:
        raise ValueError(text) from error


def test_a_fault_is_located_and_never_quoted(lines: list[str]) -> None:
    log = AccessLog(lines.append)
    for request_id in ("failed", "fine"):
        if request_id == "failed":
            with pytest.raises(ValueError, match="canary") as caught:
                failing(SECRET)
            log.fault(request_id, caught.value)
        log.request(request_id, "GET", Answer(status=500), 0)
    assert "fault" not in line_of(lines)
    written = lines[0]
    fault = line_of(lines)["fault"]
    assert ("ValueError", "KeyError") == (fault["class"], fault["cause"]["class"])
    assert fault["places"][-1].endswith(" failing")
    assert SECRET not in written
