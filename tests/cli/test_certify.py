"""`cardoffers certify`: what files show, level by level, and a certificate checked again."""

from __future__ import annotations

import gzip
import html
import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from browser import browser, shown
from cardoffers_cli.domain.certificates import LEVELS, content_of
from cardoffers_cli.files.html.certificate import page_bytes, read_certificate
from sizes import at_the_gate, slow
from work import new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

AT = ("--as-of", "2026-10-01T00:00:00Z")
HEADER = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"
KEY = "k" * 32
FILES = """
day1    1-10    2026-05-01
day2    11-20   2026-05-02
again   11-20   2026-05-02
changed 5-6     2026-05-01  99.00
day4    21-30   2026-05-04
empty   -       -
late    31-33   2026-05-03
other   41-50   2026-05-05  1.00  new
bad     51-52   2026-05-06  x
card    53-54   2026-05-06  1.00  card
zeros   61-80   2026-05-07  1.00  zeros
stolen  81-90   2026-05-08  1.00  stolen
"""
"""A file a line: the references of its rows, their day, their amount, and what is odd in it."""


REFUNDS = """
refund_ref,original_transaction_ref,amount,refunded_at
R-00001,R-00002,1.00,2026-04-01T12:00:00Z
R-00011,R-00012,1.00,2026-05-02T12:00:00Z
"""
"""Refunds whose references are those of purchases, and mean nothing by it."""

CREDITS = """
transaction_ref,amount,status,credited_at,credit_ref
R-00001,1.00,credited,2026-04-01T12:00:00Z,R-00001
R-00011,1.00,reversed,2026-05-02T12:00:00Z,R-00002
"""
"""Credited rows, which name nobody, under such references too."""


def rows(numbers: str, day: str, amount: str = "1.00", odd: str = "") -> list[str]:
    if numbers == "-":
        return []
    first, last = map(int, numbers.split("-"))
    return [_row(number, day, amount, odd) for number in range(first, last + 1)]


