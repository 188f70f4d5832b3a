"""Build the page that checks files, for an institution of the store or for anybody.

It is put together of its words, the rules, the modules of ours that it runs, the runtime, and a
policy that fetches nothing; the same input makes the same bytes. A profile by which raw customer
keys become tokens comes to no page: whoever names one is refused, and no institution keeps one. The
key stays where it is, so only `profile convert` reads such files.

Modules are found in the source, as a browser's Python would look for them. One that imports
anything but the standard library cannot be taken. Beside a module stand the files that it names.

The runtime is Python as WebAssembly, from the npm package of Pyodide. No package of PyPI carries
it, so whoever builds a page brings the package as it is published. Only the one that is pinned here
is taken: the page was tried with that one, and what is built of it by anyone is the same.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import sys
import tarfile
import zipfile
from base64 import b64encode
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any

from cardoffers_cli import __version__
from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.layouts import find_profile
from cardoffers_cli.intake.profiles.refunds import settled
from cardoffers_cli.intake.schemas.formats import rules_digest
from cardoffers_cli.kernel.disk.inputs import open_input
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.sheets.pages import templates
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import NotFound, Refused
from cardoffers_cli.kernel.words.findings import CODES, FILE_CODES
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.kernel.words.texts import languages, texts_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.kernel.store.job import Job


class BuiltPage(Record):
    """A page that checks files: its bytes, the rules in it, and how it reads files."""

    file: str
    bytes: int
    sha256: str
    version: str
    rules_sha256: str
    pyodide: str
    institution: str | None
    currency: str | None
    profile: str | None
    profile_sha256: str | None
    dry_run: bool


def build_page(
    job: Job,
    check: PageCheck,
    runtime: Path,
    to: Path,
    *,
    institution: str | None = None,
    dry_run: bool = False,
) -> BuiltPage:
    """Write the page, with the package of its runtime.

    For an institution it has its currency and its profile, where no other is given. Raises
    `NotFound` or `Refused` without the runtime that is pinned.
    """
    check = _of(job, check, institution) if institution else check
    page = build(check, read_runtime(runtime))
    if not dry_run:
        with replacing(to, mode=job.settings.mode) as out:
            out.write(page)
    layout = check.layout
    return BuiltPage(
        file=str(to),
        bytes=len(page),
        sha256=hashlib.sha256(page).hexdigest(),
        version=__version__,
        rules_sha256=rules_digest(),
        pyodide=VERSION,
        institution=check.institution,
        currency=check.currency,
        profile=layout.name if layout else None,
        profile_sha256=layout.profile.digest if layout else None,
        dry_run=dry_run,
    )


def _of(job: Job, check: PageCheck, institution: str) -> PageCheck:
    """Add what the store knows of an institution to what was said of the check."""
    with reading(job) as source:
        owner = find_institution(source.store, institution)
        stored_profile = find_profile(source.store, owner.id)
    layout = check.layout
    if stored_profile and layout is None and check.delimiter == ",":
        profile = parse_profile(stored_profile.toml, owner.slug)
        layout = BuiltInLayout(profile=profile, name=owner.slug)
    return replace(
        check, institution=owner.name, currency=check.currency or owner.currency, layout=layout
    )


_ROOT = "cardoffers_cli.intake.pack.checking"
_POLICY = (
    "default-src 'none'; script-src '{script}' 'wasm-unsafe-eval'; worker-src blob:; "
    "style-src '{style}'; img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True, kw_only=True)
class BuiltInLayout:
    """The layout profile that files are read by, and its name."""

    profile: Profile
    name: str


@dataclass(frozen=True, kw_only=True)
class PageCheck:
    """How the page reads the files it is given, and whose they are."""

    institution: str | None = None
    currency: str | None = None
    delimiter: str = ","
    assume_timezone: str | None = None
    layout: BuiltInLayout | None = None


@cache
def verdict_modules() -> Mapping[str, bytes]:
    """Return the modules that make the verdict, by path."""
    return modules_of(_ROOT)


def build(check: PageCheck, runtime: Runtime) -> bytes:
    """Return the page."""
    from markupsafe import Markup  # noqa: PLC0415  comes with jinja2

    parts = {
        "worker": _worker(runtime),
        "wasm": runtime.wasm,
        "stdlib": runtime.stdlib,
        "rules": zip_of({**verdict_modules(), **_zones(check)}),
    }
    packed = {
        key: b64encode(gzip.compress(content, 9, mtime=0)).decode()
        for key, content in parts.items()
    }
    script = _own("page.js").decode()
    style = templates().get_template("style.css").render() + _own("page.css").decode()
    policy = _POLICY.format(script=_source(script), style=_source(style))
    data = {"about-this": _about(check), "words": words()}
    return (
        templates()
        .from_string(_own("page.html.j2").decode())
        .render(
            policy=policy,
            style=Markup(style),  # noqa: S704  ours
            script=Markup(script),  # noqa: S704  ours
            words=words()["en"]["page"],
            data={key: Markup(_json(value)) for key, value in data.items()},  # noqa: S704  escaped
            parts={key: Markup(text) for key, text in packed.items()},  # noqa: S704  base64
        )
        .encode()
    )


def _own(name: str) -> bytes:
    return files("cardoffers_cli.intake.pack").joinpath(name).read_bytes()


def _source(text: str) -> str:
    """Return how a policy names a script or a style that stands in the page."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _json(value: Any) -> str:
    """Write data so that no part of it ends the element that it stands in."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def _worker(runtime: Runtime) -> bytes:
    """Return all that the worker runs, as one script.

    A page that is opened from a file has no origin, and so no browser gives it a worker that is a
    module. The two modules of the runtime become functions, and what only modules have is named.
    """
    module = runtime.module.replace(b"import.meta.url", b"self.location.href")
    loader, _, exports = runtime.loader.partition(b"export{")
    lock = {"info": json.loads(runtime.lock)["info"], "packages": {}}  # none would be fetched
    local = exports.partition(b" as loadPyodide")[0].rpartition(b",")[2]
    lines = (
        b'"use strict";',
        b"const LOCK = " + json.dumps(lock).encode() + b";",
        b"const createPyodideModule = (() => {",
        module.replace(b"export default", b"return"),
        b"})();",
        _own("worker.js"),
        b"const loadPyodide = (() => {",
        loader + b"return " + local + b";",
        b"})();",
    )
    return b"\n".join(lines)


def _about(check: PageCheck) -> Mapping[str, Any]:
    """Return what the page tells of itself; `options` are what its check takes."""
    layout = check.layout
    options = {
        "currency": check.currency,
        "delimiter": check.delimiter,
        "assume_timezone": check.assume_timezone,
    }
    return {
        "version": __version__,
        "rules_sha256": rules_digest(),
        "pyodide": VERSION,
        "institution": check.institution,
        **options,
        "profile": layout.name if layout else None,
        "profile_sha256": layout.profile.digest if layout else None,
        "options": {**options, "profile": settled(layout.profile) if layout else None},
    }


def _zones(check: PageCheck) -> Mapping[str, bytes]:
    """Return the time zones that are asked for, as the package that Python looks for them in."""
    source = check.layout and check.layout.profile.fields.transacted_at
    names = {check.assume_timezone, source.zone if source else None} - {None}
    return dict(sorted(item for name in names for item in _zone(str(name))))


def _zone(name: str) -> Iterator[tuple[str, bytes]]:
    parts = ["tzdata", "zoneinfo", *name.split("/")]
    for end in range(1, len(parts)):
        yield "/".join([*parts[:end], "__init__.py"]), b""
    yield "/".join(parts), files("tzdata").joinpath(*parts[1:]).read_bytes()


_PACKAGE = "cardoffers_cli"
_TYPES_ONLY = "TYPE_CHECKING"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def modules_of(name: str) -> Mapping[str, bytes]:
    """Return the source of a module and of all that it imports of ours, by path, in order.

    So are the files that they read, which lie in their folders.

    Raises `ValueError` where one of them imports what is neither ours nor the standard library's.
    """
    sources: dict[str, bytes] = {}
    waiting = [name]
    while waiting:
        parts = waiting.pop().split(".")  # the packages that it is in come first
        for dotted in (".".join(parts[:end]) for end in range(1, len(parts) + 1)):
            path, source = _read(dotted)
            if path in sources:
                continue
            sources[path] = source
            sources |= _beside(dotted, path, source)
            for imported in _imported(source):
                if imported.partition(".")[0] == _PACKAGE:
                    waiting.append(imported)
                elif imported.partition(".")[0] not in sys.stdlib_module_names:
                    raise ValueError(f"{path} imports {imported}, which no page has")
    return dict(sorted(sources.items()))


def zip_of(modules: Mapping[str, bytes]) -> bytes:
    """Return files as an archive that Python imports from; the same files make the same bytes."""
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        for path, text in modules.items():
            out.writestr(zipfile.ZipInfo(path, _LONG_AGO), text)
    return archive.getvalue()


def _read(dotted: str) -> tuple[str, bytes]:
    _, *parts = dotted.split(".")
    place = files(_PACKAGE).joinpath(*parts)
    path = "/".join([_PACKAGE, *parts])
    if place.is_dir():
        return f"{path}/__init__.py", place.joinpath("__init__.py").read_bytes()
    return f"{path}.py", files(_PACKAGE).joinpath(*parts[:-1], f"{parts[-1]}.py").read_bytes()


def _beside(dotted: str, path: str, source: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files in the folder of a module whose names stand in it."""
    _, *parts = dotted.split(".")
    folder = files(_PACKAGE).joinpath(*(parts if path.endswith("__init__.py") else parts[:-1]))
    names = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    for entry in folder.iterdir():
        if entry.name in names and entry.is_file():
            yield f"{path.rpartition('/')[0]}/{entry.name}", entry.read_bytes()


