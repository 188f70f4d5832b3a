"""The architecture as tables and checks: the source is read, never imported.

The tables at the top are the house: change them when the house changes, and nowhere else. A check
takes one module and yields complaints, each of which says what to do instead. `test_house.py` runs
them over the product, and shows each of them breaches that it must find.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
PRODUCT = "cardoffers_cli"

SLICES = (
    "kernel intake archive river catalogue institutions keys approvals offers merchants events"
    " refunds payouts accounting credits documents arrivals watch reports drop copies privacy"
    " pickup storage sample answers night demo http"
).split()
"""The slices in their order: each may import those before it, and nothing after it."""

KERNEL = {
    "kernel/words": set[str](),
    "kernel/disk": {"kernel/words"},
    "kernel/net": {"kernel/words"},
    "kernel/store": {"kernel/words", "kernel/disk"},
    "kernel/sheets": {"kernel/words", "kernel/disk"},
    "kernel/cli": {"kernel/words", "kernel/disk", "kernel/store", "kernel/sheets"},
    "kernel/identifiers": {"kernel/words", "kernel/store"},
}
"""Part of the kernel -> the parts it may import; its own always."""

AGAINST = set(
    """
kernel/store/opening -> archive/archive
river/commands -> watch/scan
""".split("\n")
) - {""}
"""The imports against the order that are still there: `module -> module`; this may only shrink."""

STEPS = set("stage number judge admit resolve match redeem settle publish".split())
"""The steps of the river, which runs call one after the other."""

RINGS: set[tuple[str, ...]] = set()
"""The rings of imports that are still there; this may only shrink."""

ROOMS_OF = {
    "aiohttp": {"kernel/net", "events"},
    "bai2": {"payouts"},
    "defusedxml": {"payouts"},
    "duckdb": {"kernel/store"},
    "fsspec": {"archive", "pickup"},
    "grpc": {"archive"},
    "h11": {"http"},
    "httpx": {"kernel/net"},
    "jinja2": {"kernel/sheets"},
    "jiter": {"intake"},
    "markupsafe": {"kernel/sheets", "intake"},
    "mt940": {"payouts"},
    "polars": {"intake", "catalogue", "sample", "privacy", "kernel/sheets", "kernel/store"},
    "pyarrow": {"kernel/sheets", "kernel/store", "archive"},
    "pydantic": {"kernel/words", "kernel/store", "intake"},
    "pyspark": {"archive"},
    "rich": {"kernel/cli"},
    "stdnum": {"kernel/words"},
    "holidays": {"payouts"},
    "textual": {"answers"},
    "typer": {"kernel/cli"},  # and in the commands of each slice
    "xlsxwriter": {"kernel/sheets"},
    "yarl": {"kernel/net"},
}
"""Third-party package -> the slices, or parts of the kernel, that it lives in."""

UNDOCUMENTED = re.compile(r"asyncio\.sslproto\b")
"""Modules that others keep for themselves, whatever they are called."""
COMMANDS = re.compile(
    r"(^|/)(([a-z]+_)?commands|intake/file_options|demo/story|merchants/review|night/screen)\.py$"
)
"""Modules of a slice that say what is typed, and show what came of it."""
USES_PRIVATE_PARTS = {
    "http/arrivals.py": "asyncio counts a TLS connection only once its handshake is over; who never"
    " ends one has to have its place, and its end, from the first moment",
    "answers/browse/app.py": "textual shows the values of variables where it failed, tokens"
    " too, and has no setting against it",
}
"""The modules that use what a package keeps for itself, and why nothing else will do."""

OWN_CLOCK = {"kernel/store/clock.py"}
"""Where the clock is read; everything else asks there or is handed the time."""
OWN_RANDOMNESS = {
    "kernel/store/runs.py",
    "kernel/store/approval_requests.py",
    *("catalogue/importing.py", "merchants/work.py", "demo/work.py"),
    *("events/sending.py", "events/subscriptions.py", "merchants/answers.py"),
    *("institutions/changes.py", "institutions/work.py"),
    *("keys/notices.py", "keys/rules.py", "keys/work.py"),
    *("payouts/exporting.py", "copies/work.py"),
    *("privacy/card_numbers.py", "privacy/erase.py", "privacy/holds.py"),
    *("river/engines.py", "river/events.py", "river/imports.py"),
    *("river/receiving.py", "river/simulate.py"),
    *("http/commands.py", "http/handler.py", "http/server.py"),  # the ids of requests
}
CLOCK = re.compile(
    r"datetime\.(datetime\.(now|utcnow|today)|date\.today)"
    r"|time\.(time|time_ns|gmtime|localtime|ctime|asctime|strftime)"
)
RANDOMNESS = re.compile(
    r"uuid\.uuid[1467]|os\.(urandom|getrandom)|secrets(\.\w+)+|random\.(?!Random\b)\w+"
)

OUTSIDE = re.compile(
    r"(asyncio|ftplib|gzip|http\.(client|server)|io\.open|multiprocessing|os|pathlib|shutil"
    r"|smtplib|socket|sqlite3|ssl|subprocess|tempfile|urllib\.request|zipfile)(\..*)?"
)
"""What `kernel/words/` has no use for: disk, network, processes."""

WRAPS_SQL = {"archive/duck.py", "kernel/store/binding.py"}
"""They give a SELECT of a file the name of a table, which no parameter can carry."""

STDOUT = {"kernel/cli/show.py"}
STDERR = {"kernel/cli/exits.py", "kernel/cli/progress.py", "kernel/cli/context.py"}
HEAVY = {"aiohttp", "duckdb", "fsspec", "httpx", "polars", "pyarrow", "rich"}

BESIDE_A_STORE = re.compile(
    r"\.(wal|tmp|d|new|lock|turn|night|sender|engine|journal|calls|snapshot|history|kept)\b"
)
"""How the names of the files of a store end, or ended, which one module knows."""
KNOWS_THE_LAYOUT = "kernel/store/layout.py"
KNOWS_NO_STORE = {"kernel/words", "kernel/disk", "kernel/net", "kernel/sheets", "intake", "drop"}
"""They have names of files of their own, which may end as those of a store do."""

EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "base", "core"}

SQL_TEXT = re.compile(
    r"""^\W*(explain\s+)?(
        select\b.*\bfrom\b | with\s+\w+\s+as\s*\( | update\s.*\bset\s
    ) | \binsert\s+into\s | \bdelete\s+from\s
      | \bcreate\s+(or\s+replace\s+)?(temp\w*\s+)?(table|view)\s""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)