def _row(number: int, day: str, amount: str, odd: str) -> str:
    customer = number % 10 + (number if odd == "new" else 0)
    holder = f"{customer + (100 if odd == 'stolen' else 0):040}x"
    card = "4111111111111111" if odd == "card" else f"ct_{customer}"
    acceptor = str(526101883310029 // (1000 if odd == "zeros" and number % 7 == 0 else 1))
    return f"{holder},{card},{acceptor},{amount},R-{number:05},{day}T12:{number % 60:02}:00Z"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for line in FILES.strip().splitlines():
        name, *told = line.split()
        (tmp_path / f"{name}.csv").write_text("\n".join([HEADER, *rows(*told), ""]))
    (tmp_path / "refunds.csv").write_text(REFUNDS.lstrip())
    (tmp_path / "credits.csv").write_text(CREDITS.lstrip())
    (tmp_path / "shared.key").write_text(f"{KEY}\n")
    (tmp_path / "shared.key").chmod(0o600)
    return tmp_path


def paths(files: str) -> list[str]:
    return [f"{name}.csv" for name in files.split()]


SHOWS = """
files                          exit  level       shown                                     else
day1                           0     format      rows,card numbers,zeros                   stable tokens:missing
day1 day2                      0     content     stable tokens                             -
day1 other                     0     format      rows                                      stable tokens:failed
day1 stolen                    0     format      rows                                      stable tokens:failed
day1 day1                      0     format      duplicate file                            stable tokens:missing
day1 day2 again                0     content     duplicate file                            conflict:missing
day1 day2 changed              0     content     conflict                                  duplicate file:missing
day1 day2 empty                0     content     empty day                                 late file:missing
day1 day2 day4 late            0     content     late file                                 empty day:missing
late day4 day2                 0     content     late file                                 -
day1 day2 day4 again           0     content     duplicate file                            late file:missing
day1 day2 refunds              0     content     refund                                    late file:missing
day1 day2 refunds              0     content     refund                                    conflict:missing
day1 credits                   0     format      rows                                      stable tokens:missing
day1 day2 credits              0     content     stable tokens                             refund:missing
credits day1 day2              0     content     stable tokens                             late file:missing
day1 bad                       3     -           zeros                                     rows:failed
day1 day2 card                 3     -           zeros                                     card numbers:failed
day1 day2 zeros                0     format      card numbers                              zeros:failed
day1 day2 day2 changed empty day4 late  0  content  duplicate file,conflict,empty day,late file  refund:missing
"""  # noqa: E501 - a line is a line


@pytest.mark.parametrize("line", SHOWS.strip().splitlines()[1:], ids=lambda line: line[:34].strip())
def test_what_files_show_is_said_level_by_level(cardoffers: Any, folder: Path, line: str) -> None:
    assert folder
    files, exit_code, level, expected, other = re.split(" {2,}", line)
    ended = cardoffers("certify", *paths(files), "--format", "json", *AT)
    states = {each["check"]: each["state"] for each in ended.document["checks"]}
    assert int(exit_code) == ended.exit_code
    assert (None if level == "-" else level) == ended.document["level"]
    assert {"shown"} == {states[check] for check in expected.split(",")}
    if other != "-":
        check, _, state = other.partition(":")
        assert state == states[check]
    assert "unasked" == states["known merchants"]


PROFILE = """
form = {delimiter = ","}
negatives = "refund"
[fields]
cardholder_token = {column = "cardholder_token"}
card_token = {column = "card_token"}
card_acceptor_id = {column = "card_acceptor_id"}
amount = {column = "amount"}
transaction_ref = {column = "transaction_ref"}
transacted_at = {column = "transacted_at", format = "%Y-%m-%dT%H:%M:%SZ", zone = "UTC"}
"""


def test_every_level_can_be_reached(cardoffers: Any, folder: Path) -> None:
    (folder / "bank.toml").write_text(PROFILE)
    (folder / "day4.csv").write_text(
        "\n".join([HEADER, *rows("21-30", "2026-05-04"), *rows("1-1", "2026-05-04", "-1.00"), ""])
    )
    words = ["--profile", "bank.toml", "--level", "life-cycle", *AT]
    files = paths("day1 day2 day2 changed empty day4 late")
    ended = cardoffers("certify", *files, *words, "-o", "certificate.html")
    page = (folder / "certificate.html").read_text()
    assert (0, True) == (ended.exit_code, "reached the highest level: life cycle." in page)
    without = cardoffers("certify", *files[:2], *words, "--format", "json")
    assert (3, "content") == (without.exit_code, without.document["level"])
    again = cardoffers(
        "certify", "--check", "certificate.html", *files, *words[:2], "--format", "json"
    )
    assert (0, True) == (again.exit_code, again.document["ok"])
    refused = cardoffers("certify", "--check", "certificate.html", *files, "--format", "json")
    assert "profile_other" == refused.error["code"]


@slow
def test_the_catalogue_of_a_store_is_asked_and_its_secret_signs(
    cardoffers: Any, folder: Path
) -> None:
    made = new_store(folder)
    tell(
        made,
        institutions="institution plan currency\nalder growth GBP\nbrook growth GBP",
        merchants="merchant\nbakery",
    )
    words = ["--store", made.path, *AT]
    set_to = ["--url", "https://hooks.alder.example/", "--secret-file", "secret.txt"]
    cardoffers("webhook", "set", "-i", "alder", *set_to, *words)
    cardoffers("merchant", "identify", "bakery", "526101883310029", *words)
    files = paths("day1 day2")
    for name, signs in (("alder", True), ("brook", False)):
        ended = cardoffers("certify", *files, "-i", name, *words, "--format", "json")
        (check,) = [each for each in ended.document["checks"] if each["check"] == "known merchants"]
        assert ("shown", True) == (
            check["state"],
            check["says"].startswith("20 of 20 rows (100.0 %)"),
        )
        assert (name, "GBP") == (ended.document["institution"], ended.document["currency"])
        assert signs == ("hmac_sha256" in ended.document)
    (folder / "certificate.json").write_text(
        cardoffers("certify", *files, "-i", "alder", *words, "--format", "json").stdout
    )
    for key in (["-i", "alder", *words], ["--key-file", "secret.txt"]):
        again = cardoffers(
            "certify", "--check", "certificate.json", *files, *key, "--format", "json"
        )
        assert (0, [True, None, True, True]) == (
            again.exit_code,
            [each["ok"] for each in again.document["checks"]],
        )


# A certificate is checked


def made(cardoffers: Any, *words: str) -> str:
    ended = cardoffers("certify", *words, *AT, "-o", "certificate.html")
    assert 0 == ended.exit_code, ended
    return "certificate.html"


def _swap(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def _reseal(path: Path) -> None:
    """Change the certificate with its digest, as somebody without the key can."""

    certificate = {**read_certificate(path.read_bytes(), "x"), "level": "life cycle"}
    certificate["sha256"] = sha256(content_of(certificate).encode()).hexdigest()
    path.write_bytes(page_bytes(certificate))


CHANGES = {
    "nothing": (lambda _: None, "day1 day2", ()),
    "another order": (lambda _: None, "day2 day1", ()),
    "a file that is gone": (lambda _: None, "day1", ("files", "findings")),
    "a file more": (lambda _: None, "day1 day2 day4", ("files", "findings")),
    "a file that changed": (
        lambda folder: _swap(folder / "day2.csv", "1.00", "1.01"),
        "day1 day2",
        ("files", "findings"),
    ),
    "words of the page": (
        lambda folder: _swap(
            folder / "certificate.html", "reached the level content", "is all good"
        ),
        "day1 day2",
        ("page",),
    ),
    "what was sealed": (
        lambda folder: _swap(
            folder / "certificate.html", "&#34;invalid&#34;: 0", "&#34;invalid&#34;: 1"
        ),
        "day1 day2",
        ("findings", "page", "seal"),
    ),
    "all of it, without the key": (
        lambda folder: _reseal(folder / "certificate.html"),
        "day1 day2",
        ("seal",),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_certificate_that_was_changed_is_found(
    cardoffers: Any, folder: Path, change: str
) -> None:
    page = made(cardoffers, *paths("day1 day2"), "--key-file", "shared.key")
    act, files, expected = CHANGES[change]
    act(folder)
    words = ["--check", page, *paths(files), "--key-file", "shared.key", "--format", "json"]
    ended = cardoffers("certify", *words)
    wrong = sorted(each["check"] for each in ended.document["checks"] if each["ok"] is False)
    assert [*expected] == wrong
    assert (3 if expected else 0, not expected) == (ended.exit_code, ended.document["ok"])


def test_another_key_is_found_and_none_is_refused(cardoffers: Any, folder: Path) -> None:
    page = made(cardoffers, *paths("day1 day2"), "--key-file", "shared.key")
    (folder / "other.key").write_text("o" * 32)
    (folder / "other.key").chmod(0o600)
    (folder / "open.key").write_text("o" * 32)
    (folder / "open.key").chmod(0o644)
    (folder / "short.key").write_text("o")
    (folder / "short.key").chmod(0o600)
    words = ["--check", page, *paths("day1 day2"), "--format", "json"]
    ended = cardoffers("certify", *words, "--key-file", "other.key")
    assert (3, "its signature is not of this key") == (
        ended.exit_code,
        ended.document["checks"][0]["says"],
    )
    for code, more in (
        ("key_missing", []),
        ("file_open", ["--key-file", "open.key"]),
        ("key_short", ["--key-file", "short.key"]),
    ):
        assert code == cardoffers("certify", *words, *more).error["code"]


def test_an_unsigned_certificate_says_so(cardoffers: Any, folder: Path) -> None:
    page = made(cardoffers, *paths("day1 day2"))
    text = (folder / page).read_text()
    assert "Unsigned: its digest tells a change by mistake" in text
    found = json.loads(html.unescape(re.findall(r'<p class="lines">(.*?)</p>', text, re.DOTALL)[0]))
    assert {"sha256"} == {"sha256", "key_id", "hmac_sha256"} & found.keys()
    again = cardoffers("certify", "--check", page, *paths("day1 day2"), "--format", "json")
    assert "it is unsigned, so anybody could have made it" in again.document["checks"][0]["says"]


def test_a_signature_that_was_taken_away_is_missed(cardoffers: Any, folder: Path) -> None:
    page = folder / made(cardoffers, *paths("day1"), "--key-file", "shared.key")
    signed = read_certificate(page.read_bytes(), "x")
    page.write_bytes(page_bytes({k: v for k, v in signed.items() if k not in SIGNATURE}))
    words = ["--check", page, "day1.csv", "--format", "json"]
    ended = cardoffers("certify", *words, "--key-file", "shared.key")
    assert (3, ["seal"]) == (
        ended.exit_code,
        [each["check"] for each in ended.document["checks"] if each["ok"] is False],
    )


SIGNATURE = ("key_id", "hmac_sha256")
ILL_FORMED: list[dict[str, Any]] = [
    *({name: None} for name in ("form", "made_at", "files", "checks", "delimiter")),
    *({"made_at": "soon"}, {"currency": "XYZ"}, {"assume_timezone": "Mars"}, {"level": "best"}),
    *({"files": [{}]}, {"checks": [{"state": "fine"}]}, {"more": 1}),
]


@pytest.mark.parametrize("change", ILL_FORMED, ids=str)
def test_what_has_not_the_form_of_a_certificate_is_none(
    cardoffers: Any, folder: Path, change: dict[str, Any]
) -> None:
    page = folder / made(cardoffers, *paths("day1"))
    certificate = {**read_certificate(page.read_bytes(), "x"), **change}
    certificate["sha256"] = sha256(content_of(certificate).encode()).hexdigest()
    page.write_text(json.dumps(certificate))
    ended = cardoffers("certify", "--check", page, "day1.csv", "--format", "json")
    assert (2, "no_certificate") == (ended.exit_code, ended.error["code"])


def test_a_renamed_and_a_packed_file_are_the_same(cardoffers: Any, folder: Path) -> None:
    page = made(cardoffers, *paths("day1 day2 day2"))
    packed = folder / "x.csv.gz"
    packed.write_bytes(gzip.compress((folder / "day2.csv").read_bytes()))
    (folder / "day1.csv").rename(folder / "y.csv")
    files = ["x.csv.gz", "day2.csv", "y.csv"]
    again = cardoffers("certify", "--check", page, *files, "--format", "json")
    assert (0, True) == (again.exit_code, again.document["ok"])


def test_the_same_files_make_the_same_certificate(cardoffers: Any, folder: Path) -> None:
    words = [*paths("day1 day2 again"), "--key-file", "shared.key"]
    first = (folder / made(cardoffers, *words)).read_bytes()
    assert first == (folder / made(cardoffers, *words)).read_bytes()
    assert KEY.encode() not in first


@pytest.mark.parametrize(
    ("exit_code", "code", "words"),
    [
        (14, "header_missing", ["shared.key"]),
        (14, "file_missing", ["day1.csv", "gone.csv"]),
        (2, "usage", ["day1.csv", "-"]),
        (2, "no_certificate", ["--check", "day1.csv", "day1.csv"]),
        (5, "file_missing", ["--check", "gone.html", "day1.csv"]),
    ],
)
def test_what_cannot_be_certified_is_refused(
    cardoffers: Any, folder: Path, exit_code: int, code: str, words: list[str]
) -> None:
    ended = cardoffers("certify", *words, "-o", "certificate.html", "--debug")
    told = cardoffers("certify", *words, "--format", "json")
    assert (exit_code, exit_code, code) == (ended.exit_code, told.exit_code, told.error["code"])
    assert not (folder / "certificate.html").exists()


@slow
def test_no_value_of_a_row_is_on_a_certificate(cardoffers: Any, folder: Path) -> None:
    assert folder
    files = paths("day1 day2 changed bad card zeros late other")
    for form in ("json", "html", "md", "csv"):
        told = cardoffers("certify", *files, "--format", form, *AT)
        for value in ("R-0", "ct_", "4111111111111111", "526101883310029", "0000000001", "99.00"):
            assert value not in told.stdout + told.stderr


@at_the_gate
@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_fits_every_screen(cardoffers: Any, folder: Path, width: int) -> None:
    page = made(cardoffers, *paths("day1 day2 day2 changed empty day4 late"))
    with browser() as opened, shown(opened, folder / page, width=width) as seen:
        wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert 0 == seen.page.evaluate(wide)
        assert [] == seen.wrong


def test_the_levels_are_those_of_the_option() -> None:
    assert ("format", "content", "life cycle") == LEVELS
