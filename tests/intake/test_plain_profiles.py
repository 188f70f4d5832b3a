"""A file in an institution's own layout is told in plain Python as `validate --profile` tells it.

Both readings of it are compared byte for byte, as `test_plain.py` does: over layouts made by hand,
exports as they were published, and both with something changed by chance.
"""

from __future__ import annotations

import gzip
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.intake import sources
from cardoffers_cli.intake.plain import blocks
from cardoffers_cli.intake.profiles import texts
from cardoffers_cli.intake.profiles.guessing import guess_layout, proposed
from cardoffers_cli.intake.profiles.refunds import profile_of, settled
from layouts import LAYOUTS, MadeLayout
from mutated import MADE, OPTIONS_OF_LAYOUTS, PUT, WHOLE, profile_for
from readings import check
from sizes import FULL, slow, tries

if TYPE_CHECKING:
    from cardoffers_cli.intake.layout_model import Profile

MUTATIONS = 20_000 if FULL else tries(100, 200)
PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "layouts"
EXPORTS = sorted(PUBLISHED.glob("*/export.*"))


@pytest.mark.parametrize("layout", MADE, ids=lambda layout: layout.name)
def test_layouts_made_by_hand(layout: MadeLayout, tmp_path: Path) -> None:
    profile = profile_for(layout.profile)
    for step, content in ((1 << 20, layout.content), (1, gzip.compress(layout.content, mtime=0))):
        told = check(content, tmp_path, step, profile=profile)
        assert '"file_error": null' in str(told["document"])


def test_a_profile_is_read_from_as_from_what_is_settled_of_it() -> None:
    """Each attribute that is read of a profile, however deep, is the same."""
    for layout in MADE:
        profile = profile_for(layout.profile)
        told = profile_of(settled(profile))
        assert [*profile.fields.given()] == [*told.fields.given()]
        for name in ("encoding", "skip_lines", "header", "negatives"):
            assert getattr(profile, name) == getattr(told, name)
        assert [*profile.columns] == [*told.columns]
        assert profile.form.model_dump(mode="json") == vars(told.form)
        for name, field in profile.fields.given().items():
            found = told.fields.given()[name]
            assert [*field.sources] == [*found.sources]
            assert field.model_dump(mode="json").items() <= vars(found).items()
        time, plain = profile.fields.transacted_at, told.fields.transacted_at
        assert time
        assert plain
        for name in ("has_clock", "has_offset", "is_serial"):
            assert getattr(time, name) is getattr(plain, name)
        assert told.fields.network is None


def guessed(path: Path) -> Profile:
    """Return what is guessed of an export, without the making of tokens."""
    guess = guess_layout(path.read_bytes(), is_whole=True)
    assert guess
    lines = proposed(guess, path.name).splitlines()
    return profile_for("\n".join(line for line in lines if "hmac" not in line))


@dataclass(frozen=True)
class Case:
    """A profile, the beginning of a file, and what chance may put into it."""

    profile: Profile
    content: bytes


def cases() -> list[Case]:
    """Return layouts made by hand, and published ones as they are guessed, where these are here."""
    found = [Case(profile_for(each.profile), each.content) for each in MADE]
    for path in EXPORTS:
        profile, lines = guessed(path), path.read_bytes().splitlines(keepends=True)
        is_short = profile.header < 10 and profile.trailer is None
        content = b"".join(lines[: profile.header + 12] if is_short else lines)
        found.append(Case(profile, content))
    return found


@pytest.mark.skipif(not EXPORTS, reason="the published exports are not here")
@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.parent.name)
def test_exports_as_they_were_published(path: Path, tmp_path: Path) -> None:
    told = check(path.read_bytes(), tmp_path, profile=guessed(path), currency="GBP")
    assert '"file_error": null' in str(told["document"])


def changed(case: Case, chance: random.Random) -> bytes:
    """Return a file of which some bytes, or lines, are others."""
    content = case.content
    for _ in range(chance.choice([0, 1, 1, 2, 4, 8])):
        at = chance.randrange(len(content) + 1)
        put = chance.choice([*PUT, bytes([chance.randrange(256)])])
        content = content[:at] + put + content[at + chance.randrange(3) :]
    if chance.random() < 0.2:
        lines = content.splitlines(keepends=True)
        lines += chance.choices(lines or [b""], k=3)
        chance.shuffle(lines) if chance.random() < 0.2 else None
        content = b"".join(lines)
    if chance.random() < 0.1:
        content = content[: chance.randrange(len(content) + 1)]
    return gzip.compress(content, mtime=0) if chance.random() < 0.03 else content


PARTS = 10


@slow
@pytest.mark.parametrize("part", range(PARTS))
def test_files_with_something_changed_by_chance(part: int, tmp_path: Path) -> None:
    """Each file is read by both, in a store of its own, which takes most of the time."""
    known = cases()
    for number in range(MUTATIONS // PARTS):
        chance = random.Random(part * 1_000_000 + number)  # noqa: S311
        case, options = chance.choice(known), chance.choice(OPTIONS_OF_LAYOUTS)
        step = chance.choice([1, 100, 1 << 20])
        check(changed(case, chance), tmp_path, step, profile=case.profile, **options)


@pytest.mark.parametrize("layout", MADE, ids=lambda layout: layout.name)
def test_what_is_counted_stretch_by_stretch(
    layout: MadeLayout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sources, blocks):
        monkeypatch.setattr(module, "BLOCK_BYTES", 90)
        monkeypatch.setattr(module, "LINE_BYTES", 10)
    for module in (sources, blocks, texts):
        monkeypatch.setattr(module, "HEAD_BYTES", 80)
    check(layout.content, tmp_path, 50, profile=profile_for(layout.profile))


GERMAN = LAYOUTS[0]
REFUNDS = (
    b"refund_ref,original_transaction_ref,cardholder_token,card_token,amount,refunded_at\n"
    b"RF-1,TX-1,9fb6f85a8aac50e20c422cac18b44258,ct_1,12.50,2026-03-18T13:12:54Z\n"
)
ODD = {
    "empty": b"",
    "blank": b"\n\n  \n",
    "header": GERMAN.content.partition(b"\n")[0],
    "another header": b"a;b;c\n1;2;3\n",
    "wide": GERMAN.text.encode("utf-16"),
    "wide without a mark": GERMAN.text.encode("utf-16-le"),
    "pdf": b"%PDF-1.7\n1 0 obj",
    "old workbook": b"\xd0\xcf\x11\xe0" + b"\0" * 900,
    "workbook": b"PK\x03\x04\x14\x00\x06\x00xl/workbook.xml",
    "packed workbook": gzip.compress(b"PK\x03\x04\x14\x00\x06\x00", mtime=0),
    "cut off": gzip.compress(GERMAN.content, mtime=0)[:-3],
    "refunds": REFUNDS,
    "refunds, one bad": REFUNDS + REFUNDS.partition(b"\n")[2] + b"x,\n",
    "our own layout": b"cardholder_token,card_token,amount,transaction_ref,transacted_at\na,b\n",
    "a long line": GERMAN.content + b"x" * 70_000 + b"\n" + GERMAN.content.split(b"\n")[1],
    "no line end": GERMAN.content[:-1],
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("layout", [GERMAN, LAYOUTS[3], WHOLE], ids=lambda layout: layout.name)
def test_odd_files(layout: MadeLayout, name: str, tmp_path: Path) -> None:
    check(ODD[name], tmp_path, 100, profile=profile_for(layout.profile))
