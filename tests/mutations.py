"""Plant faults into a copy of the product, and see whether the tests that run the place see them.

    python tests/mutations.py [--seed 1] [--count 300] [--only ROOM] [--seconds 60] [--numbers 3,7]

Each fault is one change of one place: a comparison, a condition, a join, a number. First all tests
of the rooms are run once, and it is written down which functions and statements each of them runs,
into the file that `--coverage` names, or that is read if it is there. For each fault those that run
its place are run, the nearest and the quickest first, until one fails. A fault that no test sees is
printed as a survivor, with what was changed; where a turn of tests ran out of its time, it is not
decided. `--numbers` plants some of the same faults again, as after a test was added. Those in
`EQUIVALENT` change nothing that anybody could see, and are not planted, nor are flags of classes.
Not part of the gate: to write down what runs takes half an hour, 300 faults another one.
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.store.binding import TempTables
from cardoffers_cli.kernel.store.statements import statement
from figures import git
from house import CHECKOUT, KERNEL, PRODUCT, SLICES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import CodeType, FrameType

    from cardoffers_cli.kernel.store.binding import Bound, Table

ROOMS = [*KERNEL, *SLICES[1:]]
"""The parts of the kernel, and the slices, whose code and SQL faults are planted into."""
TESTS = sorted((CHECKOUT / "tests").glob("*/**/test_*.py"))
"""Their tests."""
MOST_FILES = 8
"""Files of tests that are run at once."""
MOST_TURNS = 3

ENDED = "ended"
"""What a run of tests tells last."""
SURVIVED, UNDECIDED, SEEN = VERDICTS = ("survived", "not decided", "seen")

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "cardoffers_cli/river/stage.py",
        "rows, findings, doubts = (_one(frames) for frames in zip(*of_kind, strict=True))",
        "rows, findings, doubts = (_one(frames) for frames in zip(*of_kind, strict=False))",
    ): "each chunk is three frames",
    (
        "cardoffers_cli/river/stage.py",
        "self._frames, self.waiting = [], 0",
        "self._frames, self.waiting = [], 1",
    ): "a batch ends a few rows sooner, of a quarter of a million, and the tables are the same",
    (
        "cardoffers_cli/documents/closing.py",
        "if min(job.now, machine_at(store, job.now)) < period.to_at:",
        "if min(machine_at(store, job.now), job.now) < period.to_at:",
    ): "the earlier one of two moments",
    (
        "cardoffers_cli/events/receiver.py",
        "wait_s = 0.0 if has_ended else min(left_s, _GLANCE_S)",
        "wait_s = 0.0 if has_ended else min(_GLANCE_S, left_s)",
    ): "the smaller one of two numbers",
    (
        "cardoffers_cli/intake/profiles/sample_values.py",
        "parentheses: bool = False",
        "parentheses: bool = True",
    ): "the one place that makes an amount's form says it",
    **{
        (
            f"{PRODUCT}/river/plan/{file}.sql",
            f"{word} 1 = 0{end}",
            f"{word} 2 = 0{end}",
        ): "false too"
        for file, word, end in (("contest", "where", ";"), ("dedupe", "else", ""))
    },
    (
        f"{PRODUCT}/river/plan/redeem.sql",
        "+ extract(month from purchases.transacted_at) * 100",
        "+ extract(month from purchases.transacted_at) * 101",
    ): "days stay apart and in their order, which is all that turns need",
    (
        f"{PRODUCT}/river/plan/contest.sql",
        "select coalesce(min(turns.period_no), 0) as period_no",
        "select coalesce(min(turns.period_no), 1) as period_no",
    ): "null only without turns: every purchase proposes then, whatever the period",
    (
        f"{PRODUCT}/river/redemptions.sql",
        "and status <> 'reversed';",
        "and status <> 'another';",
    ): "each of the three who make reversals leaves out what is reversed already",
    (
        f"{PRODUCT}/river/views.sql",
        "'day', cast(moment as timestamp) + interval 1 day - interval 1 microsecond",
        "'day', cast(moment as timestamp) + interval 2 day - interval 1 microsecond",
    ): "the funnel cuts its days there, and looks at those before and counts those after it",
    (
        f"{PRODUCT}/refunds/views.sql",
        "and refund_links.institution_id = refunds.institution_id",
        "",
    ): "a link is written with the institution of its refund, whose number no other one has",
    (
        f"{PRODUCT}/night/questions.sql",
        "earlier.night_no + 1 as night_no, cast(earlier.of_date + 1 as integer) as number,",
        "earlier.night_no + 2 as night_no, cast(earlier.of_date + 1 as integer) as number,",
    ): "nights are told apart and put in their order by it, and it is shown nowhere",
    (
        f"{PRODUCT}/events/receiver.py",
        'self._thread = Thread(target=self._run, name="receiver", daemon=True)',
        'self._thread = Thread(target=self._run, name="receiver", daemon=False)',
    ): "who starts it waits for its end too",
}
"""(path, line as it is, line as it would be) -> why nobody can see the difference."""


@dataclass(frozen=True)
class Fault:
    """One change of one file: what stands from `start` to `end` becomes `text`."""

    path: str
    start: int
    end: int
    text: str
    kind: str

    def planted(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]

    def lines(self, source: str) -> tuple[str, str]:
        """Return the line as it is, and as it would be."""
        begin = source.rfind("\n", 0, self.start) + 1
        end = source.find("\n", self.end)
        return source[begin:end].strip(), self.planted(source)[begin:][
            : end - begin + len(self.text) - (self.end - self.start)
        ].strip()


# Faults of Python


FLIPPED = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
    "is": "is not",
    "is not": "is",
}


def python_faults(path: str, source: str) -> Iterator[Fault]:  # noqa: C901  a case each
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    whole = source.encode()

    def at(line: int, column: int) -> int:
        return len(whole[: starts[line - 1] + column].decode())

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)

    def between(one: ast.expr, other: ast.expr, pattern: str) -> tuple[int, int, str]:
        begin, end = span(one)[1], span(other)[0]
        found = re.search(pattern, source[begin:end])
        return (begin + found.start(), begin + found.end(), found[0]) if found else (0, 0, "")

    nodes = [*ast.walk(ast.parse(source))]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    flags = [each for node in classes for each in (*node.decorator_list, *node.keywords)]
    left_out = {node for flag in flags for node in ast.walk(flag)}
    for node in (each for each in nodes if each not in left_out):
        match node:
            case ast.Compare(left=left, comparators=[right]):
                pattern = r"not\s+in|is\s+not|in|is|<=|>=|==|!=|<|>"
                start, end, sign = between(left, right, pattern)
                if sign:
                    yield Fault(path, start, end, FLIPPED[sign], "comparison")
            case ast.BoolOp(values=[first, second, *_]):
                start, end, sign = between(first, second, r"\b(and|or)\b")
                if sign:
                    other = "or" if sign == "and" else "and"
                    yield Fault(path, start, end, other, "and/or")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                begin, _ = span(node)
                yield Fault(path, begin, span(operand)[0], "", "not dropped")
            case ast.Constant(value=bool() as value):
                yield Fault(path, *span(node), str(not value), "constant")
            case ast.Constant(value=int() as value):
                yield Fault(path, *span(node), str(value + 1), "constant")
            case ast.Call(args=[first, second, *_]) if not {ast.Starred} & {
                type(first),
                type(second),
            }:
                (begin, middle), (later, end) = span(first), span(second)
                texts = source[later:end], source[middle:later], source[begin:middle]
                if texts[0] != texts[2]:
                    yield Fault(path, begin, end, "".join(texts), "arguments swapped")
            case ast.Expr(value=ast.Call()):
                yield Fault(path, *span(node), "return", "early return")


# Faults of SQL


QUIET = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
COMPARED = re.compile(r"(?<=\s)(<>|<=|>=|<|>|=)(?=\s)")
CONJUNCT = re.compile(r"^[ ]+and (?!.*\b(?:case|between)\b)[^\n]*$", re.MULTILINE)
JOINED = re.compile(r"(?:\bon|\band) (\w+)\.(\w+_(?:no|id)) = (\w+)\.(\w+_(?:no|id))(?=\s|;|\))")
NEGATED = re.compile(r"\bnot (?=exists|in|null|distinct)|(?<=is )not ")
NUMBER = re.compile(r"(?<![\w.$])\d+(?![\w.])")
WORD = re.compile(r"(?<=[=<>] )'[a-z_]+'")


def sql_faults(path: str, source: str) -> Iterator[Fault]:
    quiet = QUIET.sub(lambda found: " " * len(found[0]), source)
    flipped = {"<>": "=", "=": "<>", **{each: FLIPPED[each] for each in ("<", "<=", ">", ">=")}}
    for found in COMPARED.finditer(quiet):
        yield Fault(path, *found.span(), flipped[found[0]], "comparison")
    for found in re.finditer(r"\b(and|or)\b(?! \$\w+ +preceding)", quiet):
        yield Fault(path, *found.span(), "or" if found[0] == "and" else "and", "and/or")
    for found in CONJUNCT.finditer(quiet):
        if found[0].count("(") == found[0].count(")") and not found[0].endswith((";", "=", "(")):
            yield Fault(path, *found.span(), "", "conjunct dropped")
    for found in JOINED.finditer(quiet):
        others = {
            name
            for name in re.findall(rf"\b{found[3]}\.(\w+_(?:no|id))\b", quiet)
            if name != found[4] and name[-2:] == found[4][-2:]
        }
        for name in sorted(others):
            yield Fault(path, *found.span(4), name, "join")
    for found in NEGATED.finditer(quiet):
        yield Fault(path, *found.span(), "", "not dropped")
    for found in NUMBER.finditer(quiet):
        yield Fault(path, *found.span(), str(int(found[0]) + 1), "constant")
    comments = re.sub(r"--[^\n]*", lambda found: " " * len(found[0]), source)
    for found in WORD.finditer(comments):
        yield Fault(path, *found.span(), "'another'", "constant")


def faults_of(room: str) -> list[Fault]:
    """Return every fault that could be planted in a room."""
    found: list[Fault] = []
    for file in sorted((CHECKOUT / PRODUCT / room).rglob("*")):
        if file.suffix not in {".py", ".sql"} or file.name == "__init__.py":
            continue
        path, source = file.relative_to(CHECKOUT).as_posix(), file.read_text("utf-8")
        for each in (sql_faults if file.suffix == ".sql" else python_faults)(path, source):
            planted = each.planted(source)
            if (path, *each.lines(source)) in EQUIVALENT or not is_code(path, planted):
                continue
            found.append(each)
    return found


def is_code(path: str, source: str) -> bool:
    if path.endswith(".sql"):
        return True
    try:
        compile(source, path, "exec")
    except SyntaxError:
        return False
    return True


# The tests of a fault


Ran = dict[str, list[tuple[float, str]]]
"""What runs, a function as `path:line` or a statement by its address: tests, with their seconds."""


class Recorder:
    """Writes down what each test runs of the product."""

    def __init__(self) -> None:
        self.ran: Ran = defaultdict(list)
        self._codes: dict[int, CodeType] = {}
        self._addresses: set[str] = set()
        bind = TempTables.bind_any

        def binds(tables: TempTables, address: str, at_hand: Mapping[str, Table]) -> Bound:
            self._addresses.add(address)
            return bind(tables, address, at_hand)

        TempTables.bind_any = binds  # type: ignore[method-assign, assignment]

    def _calls(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            self._codes[id(frame.f_code)] = frame.f_code

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Run a test, with what it sets up."""
        self._codes.clear()
        self._addresses.clear()
        threading.setprofile(self._calls)
        sys.setprofile(self._calls)
        began = time.process_time()
        result = yield
        sys.setprofile(None)
        threading.setprofile(None)
        seconds = time.process_time() - began
        product = f"{CHECKOUT / PRODUCT}/"
        for code in self._codes.values():
            if code.co_filename.startswith(product):
                path = Path(code.co_filename).relative_to(CHECKOUT).as_posix()
                self.ran[f"{path}:{code.co_firstlineno}"].append((seconds, item.nodeid))
        for address in self._addresses:
            self.ran[address].append((seconds, item.nodeid))
        return result