SIGN = {
    "what it may import": re.compile(r"\bimport", re.IGNORECASE),
    "where to add": re.compile(r"\b(add|adding|new)\b|\bto change\b", re.IGNORECASE),
    "which file to read first": re.compile(r"\bfirst\b|\bstart (with|at|in)\b", re.IGNORECASE),
}


@dataclass(frozen=True)
class Module:
    path: str
    tree: ast.Module

    @property
    def parts(self) -> list[str]:
        return self.path.removesuffix(".py").split("/")

    @property
    def room(self) -> str:
        """The slice that it is in, or the part of the kernel."""
        return "/".join(self.parts[: 2 if self.parts[0] == "kernel" else 1])

    @property
    def is_command(self) -> bool:
        """Whether it makes commands, or is what they are made with."""
        return self.room == "kernel/cli" or bool(COMMANDS.search(self.path))

    @property
    def dotted(self) -> str:
        return ".".join([PRODUCT, *self.parts]).removesuffix(".__init__")

    def complain(self, node: ast.AST, problem: str) -> str:
        return f"{PRODUCT}/{self.path}:{getattr(node, 'lineno', 1)}: {problem}"


House = Mapping[str, Module]
Check = Callable[[Module], Iterator[str]]


def module(path: str, text: str) -> Module:
    return Module(path, ast.parse(text))


