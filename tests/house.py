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

DOOR = {"contract", "jobs", "pipeline", "services", "files", "domain", "settings"}
MAY_IMPORT = {
    "cli": DOOR,
    "http": DOOR,
    "tui": DOOR,
    "contract": {"jobs", "pipeline", "services", "files", "store", "domain", "settings"},
    "jobs": {"pipeline", "services", "files", "store", "engine", "archive", "wire", "pickup"}
    | {"lasting", "domain", "settings"},
    "pipeline": {"store", "engine", "domain"},
    "services": {"store", "engine", "domain"},
    "files": {"lasting", "domain"},
    "store": {"archive", "sql", "domain", "settings"},  # who opens a store sees what it lists
    "archive": {"sql", "lasting", "domain"},
    "engine": {"sql"},
    "wire": {"domain"},
    "pickup": {"archive", "domain"},  # which packages of fsspec there are, the archive knows
    "settings": {"domain"},
    "lasting": set[str](),
    "sql": set[str](),
    "domain": set[str](),
    "__main__": {"cli"},
    "__init__": set[str](),
}
"""Room (a package, or a module beside them) -> the rooms it may import; its own always."""

OPENS_DOOR = {"http/serve.py": "http", "answers/find_commands_browse.py": "tui"}
"""Commands that start another door, and know nothing else of it."""

SIBLINGS_APART = {"pipeline", "services"}
"""Packages whose modules do not import each other either."""

KERNEL = "cli/kernel/"
"""What the commands are made with, and which knows none of them."""

USE_CASE = 2
STOREYS = {
    "context": 1,
    "night": 3,
    "demo": 3,
    "discovery": 3,
    "simulate": 3,
    "status": 3,
    "why": 3,
}
"""Part of `jobs/` -> its storey: the context, above it the use cases, which are all that are not
named here and never import each other, above them what runs several of them.
"""

RINGS: set[tuple[str, ...]] = set()
"""The rings of imports that are still there; this may only shrink."""

HANDED_ON = {f"{PRODUCT}.pipeline.handles": {"pipeline"}} | {
    f"{PRODUCT}.sql.binding.Table": {"pipeline", "services", "jobs"}
}
"""What steps hand to each other, which every room on the way may name -> these rooms."""

ROOMS_OF = {
    "aiohttp": {"wire"},
    "defusedxml": {"files"},
    "duckdb": {"store", "engine"},
    "fsspec": {"archive", "pickup"},
    "grpc": {"archive"},
    "h11": {"http"},
    "httpx": {"wire"},
    "jinja2": {"files"},
    "jiter": {"files"},
    "markupsafe": {"files"},
    "polars": {"files", "store"},
    "pyarrow": {"files", "store", "archive"},
    "pydantic": {"domain", "settings"},
    "pyspark": {"archive"},
    "rich": {"cli"},
    "textual": {"tui"},
    "typer": {"cli"},
    "xlsxwriter": {"files"},
    "yarl": {"wire"},
}
"""Third-party package -> the rooms it lives in."""

UNDOCUMENTED = re.compile(r"asyncio\.sslproto\b")
"""Modules that others keep for themselves, whatever they are called."""
USES_PRIVATE_PARTS = {
    "http/arrivals.py": "asyncio counts a TLS connection only once its handshake is over; who never"
    " ends one has to have its place, and its end, from the first moment",
    "answers/browse/app.py": "textual shows the values of variables where it failed, tokens too, and has no"
    " setting against it",
}
"""The modules that use what a package keeps for itself, and why nothing else will do."""