def record(path: Path, words: list[str]) -> None:
    """Run the tests of the rooms, and write down what each runs."""
    recorder = Recorder()
    os.chdir(CHECKOUT)
    pytest.main(["-q", "-p", "no:cacheprovider", *words, *map(str, TESTS)], plugins=[recorder])
    path.write_text(json.dumps(recorder.ran), "utf-8")


def places_of(fault: Fault, source: str, ran: Ran) -> list[str]:
    """Return what runs a place: the innermost function or the statement; else all of the file."""
    line = source.count("\n", 0, fault.start) + 1
    if fault.path.endswith(".sql"):
        stem = fault.path.removeprefix(f"{PRODUCT}/").removesuffix(".sql")
        begin = source.rfind("-- name: ", 0, fault.start)
        name = source[begin:].split()[2] if begin >= 0 else ""
        if not stem.endswith("/views"):
            return [key for key in ran if re.fullmatch(rf"{stem}:{name}(_\w+)?", key)]
        word = re.compile(rf"\b{name}\b")
        addresses = (key for key in ran if not key.startswith(PRODUCT))
        return [key for key in addresses if word.search(statement(key))]
    around = [
        (node.lineno, min([node.lineno, *(each.lineno for each in node.decorator_list)]))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno <= line <= (node.end_lineno or line)
    ]
    if around and (place := f"{fault.path}:{max(around)[1]}") in ran:
        return [place]
    return [key for key in ran if key.startswith(f"{fault.path}:")]