@cache
def read_house() -> House:
    root = CHECKOUT / PRODUCT
    modules = [
        module(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
        for file in sorted(root.rglob("*.py"))
    ]
    return {each.dotted: each for each in modules}


# Reading a module


def imported(source: Module, node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (local name, dotted name) of what an import statement brings in."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (top, alias.name)
    elif isinstance(node, ast.ImportFrom):
        package = [PRODUCT, *source.parts[:-1]]
        above = package[: len(package) - node.level + 1] if node.level else []
        origin = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            yield alias.asname or alias.name, f"{origin}.{alias.name}"


def imports(source: Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield every import, wherever it stands, as a dotted name."""
    for node in ast.walk(source.tree):
        for _, dotted in imported(source, node):
            yield node, dotted


def for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def named_for_types(source: Module) -> set[ast.AST]:
    """Return the nodes that only a type checker reads."""
    blocks = (node for node in ast.walk(source.tree) if for_types(node))
    return {node for block in blocks for node in ast.walk(block)}


def imports_at_start(source: Module) -> Iterator[str]:
    """Yield what importing the module imports: not what functions and type checkers import."""
    waiting: list[ast.AST] = [*source.tree.body]
    while waiting:
        node = waiting.pop()
        yield from (dotted for _, dotted in imported(source, node))
        if not for_types(node) and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting.extend(ast.iter_child_nodes(node))


@cache
def uses(source: Module) -> list[tuple[ast.AST, str]]:
    """Return every name and attribute the code mentions, spelled out through its imports."""
    known, found = {}, []
    for node in ast.walk(source.tree):
        for local, dotted in imported(source, node):
            submodule = isinstance(node, ast.Import) and dotted.startswith(f"{local}.")
            known[local] = local if submodule else dotted
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute):
            first, _, rest = ast.unparse(node).partition(".")
            found.append((node, ".".join(filter(None, [known.get(first, first), rest]))))
    return found


def own_path(dotted: str) -> str | None:
    """Return a dotted name of ours as a path, what is in the module at its end; None of others."""
    first, _, rest = dotted.partition(".")
    return rest.replace(".", "/") if first == PRODUCT and rest else None


def docstrings(tree: ast.Module) -> set[ast.AST]:
    """Return the nodes of texts that stand alone: docstrings, and notes under a constant."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


# The checks


def imports_go_down(source: Module) -> Iterator[str]:
    own = source.parts[0]
    if own not in SLICES:
        if own not in {"__init__", "__main__"}:
            yield source.complain(
                source.tree, "no such slice: put it into one, or add yours to SLICES"
            )
        return
    for node, dotted in imports(source):
        path = own_path(dotted)
        other = path.partition("/")[0] if path else None
        if path is None or other not in SLICES or is_known(source, path):
            continue
        if SLICES.index(other) > SLICES.index(own):
            yield source.complain(
                node,
                f"{own} comes before {other} in SLICES: move what both need down, or let a slice"
                " behind both call them and hand the result on",
            )


def is_known(source: Module, path: str) -> bool:
    """Return whether an import against the order is one of those that are still there."""
    line = f"{source.path.removesuffix('.py')} -> {path}/"
    return any(line.startswith(f"{known}/") for known in AGAINST)


def the_kernel_keeps_its_floors(source: Module) -> Iterator[str]:
    if source.room not in KERNEL:
        return
    for node, dotted in imports(source):
        path = own_path(dotted)
        other = "/".join(path.split("/")[:2]) if path else source.room
        if other.startswith("kernel/") and other not in {source.room, *KERNEL[source.room]}:
            yield source.complain(
                node, f"{source.room} may not import {other}: move what both need down"
            )


def work_knows_no_command(source: Module) -> Iterator[str]:
    if source.is_command or source.path == "__main__.py":
        return
    for node, dotted in imports(source):
        path = own_path(dotted) or ""
        if (
            path.startswith("kernel/cli")
            or COMMANDS.search(f"{path}.py")
            or COMMANDS.search(f"{path.rpartition('/')[0]}.py")
        ):
            yield source.complain(
                node, f"{dotted} belongs to the command line: return a value, and let it show that"
            )


def steps_stand_apart(source: Module) -> Iterator[str]:
    steps = {f"river/{step}" for step in STEPS}
    own = source.path.removesuffix(".py")
    if own not in steps:
        return
    for node, dotted in imports(source):
        path = own_path(dotted) or ""
        if {path, path.rpartition("/")[0]} & (steps - {own}):
            yield source.complain(
                node, f"{dotted} is another step: they meet in handles, and a run calls both"
            )


def packages_keep_to_their_rooms(source: Module) -> Iterator[str]:
    types = named_for_types(source)  # what passes through a room may be named there
    for node, dotted in imports(source):
        package = dotted.partition(".")[0]
        if package == PRODUCT or package in sys.stdlib_module_names or node in types:
            continue
        if package not in ROOMS_OF:
            yield source.complain(
                node, f"{package} has no room: do without it, or give it one in ROOMS_OF"
            )
        elif not {source.room, source.parts[0]} & ROOMS_OF[package] and not (
            package == "typer" and source.is_command
        ):
            rooms = ", ".join(f"{room}/" for room in sorted(ROOMS_OF[package]))
            yield source.complain(node, f"{package} lives in {rooms}: call something there")


def private_parts_of_others_are_left_alone(source: Module) -> Iterator[str]:
    if source.path not in USES_PRIVATE_PARTS:
        yield from private_parts_of_others(source)


def private_parts_of_others(source: Module) -> Iterator[str]:
    for node, dotted in imports(source):
        if any(map(is_private, dotted.split("."))) or UNDOCUMENTED.match(dotted):
            yield source.complain(
                node, f"{dotted} may change with any release: use what its owner documents"
            )
    own = made_here(source)
    for node in ast.walk(source.tree):
        match node:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
                is_others = is_private(name)
            case ast.Attribute(attr=name):
                is_others = is_private(name) and name not in own
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr" | "hasattr"),
                args=[_, ast.Constant(value=str(name)), *_],
            ):
                is_others = is_private(name) and name not in own
            case _:
                continue
        if is_others:
            yield source.complain(
                node,
                f"{name} is not made here, and may change with any release: use what its owner"
                " documents, or list the module with its reason in USES_PRIVATE_PARTS",
            )


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("_")


def made_here(source: Module) -> set[str]:
    """Return the names that a module, its classes and their objects give to what they make."""
    made = set()
    for node in ast.walk(source.tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                made.add(name)
            case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                made.add(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                made.add(name)
    return made


def time_and_chance_are_handed_in(source: Module) -> Iterator[str]:
    places = {source.room, source.parts[0], source.path}
    for node, dotted in uses(source):
        if CLOCK.fullmatch(dotted) and not places & OWN_CLOCK:
            yield source.complain(node, f"{dotted} reads the clock: take `now`")
        if RANDOMNESS.fullmatch(dotted) and not places & OWN_RANDOMNESS:
            yield source.complain(
                node, f"{dotted} is chance: take the value, or a seeded random.Random"
            )
        if dotted == "random.Random" and not places & OWN_RANDOMNESS and unseeded(source, node):
            yield source.complain(node, "no seed: take one")


def unseeded(source: Module, maker: ast.AST) -> bool:
    """Return whether this mention of `random.Random` is a call without a seed."""
    calls = (node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    return any(call.func is maker and not call.args for call in calls)


def words_touch_nothing_outside(source: Module) -> Iterator[str]:
    if source.room != "kernel/words":
        return
    for node, dotted in [*imports(source), *uses(source)]:
        if OUTSIDE.fullmatch(dotted) or dotted == "open":
            yield source.complain(
                node, f"kernel/words/ has no use for {dotted}: kernel/disk/ reads"
            )


def sql_stands_in_sql_files(source: Module) -> Iterator[str]:
    if source.path in WRAPS_SQL:
        return
    prose = docstrings(source.tree)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value for part in node.values if isinstance(part, ast.Constant))
            text = " x ".join(str(part) for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            text = node.value
        else:
            continue
        if SQL_TEXT.search(text):
            yield source.complain(
                node, "SQL in Python: name it in a .sql file beside this and run it by that name"
            )


def every_package_has_a_sign(source: Module) -> Iterator[str]:
    if source.parts[-1] != "__init__":
        return
    sign = ast.get_docstring(source.tree) or ""
    if len([line for line in sign.splitlines() if line.strip()]) < 4:
        yield source.complain(
            source.tree,
            "no sign: say in at least 4 lines what lives here, what it may import,"
            " where to add, which file to read first",
        )
        return
    for question, answer in SIGN.items():
        if not answer.search(sign):
            yield source.complain(source.tree, f"the sign does not say {question}")


def names_say_something(source: Module) -> Iterator[str]:
    for part in source.parts:
        if part in EMPTY_NAMES:
            yield source.complain(
                source.tree, f"`{part}` says nothing: name it after the one thing it does"
            )


def one_module_knows_what_is_beside_a_store(source: Module) -> Iterator[str]:
    if source.room in KNOWS_NO_STORE or source.path == KNOWS_THE_LAYOUT:
        return
    prose = docstrings(source.tree)
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Constant) or node in prose:
            continue
        if isinstance(node.value, str) and BESIDE_A_STORE.match(node.value):
            yield source.complain(
                node, f"the name of a file beside a store: ask {KNOWS_THE_LAYOUT} for its path"
            )


def few_write_to_the_terminal(source: Module) -> Iterator[str]:
    for node, stream in streams(source):
        if stream == "stdout" and source.path not in STDOUT:
            yield source.complain(
                node, "stdout is data: return it and let kernel/cli/show.py print it"
            )
        if stream == "stderr" and source.path not in STDERR:
            yield source.complain(
                node,
                "raise an error for exits.py, or tell progress.py or context.py of kernel/cli/",
            )


def streams(source: Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield each place that writes to a standard stream, with the stream's name."""
    asked = {
        id(node.value)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and node.attr == "isatty"
    }
    for node, dotted in uses(source):
        if id(node) in asked:
            continue  # asking who reads is not writing
        if match := re.fullmatch(r"sys\.(?:__)?(stdout|stderr)(?:__)?", dotted):
            yield node, match[1]
    called = {id(node): dotted for node, dotted in uses(source)}
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        named = (each for each in node.keywords if each.arg in {"file", "err", "stderr"})
        options = {option.arg: ast.unparse(option.value) for option in named}
        match called.get(id(node.func)):
            case "print" | "rich.console.Console" if "file" in options:
                pass  # the stream is named there, and found above
            case "print" | "rich.print" | "rich.print_json" | "sys.displayhook":
                yield node, "stdout"
            case "typer.echo" | "typer.secho" | "rich.console.Console":
                yield (
                    node,
                    "stderr"
                    if {options.get("err"), options.get("stderr")} & {"True"}
                    else "stdout",
                )


CHECKS: list[Check] = [
    imports_go_down,
    the_kernel_keeps_its_floors,
    work_knows_no_command,
    steps_stand_apart,
    packages_keep_to_their_rooms,
    private_parts_of_others_are_left_alone,
    time_and_chance_are_handed_in,
    words_touch_nothing_outside,
    sql_stands_in_sql_files,
    every_package_has_a_sign,
    names_say_something,
    one_module_knows_what_is_beside_a_store,
    few_write_to_the_terminal,
]


# The checks that need the whole house


def way_to_heavy(start: str, house: House) -> list[str]:
    """Return the chain of imports by which importing a module loads something heavy, or []."""
    chains, seen = [[start]], {start}
    while chains:
        chain = chains.pop(0)
        source = house[chain[-1]]
        for dotted in imports_at_start(source):
            if dotted.partition(".")[0] in HEAVY:
                return [*chain, dotted]
            names = dotted.split(".")
            loaded = {".".join(names[:end]) for end in range(1, len(names) + 1)} & house.keys()
            chains.extend([*chain, name] for name in sorted(loaded - seen))
            seen |= loaded
    return []


def rings(house: House) -> set[tuple[str, ...]]:
    """Return the groups of modules that reach each other by imports, wherever these stand.

    Imports inside functions and those for types alone count: who reads the one has to know the
    other.
    """
    to = {name: imported_modules(source, house) for name, source in house.items()}
    reached = {name: reached_from(name, to) for name in to}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in to
        if name in reached[name]
    }
    return {tuple(name.removeprefix(f"{PRODUCT}.") for name in group) for group in groups}


def imported_modules(source: Module, house: House) -> set[str]:
    """Return the modules of the house that a module imports anywhere, without itself."""
    origins = {
        dotted if dotted in house else dotted.rpartition(".")[0] for _, dotted in imports(source)
    }
    return (origins & house.keys()) - {source.dotted}


def reached_from(start: str, to: Mapping[str, set[str]]) -> set[str]:
    """Return what imports lead to; the start itself only if they lead back."""
    reached: set[str] = set()
    waiting = [*to[start]]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(to[name])
    return reached