OWN_CLOCK = {"kernel/store/clock.py"}
"""Where the clock is read; everything else asks there or is handed the time."""
OWN_RANDOMNESS = {
    *("jobs", "keys/rules.py"),
    *("http/commands.py", "http/connection.py", "http/server.py"),  # the ids of requests
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
"""What `domain/` has no use for: disk, network, processes."""

WRAPS_SQL = {"archive/duck.py", "kernel/store/binding.py"}
"""They give a SELECT of a file the name of a table, which no parameter can carry."""

STDOUT = {"kernel/cli/show.py"}
STDERR = {"kernel/cli/exits.py", "kernel/cli/progress.py", "kernel/cli/context.py"}
HEAVY = {"aiohttp", "duckdb", "fsspec", "httpx", "polars", "pyarrow", "rich"}

BESIDE_A_STORE = re.compile(
    r"\.(wal|tmp|d|new|lock|turn|night|sender|engine|journal|calls|snapshot|backups|history|kept)\b"
)
"""How the names of the files of a store end, or ended, which one module knows."""
KNOWS_THE_LAYOUT = "kernel/store/layout.py"
OWNS_STORES = {"store", "jobs", "contract"}

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

SQL_WITHOUT_TWIN = {
    "audits": "an audit is a question about the whole store; doctor runs them all",
    "plan": "text that more than one engine runs; its steps stand in pipeline/",
    "schema": "the tables of a new store; kernel/store/migrations.py makes them all",
    "store": "what the store asks about itself",
    "views": "what many statements read; kernel/store/migrations.py makes them all",
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
        return self.parts[0]

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


def uses(source: Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield every name and attribute the code mentions, spelled out through its imports."""
    known = {}
    for node in ast.walk(source.tree):
        for local, dotted in imported(source, node):
            submodule = isinstance(node, ast.Import) and dotted.startswith(f"{local}.")
            known[local] = local if submodule else dotted
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute):
            first, _, rest = ast.unparse(node).partition(".")
            yield node, ".".join(filter(None, [known.get(first, first), rest]))


def room_of(dotted: str) -> str | None:
    """Return the room a dotted name of ours lies in; None for anything else."""
    first, _, rest = dotted.partition(".")
    room = rest.partition(".")[0]
    return room if first == PRODUCT and room in MAY_IMPORT else None


def docstrings(tree: ast.Module) -> set[ast.AST]:
    """Return the nodes of texts that stand alone: docstrings, and notes under a constant."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


# The checks


def imports_go_down(source: Module) -> Iterator[str]:
    if source.room not in MAY_IMPORT:
        yield source.complain(
            source.tree, "no such room: put it into a package, or add its floor here"
        )
        return
    for node, dotted in imports(source):
        room = room_of(dotted)
        if room is None or room in MAY_IMPORT[source.room]:
            continue
        if room == OPENS_DOOR.get(source.path) or may_be_handed_on(dotted, source.room):
            continue
        if room != source.room:
            yield source.complain(
                node,
                f"{source.room} may not import {room}: let jobs/ call both and hand the result on,"
                " or move what both need down to domain/",
            )
        elif room in SIBLINGS_APART:
            yield source.complain(
                node,
                f"{dotted} is a sibling: the steps meet in handles, and jobs/ calls one after the"
                " other; what two of them need belongs to domain/",
            )


def the_kernel_knows_no_command(source: Module) -> Iterator[str]:
    if not source.path.startswith(KERNEL):
        return
    for node, dotted in imports(source):
        if dotted.startswith(f"{PRODUCT}.cli.") and not dotted.startswith(f"{PRODUCT}.cli.kernel."):
            yield source.complain(
                node, f"{dotted} is a command's: hand in what {KERNEL} needs, or move it there"
            )


def use_cases_stand_apart(source: Module) -> Iterator[str]:
    if source.room != "jobs":
        return
    own = source.parts[1]
    for node, dotted in imports(source):
        other = dotted.removeprefix(f"{PRODUCT}.jobs.").partition(".")[0]
        if not dotted.startswith(f"{PRODUCT}.jobs.") or own == other:
            continue
        storey, others = STOREYS.get(own, USE_CASE), STOREYS.get(other, USE_CASE)
        if others > storey or storey == others == USE_CASE:
            yield source.complain(
                node,
                f"{dotted} is another use case, or above this: move what both need to"
                " pipeline/, services/ or jobs/context/, or call both from a composition",
            )


def may_be_handed_on(dotted: str, room: str) -> bool:
    return any(
        f"{dotted}.".startswith(f"{name}.") and room in rooms for name, rooms in HANDED_ON.items()
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
        elif source.room not in ROOMS_OF[package]:
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


def time_and_chance_come_from_jobs(source: Module) -> Iterator[str]:
    places = {source.room, source.path}
    for node, dotted in uses(source):
        if CLOCK.fullmatch(dotted) and not places & OWN_CLOCK:
            yield source.complain(node, f"{dotted} reads the clock: take `now`, or ask jobs/")
        if RANDOMNESS.fullmatch(dotted) and not places & OWN_RANDOMNESS:
            yield source.complain(
                node, f"{dotted} is chance: take the value, or a seeded random.Random, from jobs/"
            )
        if dotted == "random.Random" and not places & OWN_RANDOMNESS and unseeded(source, node):
            yield source.complain(node, "no seed: take one from jobs/")


def unseeded(source: Module, maker: ast.AST) -> bool:
    """Return whether this mention of `random.Random` is a call without a seed."""
    calls = (node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    return any(call.func is maker and not call.args for call in calls)


def domain_touches_nothing_outside(source: Module) -> Iterator[str]:
    if source.room != "domain":
        return
    for node, dotted in [*imports(source), *uses(source)]:
        if OUTSIDE.fullmatch(dotted) or dotted == "open":
            yield source.complain(
                node, f"domain/ has no use for {dotted}: reading and sending happen on floor 2"
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
                node, f"SQL in Python: name it in sql/{source.room}/ and run it by that name"
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
    if source.room not in OWNS_STORES or source.path == KNOWS_THE_LAYOUT:
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
                "raise an error for exits.py, or tell progress.py or context.py of cli/kernel/",
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
        options = {option.arg: ast.unparse(option.value) for option in node.keywords}
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
    the_kernel_knows_no_command,
    use_cases_stand_apart,
    packages_keep_to_their_rooms,
    private_parts_of_others_are_left_alone,
    time_and_chance_come_from_jobs,
    domain_touches_nothing_outside,
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


def sql_without_module(paths: list[str], house: House) -> list[str]:
    """Return the SQL files (`folder/file.sql`) that no module is named after."""
    folders = [path.removesuffix(".sql").split("/") for path in paths]
    return [
        "/".join(parts)
        for parts in folders
        if parts[0] not in SQL_WITHOUT_TWIN and ".".join([PRODUCT, *parts]) not in house
    ]