def tests_of(fault: Fault, ran: Ran) -> list[list[str]]:
    """Return the tests that run the place of a fault, in turns: those of its file first."""
    source = (CHECKOUT / fault.path).read_text("utf-8")
    tests = {test: seconds for key in places_of(fault, source, ran) for seconds, test in ran[key]}
    stem = Path(fault.path).stem
    order = sorted(
        tests,
        key=lambda test: (
            f"/test_{stem}" not in test,
            tests[test],
        ),
    )
    turns: list[list[str]] = []
    files: set[str] = set()
    for test in order:
        file = test.partition("::")[0]
        if file not in files and len(files) % MOST_FILES == 0:
            if len(turns) == MOST_TURNS:
                continue
            turns.append([])
        files.add(file)
        turns[-1].append(test)
    return turns


class Copy:
    """A copy of the checkout, into which one fault at a time is planted."""

    def __init__(self, folder: Path, seconds: int) -> None:
        self.folder = folder
        self._seconds = seconds
        self._failing: dict[str, bool] = {}
        for name in git(CHECKOUT, "ls-files", "-z").split("\0"):
            if name and (CHECKOUT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(CHECKOUT / name, folder / name)

    def verdict(self, fault: Fault, turn: list[str]) -> str:
        """Say whether a test fails because of a fault; one that fails without it is left out."""
        path = self.folder / fault.path
        source = path.read_text("utf-8")
        while True:
            path.write_text(fault.planted(source), "utf-8")
            failed = self._first_failed(turn)
            path.write_text(source, "utf-8")
            if failed in VERDICTS:
                return failed
            if failed not in self._failing:
                self._failing[failed] = self._first_failed([failed]) not in VERDICTS
            if not self._failing[failed]:
                return SEEN

    def _first_failed(self, words: list[str]) -> str:
        """Return the first test that fails, of those that do not fail anyway; else a verdict.

        They run in a process of their own, which has its libraries already. One that takes too much
        of a processor, or hangs, is ended.
        """
        skipped = [f"--deselect={test}" for test, is_bad in self._failing.items() if is_bad]
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            try:
                most = self._seconds
                resource.setrlimit(resource.RLIMIT_CPU, (most, most))
                signal.alarm(10 * most)
                _run(self.folder, [*words, *skipped], write)
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as told:
            failed = told.readline().strip()
        _, status = os.waitpid(child, 0)
        if not failed and not os.WIFSIGNALED(status):
            raise RuntimeError(f"The tests did not run: {' '.join(words)}")
        return {"": UNDECIDED, ENDED: SURVIVED}.get(failed, failed)


class FirstFailed:
    """Tells of the first test that fails, or file that cannot be collected."""

    def __init__(self, told: int) -> None:
        self._told = told

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._tell(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._tell(report)

    def _tell(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed:
            os.write(self._told, f"{report.nodeid}\n".encode())


def _run(folder: Path, words: list[str], told: int) -> None:
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.environ |= {"PYTHONPATH": str(folder), "CARDOFFERS_TESTS": "", "CI": ""}
    sys.path[:0] = [str(folder), str(folder / "tests"), str(folder / "tests" / "kit")]
    ours = [
        name
        for name, module in sys.modules.items()
        if name != "__main__"
        and (getattr(module, "__file__", None) or "").startswith(
            (f"{CHECKOUT}/tests/", f"{CHECKOUT}/{PRODUCT}/")
        )
    ]
    for name in ours:  # they are to be the copy's
        del sys.modules[name]
    usual = ["-q", "-x", "-p", "no:cacheprovider", "-c", "pyproject.toml"]
    if pytest.main([*usual, *words], plugins=[FirstFailed(told)]) in {0, 1, 5}:
        os.write(told, f"{ENDED}\n".encode())


def main() -> None:
    """Plant, run, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=300)
    options.add_argument("--only", choices=ROOMS)
    options.add_argument("--file", help="only faults of paths that hold this")
    options.add_argument("--seconds", type=int, default=60, help="CPU seconds of a turn of tests")
    options.add_argument("--coverage", type=Path, default=Path("ran.json"), help="what tests run")
    options.add_argument("--slow", action="store_true", help="write down what slow tests run too")
    options.add_argument("--numbers", help="only these of the faults that are chosen: 3,7,12")
    asked = options.parse_args()
    if not asked.coverage.exists():
        record(asked.coverage.absolute(), [] if asked.slow else ["-m", "not slow"])
    ran = json.loads(asked.coverage.read_text("utf-8"))
    rooms = [asked.only] if asked.only else ROOMS
    chance = random.Random(asked.seed)  # noqa: S311
    chosen = []
    for place, room in enumerate(rooms):
        found = [each for each in faults_of(room) if (asked.file or "") in each.path]
        most = asked.count // len(rooms) + (place < asked.count % len(rooms))
        chosen += [(room, each) for each in chance.sample(found, min(most, len(found)))]
    numbers = {int(each) for each in (asked.numbers or "").split(",") if each}
    numbered = [
        (number, *each)
        for number, each in enumerate(chosen, start=1)
        if not numbers or number in numbers
    ]
    for heavy in ("duckdb", "httpx", "polars", "pydantic", "typer.testing"):
        __import__(heavy)
    with tempfile.TemporaryDirectory(prefix="mutations") as folder:
        report(Copy(Path(folder), asked.seconds), numbered, ran)


def report(copy: Copy, chosen: list[tuple[int, str, Fault]], ran: Ran) -> None:
    """Plant the faults, print each as it was seen or not, and the figures by room."""
    verdicts: Counter[tuple[str, str]] = Counter()
    for number, room, fault in chosen:
        verdict = SURVIVED
        for turn in tests_of(fault, ran):
            verdict = max(verdict, copy.verdict(fault, turn), key=VERDICTS.index)
            if verdict == SEEN:
                break
        verdicts[room, verdict] += 1
        mark = verdict
        if verdict != SEEN:
            source = (CHECKOUT / fault.path).read_text("utf-8")
            line = source.count("\n", 0, fault.start) + 1
            before, after = fault.lines(source)
            mark += f", {fault.path}:{line} ({fault.kind})\n    {before}\n    {after}"
        print(f"{number} {room}: {mark}", flush=True)
    print(f"\n{'':16}{'seen':>9}{'survived':>9}{'not decided':>13}{'seen %':>9}")
    for room in dict.fromkeys(room for _, room, _ in chosen):
        survived, undecided, seen = (verdicts[room, each] for each in VERDICTS)
        share = f"{100 * seen / (seen + survived):.0f}" if seen + survived else "-"
        print(f"{room:16}{seen:>9}{survived:>9}{undecided:>13}{share:>9}")


if __name__ == "__main__":
    main()
