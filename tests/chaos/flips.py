"""One bit or byte of one file that is another, and what the commands then say.

Either every answer is as before, or one of them says that something is damaged, ends as the table
of exit codes has it, and names what to do. An answer that is another without a word is `silent`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.cli.exits import EXIT_CODES
from cardoffers_cli.kernel.words.errors import CardoffersError
from chaos.judging import Fault, Tables, content
from chaos.places import STORE
from chaos.strikes import Struck
from work import held

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from chaos.children import Ended
    from chaos.places import Places

QUESTIONS = (
    "status --format json",
    "report redemptions --all --format json",
    "doctor --strict --format json",
)
MORE = {
    "/usage": ("audit list --format json",),
    ".checksum": ("store restore backup.duckdb --yes --dry-run --format json",),
    "/night": ("nightly drop --format json",),
    "/sender": ("webhook send --dry-run --format json",),
    ".parquet": ("report unresolved --format json",),
    "backup.duckdb": ("store restore backup.duckdb --yes --dry-run --format json",),
    "backup.duckdb.secrets": ("store restore backup.duckdb --yes --dry-run --format json",),
    "result.json": ("run list --format json",),
}
"""What is asked besides, by how the name of the file ends."""
_FROM_SNAPSHOT = "report redemptions --all --format json --lock-wait 0"
_SAID = {row.code for row in EXIT_CODES} - {0, 1, 2}


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What the commands answer; and what the store holds for whoever reads all of it.

    Where that cannot be read it is the code of what is said.
    """

    ended: dict[str, Ended]
    tables: Tables | str


def stage_of(name: str) -> str:
    """Return the stage whose file is to be damaged."""
    return "logged" if name.endswith(".wal") else "over"


def files(places: Places) -> list[str]:
    """Return the files of a store and beside it, each kind once."""
    found = [f"{STORE}.wal"]
    place = places.put("over")
    for path in sorted(place.rglob("*")):
        name = str(path.relative_to(place))
        is_ours = name.startswith((STORE, "backup", "history/", "runs/"))
        if path.is_file() and is_ours and not any(kind_of(name) == kind_of(each) for each in found):
            found.append(name)
    return found


def kind_of(name: str) -> str:
    """Return the name of a file, of one with others of its kind that of the kind."""
    first, _, rest = name.partition("/")
    if first.endswith(".d"):
        return name
    return f"{first}/{rest.partition('/')[0]}" if first == "history" else (first if rest else name)


def asked(places: Places, name: str) -> Answers:
    """Ask what is to be asked of a place in which a file may be damaged."""
    ended = {}
    if name.endswith("/snapshot"):
        with held(places.place / STORE):
            ended[_FROM_SNAPSHOT] = places.run(_FROM_SNAPSHOT.split())
    for end, more in MORE.items():
        if name.endswith(end):
            ended |= {line: places.run(line.split()) for line in more}
    ended |= {line: places.run(line.split()) for line in QUESTIONS}
    return Answers(ended=ended, tables=_tables(places.place))


def _tables(place: Path) -> Tables | str:
    try:
        found = content(place, only=STORE).tables
    except CardoffersError as error:
        return error.code
    return found


def flip(path: Path, chance: random.Random) -> str:
    """Let one bit or byte of a file be another, or one be in an empty one; return which."""
    data = bytearray(path.read_bytes() or b"\0")
    place = chance.randrange(len(data))
    data[place] ^= 1 << chance.randrange(8) if chance.random() < 1 / 2 else chance.randint(1, 255)
    path.unlink()  # or what it is a link of would be another too
    path.write_bytes(data)
    path.chmod(0o600)
    return f"byte {place:,} of {len(data):,}"


def flipped(places: Places, name: str, before: Answers, chance: random.Random) -> Struck:
    """Damage a file, ask, and judge the answers."""
    places.put(stage_of(name))
    how = flip(places.place / name, chance)
    after = asked(places, name)
    told = [
        f"{line}: {ended.stderr.strip()}"
        for line, ended in after.ended.items()
        if ended.exit_code in _SAID and ended.exit_code != before.ended[line].exit_code
    ]
    faults = [
        Fault(kind="other", text=f"{line}: exit {ended.exit_code}: {ended.stderr.strip()}")
        for line, ended in after.ended.items()
        if ended.exit_code not in _SAID and ended.exit_code != before.ended[line].exit_code
    ]
    if not told and not faults and after != before:
        faults.append(_unseen(after))
    return Struck(how=how, ended=after == before, told=told, faults=faults)


def _unseen(after: Answers) -> Fault:
    """Say what is wrong where nothing was said: the store fails when all of it is read, or lies."""
    if isinstance(after.tables, str):
        return Fault(kind="other", text="doctor --strict does not see it")
    return Fault(kind="silent", text="another answer")
