"""Captured requests, checked; openssl signed them, as `tests/kernel/words/test_signing.py` says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

BODY = b'{"event":"redemption.completed","redemption_id":"r-1"}'
SECRET = "whsec_3mVfZ0aXyQ7"  # noqa: S105 - only tests know it
V1 = "sha256=d88fd7b526abd050e0cf91e4c369ece877c8d33133f427da989780099ce830ae"
V2 = "sha256=150914f123f2e258d1934ce49161b9749f1c29d3618d9dc36df604d78f473a8d"
AT = "2026-01-01T00:00:00Z"
CAPTURED = f"""POST /hooks HTTP/1.1\r
Host: receiver.example\r
X-Service-Signature: {V1}\r
x-service-timestamp:1767225600\r
X-SERVICE-SIGNATURE-V2:  {V2}  \r
\r
"""


@pytest.fixture
def captured(tmp_path: Path) -> Path:
    (tmp_path / "body.json").write_bytes(BODY)
    (tmp_path / "headers.txt").write_text(CAPTURED, newline="")
    secret = tmp_path / "secret"
    secret.touch(mode=0o600)
    secret.write_text(f"{SECRET}\n")
    return tmp_path


def words(captured: Path, *more: object, at: str = AT, form: str = "json") -> list[object]:
    files = ["--headers", captured / "headers.txt", "--secret-file", captured / "secret"]
    body = captured / "body.json"
    return ["webhook", "verify", body, *files, "--as-of", at, "--format", form, *more]


def test_a_genuine_request_is_told_so(cardoffers: Any, captured: Path) -> None:
    ended = cardoffers(*words(captured))
    assert (0, {"ok": True, "failed": []}) == (ended.exit_code, ended.document)


@pytest.mark.parametrize(
    ("failed", "at", "more"),
    [
        (["timestamp_too_old"], "2026-01-01T00:05:01Z", []),
        (["timestamp_in_future"], "2025-12-31T23:54:59Z", []),
        ([], "2026-01-01T00:05:01Z", ["--tolerance", 301]),
        (["v1_wrong"], AT, ["-H", f"x-service-signature: {V2}"]),
        (["v2_wrong"], AT, ["-H", f"x-service-signature-v2: {V1}"]),
        (["v2_wrong"], AT, ["-H", "x-service-timestamp: 1767225601"]),
        (["timestamp_invalid", "v2_wrong"], AT, ["-H", "x-service-timestamp: now"]),
    ],
)
def test_the_rule_that_failed_is_named(
    cardoffers: Any, captured: Path, failed: list[str], at: str, more: list[object]
) -> None:
    ended = cardoffers(*words(captured, *more, at=at))
    assert (3 if failed else 0, failed) == (ended.exit_code, ended.document["failed"])


def test_a_header_that_is_missing_is_named(cardoffers: Any, captured: Path) -> None:
    (captured / "headers.txt").write_text("Host: receiver.example\n")
    ended = cardoffers(*words(captured))
    assert (3, ["v1_missing", "timestamp_missing", "v2_missing"]) == (
        ended.exit_code,
        ended.document["failed"],
    )


def test_every_byte_of_the_body_counts(cardoffers: Any, captured: Path) -> None:
    (captured / "body.json").write_bytes(BODY + b"\n")
    assert ["v1_wrong", "v2_wrong"] == cardoffers(*words(captured)).document["failed"]


def test_a_reader_is_told_what_the_rule_means(cardoffers: Any, captured: Path) -> None:
    ended = cardoffers(*words(captured, at="2026-01-02", form="tsv"))
    assert "Not genuine.\n" == ended.stderr
    assert "timestamp_too_old\tX-Service-Timestamp is too long ago." in ended.stdout


def test_the_secret_may_come_from_the_environment_or_stdin(cardoffers: Any, captured: Path) -> None:
    given = [*words(captured)]
    place = given.index("--secret-file")
    without = given[:place] + given[place + 2 :]
    assert 0 == cardoffers(*without, CARDOFFERS_WEBHOOK_SECRET=SECRET).exit_code
    assert 0 == cardoffers(*without, "--secret-file", "-", stdin=f"{SECRET}\n").exit_code


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620, 0o604])
def test_a_secret_that_others_can_read_is_refused(
    cardoffers: Any, captured: Path, mode: int
) -> None:
    (captured / "secret").chmod(mode)
    ended = cardoffers(*words(captured))
    assert (4, "file_open") == (ended.exit_code, ended.error["code"])
    assert SECRET not in ended.stderr


def test_without_a_secret_nothing_can_be_checked(cardoffers: Any, captured: Path) -> None:
    (captured / "secret").write_text("\n")
    ended = cardoffers(*words(captured))
    assert (2, "secret_missing") == (ended.exit_code, ended.error["code"])


@pytest.mark.parametrize("missing", ["body.json", "headers.txt", "secret"])
def test_a_file_that_is_missing_is_not_found(cardoffers: Any, captured: Path, missing: str) -> None:
    (captured / missing).unlink()
    ended = cardoffers(*words(captured))
    assert (5, "file_missing") == (ended.exit_code, ended.error["code"])


def test_stdin_is_one_thing_only(cardoffers: Any, captured: Path) -> None:
    given = words(captured)
    given[2] = "-"
    ended = cardoffers(*given, "--secret-file", "-")
    assert (2, "usage") == (ended.exit_code, ended.error["code"])
