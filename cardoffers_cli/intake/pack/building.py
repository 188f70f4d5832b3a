"""Put the page together: its words, the rules, the runtime, and a policy that fetches nothing.

The same input makes the same bytes. Read `build` first.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cardoffers_cli import __version__
from cardoffers_cli.intake.pack.modules import modules_of, zip_of
from cardoffers_cli.intake.pack.runtime import VERSION
from cardoffers_cli.intake.pack.words import words
from cardoffers_cli.intake.profiles.refunds import settled
from cardoffers_cli.intake.schemas.formats import rules_digest
from cardoffers_cli.kernel.sheets.pages import templates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.intake.pack.runtime import Runtime

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