def _imported(source: bytes) -> Iterator[str]:
    """Yield the modules that a module imports when it runs, in a function or not."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == _TYPES_ONLY:
            waiting += node.orelse
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from _imported_from(node)
        else:
            waiting += ast.iter_child_nodes(node)


def _imported_from(node: ast.ImportFrom) -> Iterator[str]:
    """Yield a module that names are imported from, and those of its names that are modules."""
    module = str(node.module)
    yield module
    if module.partition(".")[0] == _PACKAGE:
        for alias in node.names:
            dotted = f"{module}.{alias.name}"
            _, *parts = dotted.split(".")
            folder = files(_PACKAGE).joinpath(*parts)
            file = files(_PACKAGE).joinpath(*parts[:-1], f"{parts[-1]}.py")
            if folder.is_dir() or file.is_file():
                yield dotted


@cache
def words() -> Mapping[str, Any]:
    """Return the words by language: `page`, the page's own, and `codes`, what is said of each."""
    english = {
        code: {"summary": entry.summary, "fix": entry.fix}
        for code, entry in {**CODES, **FILE_CODES}.items()
    }
    texts = {name: texts_in(name) for name in languages()}
    return {
        name: {"page": own["page"], "codes": {**english, **own.get("codes", {})}}
        for name, own in texts.items()
    }


