"""Hostile drop folders: whatever one institution puts there, the night of the others is whole.

Nothing outside is written, nothing of others is read, and each of these things has its finding. The
swaps at every single step are in `tests/drop/test_claims.py`; here they are made at random, by a
second process, and by a second user where root is there to be one.
"""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import signal
import socket
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest

from cardoffers_cli.drop.claims import FileClaim
from cardoffers_cli.kernel.disk.folders import OpenFolder
from cardoffers_cli.night import run
from cardoffers_cli.night.options import NightObserver, NightOptions
from cardoffers_cli.night.run import run_night
from cardoffers_cli.river import imports
from disks import small_disk
from sizes import at_the_gate, one_in, slow
from work import Job, file_of, found, job, new_store, short_nights, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GOOD = "ref  amount\nr1   10.00\nr2   2.50"
CANARY = "ref  amount\ncanary-reference  77.00"
HEADER = b"cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"
LIMITS = {"quiet_s": 0, "file_most_bytes": 1 << 30, "file_most_unpacked_bytes": 8 << 20}
STORE = "store.duckdb"
BANK, OTHER_BANK = 5001, 5002


@pytest.fixture(autouse=True)
def _short(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "whole_nights" not in request.fixturenames:
        short_nights(monkeypatch, "import")


@pytest.fixture
def whole_nights() -> None:
    """Nights with all of their steps."""


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return world(tmp_path)


def world(base: Path, **limits: Any) -> Job:
    """Make a store of three institutions, a drop folder, a good file of birch, and a canary."""
    new_store(base, STORE)
    made = job(base / STORE, **{**LIMITS, **limits})
    tell(made, institutions="institution\nalder\nbirch\ncedar")
    for name in ("alder", "birch", "cedar"):
        (base / "drop" / name).mkdir(parents=True)
    file_of(base / "drop" / "birch" / "tx.csv", GOOD)
    file_of(base / "drop" / "birch" / ".hidden", CANARY)
    (base / "outside").mkdir()
    file_of(base / "outside" / "secret", CANARY)
    return made


def base_of(made: Job) -> Path:
    return made.path.parent


def alder(made: Job) -> Path:
    return base_of(made) / "drop" / "alder"


def night(made: Job) -> dict[str, Any]:
    return run_night(made, NightOptions(drop=base_of(made) / "drop"))


def codes(result: dict[str, Any], institution: str = "alder") -> dict[str, str]:
    """Return the code of the finding on each file of an institution."""
    return {
        each["file"].removeprefix(f"{institution}/"): each["code"]
        for each in result["findings"]
        if str(each.get("file", "")).startswith(institution)
    }


@contextmanager
def nothing_else(made: Job) -> Iterator[None]:
    """Hold that the others' night is whole, that nothing outside changes, and nothing gets in."""
    outside = base_of(made) / "outside"
    before = states(outside)
    yield
    assert before == states(outside)
    taken = "select count(*), sum(amount) from purchases join institutions using (institution_id)"
    assert [(2, 12.5)] == [
        (rows, float(amount)) for rows, amount in found(made, f"{taken} where slug = 'birch'")
    ]
    assert [] == found(made, "select * from purchases where transaction_ref like 'canary%'")
    for path in (base_of(made) / "processed").rglob("*"):
        assert not path.is_symlink(), path
        if path.is_file():
            with path.open("rb") as file:
                assert b"canary" not in file.read(1 << 20), path
    assert ["tx.csv"] == sorted(
        path.name for path in (base_of(made) / "processed" / "birch" / "done").iterdir()
    )


def states(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def csv(path: Path, text: str = GOOD) -> None:
    """Put a good file there; its first reference is its own, and so is the amount of that."""
    own = crc32(os.fsencode(path.name))
    text = text.replace("r1", f"{own:08x}-1").replace("10.00", f"{10 + own % 1_000_000}.00")
    file_of(path, text.replace("r2", "r-2"))


def content(data: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(data) and None


def manifest(text: str) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        csv(path)
        path.with_name(f"{path.name}.manifest.json").write_text(text)

    return put


def beside(end: str, how: Callable[[Path], Any]) -> Callable[[Path], None]:
    """Put a good file there, and something else under a name beside it."""

    def put(path: Path) -> None:
        csv(path)
        how(path.with_name(path.name + end))

    return put


def link(to: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(to)


def second_name(of: str) -> Callable[[Path], None]:
    return lambda path: path.hardlink_to(path.parents[2] / of)


def socket_at(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening, chdir(path.parent):
        listening.bind(path.name)


@contextmanager
def chdir(folder: Path) -> Iterator[None]:
    """Names of sockets are short; so it is bound from its folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def folder_with_file(path: Path) -> None:
    path.mkdir()
    csv(path / "inside.csv")


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def packed(data: bytes) -> Callable[[Path], None]:
    return content(gzip.compress(data, 1))


STRAYS_BESIDE = "a.csv.done b.csv.manifest.json c.csv.manifest.json d.csv.manifest.json"
STRAYS_BESIDE += " e.csv.errors.csv f.csv.errors.csv g.csv.rejected.csv"
BOMB = HEADER + b"\n" * (9 << 20)
TAKEN = None
"""It is a good file after all, and is taken."""

# name -> what is put there, and the code of the finding on it (by the name that the finding has)
HOSTILE: dict[str, tuple[Callable[[Path], Any], str | None]] = {
    # links, of each kind and to each place
    "link.csv": (link("../../outside/secret"), "stray_file"),
    "link-to-birch.csv": (link("../birch/tx.csv"), "stray_file"),
    "link-to-store.csv": (link(f"../../{STORE}"), "stray_file"),
    "link-to-passwd.csv": (link("/etc/passwd"), "stray_file"),
    "link-to-a-folder.csv": (link("../birch"), "stray_file"),
    "link-to-itself.csv": (link("link-to-itself.csv"), "stray_file"),
    "dangling.csv": (link("/nowhere"), "stray_file"),
    "second-name.csv": (second_name("outside/secret"), "file_linked"),
    "second-name-of-birch.csv": (second_name("drop/birch/.hidden"), "file_linked"),
    "done": (link("../../outside"), "stray_file"),
    "failed": (link("../birch"), "stray_file"),
    # what is no file
    "fifo.csv": (os.mkfifo, "stray_file"),
    "socket.csv": (socket_at, "stray_file"),
    "folder.csv": (folder_with_file, "stray_file"),
    # beside a good file
    "a.csv": (beside(".done", link("../../outside/secret")), TAKEN),
    "b.csv": (beside(".manifest.json", link("../../outside/secret")), TAKEN),
    "c.csv": (beside(".manifest.json", os.mkfifo), TAKEN),
    "d.csv": (beside(".manifest.json", os.mkdir), TAKEN),
    "e.csv": (beside(".errors.csv", link("../../outside/secret")), TAKEN),
    "f.csv": (beside(".errors.csv", os.mkfifo), TAKEN),
    "g.csv": (beside(".rejected.csv", os.mkdir), TAKEN),
    "h.csv": (beside(".manifest.json", second_name("outside/secret")), TAKEN),
    # names
    f"{'n' * 236}.csv": (csv, TAKEN),
    f"{'n' * 235}\N{LATIN SMALL LETTER E WITH ACUTE}.csv": (csv, TAKEN),
    "two\nlines.csv": (csv, TAKEN),
    "\x1b[31mred.csv": (csv, TAKEN),
    "-rf.csv": (csv, TAKEN),
    " .csv": (csv, TAKEN),
    "%s{0}$(id).csv": (csv, TAKEN),
    "taken": (csv, TAKEN),
    os.fsdecode(b"latin-\xe9.csv"): (csv, "stray_file"),
    # manifests
    "m1.csv": (manifest('{"rows": 1e999999999}'), "manifest_invalid"),
    "m2.csv": (manifest('{"amount_sum": "sNaN"}'), "manifest_invalid"),
    "m3.csv": (manifest('{"amount_sum": Infinity}'), "manifest_invalid"),
    "m4.csv": (manifest('{"rows": ' + "9" * 1_000_000 + "}"), "manifest_invalid"),
    "m5.csv": (manifest("[" * 900_000), "manifest_invalid"),
    "m6.csv": (manifest('{"rows": 2, "amount_sum": 99999999999999999999999}'), "manifest_mismatch"),
    "m7.csv": (manifest('{"sha256": "../../outside"}'), "manifest_mismatch"),
    # bombs
    "bomb.csv.gz": (packed(BOMB), "file_unpacks_too_large"),
    "bomb-of-zeros.gz": (packed(bytes(64 << 20)), "file_encoding"),
    "sparse.csv": (sparse, "file_too_large"),
    "cut.csv.gz": (content(gzip.compress(HEADER)[:-4]), "file_corrupt"),
    "twice.csv.gz": (packed(gzip.compress(HEADER)), "file_binary"),
    "nothing.csv": (content(b""), "file_empty"),
    "brackets.json": (content(b"[" * 100_000), "json_syntax"),
}
if os.geteuid() == 0:
    HOSTILE["null.csv"] = (lambda path: os.mknod(path, 0o20666, os.makedev(1, 3)), "stray_file")
    HOSTILE["disk.csv"] = (lambda path: os.mknod(path, 0o60660, os.makedev(7, 0)), "stray_file")


def shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


@slow
@pytest.mark.usefixtures("whole_nights")
def test_each_hostile_thing_has_its_finding_and_stops_no_other(made: Job) -> None:
    """All of them at once, one after the other in one folder, and again on the night after.

    It takes its seconds, because each of fifty files is a transaction.
    """
    for name, (put, _) in HOSTILE.items():
        put(alder(made) / name)
    began = time.monotonic()
    with nothing_else(made):
        result = night(made)
    assert "finished" == result["status"]
    told = codes(result)
    missed = {
        name: (code, told.get(shown(name)))
        for name, (_, code) in HOSTILE.items()
        if code != told.get(shown(name))
    }
    assert {} == missed
    assert {"stray_file"} == {told[name] for name in STRAYS_BESIDE.split()}
    ended = {each["file"].removeprefix("alder/"): each["status"] for each in result["imports"]}
    assert {"imported"} == {ended[name] for name, (_, code) in HOSTILE.items() if code is TAKEN}
    strays = {name for name, code in told.items() if code in {"stray_file", "file_linked"}}
    with nothing_else(made):
        again = night(made)
    assert "nothing_new" == again["status"]
    assert strays <= {shown(path.name) for path in alder(made).iterdir()}
    assert time.monotonic() - began < 500, "nothing of it hangs"


# Folders


def as_link_to_another(drop: Path) -> None:
    shutil.rmtree(drop / "alder")
    (drop / "alder").symlink_to("birch")


def as_link_outside(drop: Path) -> None:
    shutil.rmtree(drop / "alder")
    (drop / "alder").symlink_to(drop.parent / "outside")


def as_file(drop: Path) -> None:
    shutil.rmtree(drop / "alder")
    csv(drop / "alder")


def as_fifo(drop: Path) -> None:
    shutil.rmtree(drop / "alder")
    os.mkfifo(drop / "alder")


def without(drop: Path) -> None:
    shutil.rmtree(drop / "alder")


@slow
@pytest.mark.parametrize(
    ("how", "code"),
    [
        (as_link_to_another, "stray_file"),
        (as_link_outside, "stray_file"),
        (as_file, "stray_file"),
        (as_fifo, "stray_file"),
        (without, None),
    ],
)
@one_in(3)
def test_a_folder_that_is_none_is_left_alone(
    made: Job, how: Callable[[Path], None], code: str | None
) -> None:
    how(base_of(made) / "drop")
    with nothing_else(made):
        result = night(made)
    assert code == codes(result).get("alder")


@slow
@pytest.mark.parametrize("how", [as_link_to_another, as_link_outside, as_file, as_fifo, without])
@pytest.mark.parametrize("at", ["looked", "claimed"])
@one_in(3)
def test_a_folder_that_is_exchanged_meanwhile_is_not_followed(
    made: Job, monkeypatch: pytest.MonkeyPatch, how: Callable[[Path], None], at: str
) -> None:
    csv(alder(made) / "tx.csv")
    owner, name = (run, "begin") if at == "looked" else (FileClaim, "_take")
    act = getattr(owner, name)

    def exchanging(*given: Any, **more: Any) -> Any:
        if at == "looked":
            begun = act(*given, **more)
            how(base_of(made) / "drop")
            return begun
        if given[0].institution == "alder":
            how(base_of(made) / "drop")
        return act(*given, **more)

    monkeypatch.setattr(owner, name, exchanging)
    with nothing_else(made):
        result = night(made)
    (ended,) = [each for each in result["imports"] if each["institution"] == "alder"]
    assert ended["status"] in {"gone", "changed"}


# What a file does to its import


@slow
def test_an_error_that_nobody_foresaw_is_the_files_own(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told by its class, without its words: those might hold a value."""
    taken = imports.take_in

    def failing(store: Any, file: Any, *given: Any, **more: Any) -> Any:
        result = taken(store, file, *given, **more)
        if file.name.startswith("alder/"):
            raise ZeroDivisionError("canary")
        return result

    monkeypatch.setattr(imports, "take_in", failing)
    csv(alder(made) / "tx.csv")
    with nothing_else(made):
        result = night(made)
    assert {"tx.csv": "import_failed"} == codes(result)
    (told,) = [each["message"] for each in result["findings"] if each["code"] == "import_failed"]
    assert "ZeroDivisionError" in told
    assert "canary" not in str(result)
    kept = base_of(made) / "processed" / "alder" / "failed"
    assert ["tx.csv", "tx.csv.errors.csv"] == sorted(path.name for path in kept.iterdir())
    assert [(0,)] == found(made, "select count(*) from imports where file_name like 'alder/%'")


class Told(NightObserver):
    """Somebody told the program to stop."""

    def is_stopping(self) -> bool:
        return True


def test_a_night_that_is_told_to_stop_blames_no_file(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a statement the engine puts an error of its own in the signal's place."""

    def interrupted(*_given: Any, **_more: Any) -> Any:
        raise RuntimeError("Query interrupted")

    csv(alder(made) / "tx.csv")
    order = NightOptions(drop=base_of(made) / "drop")
    with monkeypatch.context() as patched:
        patched.setattr(imports, "take_in", interrupted)
        with pytest.raises(RuntimeError):
            run_night(made, order, Told())
    with nothing_else(made):
        result = night(made)
    assert {} == codes(result)
    assert {"imported"} == {each["status"] for each in result["imports"]}


@pytest.mark.parametrize(
    ("limits", "data", "code"),
    [
        ({"file_most_rejects": 10}, HEADER + b"x\n" * 11, "too_many_rejects"),
        ({"file_most_rejects": 10}, HEADER + b"x\n" * 10, "rows_rejected"),
        ({"file_most_seconds": 1e-9}, HEADER + b"x\n", "file_too_slow"),
        ({"file_most_bytes": 80}, HEADER, "file_too_large"),
    ],
)
@one_in(2)
def test_a_file_keeps_within_its_bounds(
    tmp_path: Path, limits: dict[str, Any], data: bytes, code: str
) -> None:
    made = world(tmp_path, **limits)
    (base_of(made) / "drop" / "birch" / "tx.csv").unlink()
    (alder(made) / "tx.csv").write_bytes(data)
    result = night(made)
    assert ("finished", {"tx.csv": code}) == (result["status"], codes(result))
    state = "done" if code == "rows_rejected" else "failed"
    assert (tmp_path / "processed" / "alder" / state / "tx.csv").exists()


def refuse(*_given: Any, **_more: Any) -> None:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@pytest.mark.parametrize("how", ["too large", "too large, elsewhere", "not to be moved"])
@one_in(3)
def test_what_to_look_at_and_where_a_file_is_kept_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A file stays where it lay if it cannot be moved, or is too large for a copy of it."""
    made = world(tmp_path, file_most_bytes=1 if how.startswith("too large") else 1000)
    with small_disk(tmp_path / "disk", "1m") as disk:
        drop = (disk if how == "too large, elsewhere" else tmp_path) / "drop"
        (drop / "alder").mkdir(parents=True, exist_ok=True)
        csv(drop / "alder" / "tx.csv")
        if how == "not to be moved":
            monkeypatch.setattr(OpenFolder, "move", refuse)
        result = run_night(made, NightOptions(drop=drop))
        stays = (drop / "alder" / "tx.csv").exists()
    assert stays is (how != "too large")
    (told,) = [each for each in result["findings"] if each.get("institution") == "alder"]
    (file,) = [each for each in result["imports"] if each["institution"] == "alder"]
    assert stays is (file["kept_as"] is None)
    assert stays or Path(file["kept_as"]).exists()
    assert stays is (told["next"] == file["file_error"]["hint"])
    assert stays or Path(told["next"].removeprefix("cat ")).exists()


def with_card_numbers(right: int, unreadable: int) -> bytes:
    """Return a file with references that are card numbers, and with rows that are nothing."""
    numbers = [4 * 10**15 + 10 * number for number in range(right)]
    refs = [number + -luhn(number) % 10 for number in numbers]
    rows = [f"c0,card,M0,1.00,{ref},2026-06-01T11:00:00Z\n".encode() for ref in refs]
    return HEADER + b"".join(rows) + b"x\n" * unreadable


def luhn(number: int) -> int:
    digits = str(number)
    return sum(map(int, digits[::-2])) + sum(sum(divmod(2 * int(n), 10)) for n in digits[-2::-2])


@slow
@pytest.mark.parametrize(
    ("right", "unreadable", "code"),
    [
        (11, 0, "too_many_rejects"),
        (6, 5, "too_many_rejects"),
        (10, 0, "rows_rejected"),
        (6, 4, "rows_rejected"),
    ],
)
@one_in(2)
def test_rows_that_the_end_of_a_file_makes_invalid_count(
    tmp_path: Path, right: int, unreadable: int, code: str
) -> None:
    made = world(tmp_path, file_most_rejects=10)
    (alder(made) / "tx.csv").write_bytes(with_card_numbers(right, unreadable))
    assert {"tx.csv": code} == codes(night(made))
    if code == "rows_rejected":
        refused = "select count(distinct line) from rejects where code = 'card_number'"
        assert [(right,)] == found(made, refused)


ENDLESS = "select count(*) from range(10000000000) a, range(10000000000) b"


@slow
def test_what_runs_in_the_store_is_broken_off_too(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement that would run for hours ends with the time of its file."""
    slow = job(made.path, **{**LIMITS, "file_most_seconds": 3})
    taken = imports.take_in

    def endless(store: Any, file: Any, *given: Any, **more: Any) -> Any:
        if file.name.startswith("alder/"):
            with monkeypatch.context() as patch:
                patch.setattr(
                    "cardoffers_cli.kernel.store.binding.statement", lambda _name: ENDLESS
                )
                store.rows("storage/overview:last_runs")
        return taken(store, file, *given, **more)

    monkeypatch.setattr(imports, "take_in", endless)
    csv(alder(made) / "tx.csv")
    with nothing_else(made):
        result = night(slow)
    assert {"tx.csv": "file_too_slow"} == codes(result)


@slow
def test_an_institution_has_so_many_files_in_a_night(tmp_path: Path) -> None:
    made = world(tmp_path, file_most_per_institution=2)
    for number in range(5):
        csv(alder(made) / f"{number}.csv")
    with nothing_else(made):
        result = night(made)
    assert ["0.csv", "1.csv"] == [
        each["taken_as"] for each in result["imports"] if each["institution"] == "alder"
    ]
    (told,) = [each for each in result["findings"] if each["code"] == "too_many_files"]
    assert ("alder", 3) == (told["institution"], told["count"])
    later = night(made)
    assert ["2.csv", "3.csv"] == [each["taken_as"] for each in later["imports"]]


# A second process, and a second user


def swap_for_ever(folder: Path, secret: Path) -> None:
    """Exchange every name that a night might touch, as fast as it goes."""
    os.chdir(folder)
    new, turn = Path(".new"), 0
    while True:
        turn += 1
        for name in ("tx.csv", "tx.csv.manifest.json", "tx.csv.done", "done", "failed"):
            with suppress(OSError):
                new.unlink()
            with suppress(OSError):
                if turn % 3 == 0:
                    new.symlink_to(secret)
                elif turn % 3 == 1:
                    new.write_bytes(HEADER)
                else:
                    new.hardlink_to(secret)
                new.rename(name)


@contextmanager
def second_process(act: Callable[[], None], user: int | None = None) -> Iterator[None]:
    """Run something in a process of its own, by another user if one is given."""
    pid = os.fork()
    if pid == 0:
        try:
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            act()
        finally:
            os._exit(1)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.parametrize("user", [None, BANK], ids=["same user", "two users"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@at_the_gate
def test_names_that_never_stand_still_lead_nowhere(user: int | None) -> None:
    """Nights beside a process that exchanges names all the time, and takes its half of the time."""
    if user is not None and os.geteuid() != 0:
        pytest.skip("only root can be two users")
    base = Path(tempfile.mkdtemp())
    try:
        base.chmod(0o755)
        made = world(base)
        if user is not None:
            os.chown(alder(made), user, user)
            os.chown(base / "drop" / "birch", OTHER_BANK, OTHER_BANK)
            (base / "outside").chmod(0o755)
            (base / "outside" / "secret").chmod(0o644)
        secret = base / "outside" / "secret"
        with second_process(lambda: swap_for_ever(alder(made), secret), user), nothing_else(made):
            results = [night(job(made.path, **LIMITS)) for _ in range(2)]
        assert {"finished", "nothing_new"} >= {result["status"] for result in results}
    finally:
        shutil.rmtree(base)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_a_bank_can_write_to_its_own_folder_and_nowhere_else() -> None:
    """With real users: what was taken, the reports, and the store are out of a bank's reach."""
    base = Path(tempfile.mkdtemp())
    try:
        base.chmod(0o755)
        made = world(base)
        os.chown(alder(made), BANK, BANK)
        csv(alder(made) / "tx.csv", "ref  amount\nr1   10.00\nr2   0")
        os.chown(alder(made) / "tx.csv", BANK, BANK)
        with nothing_else(made):
            night(made)
        processed = base / "processed"
        reached = base / "reached"
        reached.mkdir(mode=0o777)
        reached.chmod(0o777)

        def try_all() -> None:
            for path in (processed, processed / "alder", processed / "alder" / "done", base):
                with suppress(OSError):
                    (path / "new").touch()
                    (reached / "wrote").touch()
                with suppress(OSError):
                    if path != base and list(path.iterdir()):
                        (reached / "listed").touch()
            with suppress(OSError):
                (processed / "alder" / "done" / "tx.csv").read_bytes()
                (reached / "read").touch()
            os._exit(0)

        with second_process(try_all, BANK):
            time.sleep(0.5)
        assert [] == list(reached.iterdir())
    finally:
        shutil.rmtree(base)
