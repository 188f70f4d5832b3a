"""What a check lets pass, an import takes: a file that validates clean has 0 rejects.

But for one row: a last line without a line end is a warning of a check, and an error of an import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.intake.transactions import FileReading
from cardoffers_cli.river.checks import validate
from cardoffers_cli.river.receiving import Outputs
from sizes import at_the_gate, tries
from tables import NOON
from work import file_of, job, new_store, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

ROWS = "ref cardholder amount\n" + "\n".join(f"r{n} c{n % 3} {n}.5" for n in range(1, 9))
ODD = [
    b'"',
    b",",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b"@x.zz",
    b"\xc3\xa9",
    b"\xff",
    b"-",
    b"4111111111111111",
]
CHANGES = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 3), st.sampled_from([b"", *ODD])), max_size=6
)


def changed(content: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    """Put other bytes in the place of a few, behind the header."""
    start = content.index(b"\n") + 1
    for where, width, instead in changes:
        at = start + int(where * (len(content) - start))
        content = content[:at] + instead + content[at + width :]
    return content


@at_the_gate
@profile(max_examples=tries(4, 25), deadline=None)
@examples(changes=CHANGES)
def test_what_validates_clean_is_taken_whole(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[float, int, bytes]]
) -> None:
    folder: Path = tmp_path_factory.mktemp("clean")
    path = file_of(folder / "tx.csv", ROWS)
    path.write_bytes(changed(path.read_bytes(), changes))
    valid = folder / "valid.csv"
    told = validate(str(path), FileReading(now=NOON), job(), outputs=Outputs(valid=valid))
    assert told.file_error is None
    again = validate(str(valid), FileReading(now=NOON), job(), outputs=Outputs())
    assert (told.valid, 0, 0) == (again.received, again.invalid, again.duplicates)
    made = new_store(folder)
    tell(made, institutions="institution\nalder")
    imported = taken(made, valid)
    # A last line without its end may be cut: a check warns of it, an import takes the others.
    cut = int(again.is_unterminated)
    assert (told.valid - cut, cut, 0) == tuple(
        imported[name] for name in ("accepted", "invalid", "duplicates")
    )