VERSION = "314.0.7"
SHA256 = "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0"
FILE = f"pyodide-{VERSION}.tgz"
HINT = f"Get it with `npm pack pyodide@{VERSION}`, and name the file with --pyodide."
_LARGEST = 64 << 20


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """What of the package is needed: two modules of JavaScript, the WebAssembly, the library.

    `lock` says which build this is, and which further packages there would be.
    """

    lock: bytes
    loader: bytes
    module: bytes
    wasm: bytes
    stdlib: bytes


_NAMES = {
    "lock": "package/pyodide-lock.json",
    "loader": "package/pyodide.mjs",
    "module": "package/pyodide.asm.mjs",
    "wasm": "package/pyodide.asm.wasm",
    "stdlib": "package/python_stdlib.zip",
}


def read_runtime(path: Path) -> Runtime:
    """Read the package; raise `NotFound` without it, `Refused` where it is another one."""
    try:
        with open_input(path) as file:
            content = file.read(_LARGEST)
    except OSError as error:
        raise NotFound(
            f"The runtime of the page, {path}, cannot be read: {error.strerror}.",
            code="pyodide_missing",
            hint=HINT,
        ) from None
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise Refused(
            f"{path} is not the npm package pyodide {VERSION}: its SHA-256 is another one.",
            code="pyodide_other",
            hint=HINT,
        )
    return unpacked(path)


def unpacked(path: Path) -> Runtime:
    """Return what is needed of a package, whichever it is."""
    with tarfile.open(path, "r:gz") as package:
        members = {key: package.extractfile(name) for key, name in _NAMES.items()}
        return Runtime(**{key: file.read() if file else b"" for key, file in members.items()})
