"""The page that checks files, for tests: the runtime where there is one, and one that is none."""

from __future__ import annotations

import io
import os
import tarfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser import shown
from cardoffers_cli.intake.pack.building import FILE, PageCheck, build, read_runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).parents[2]
TRANSACTIONS = CHECKOUT / "sample_data" / "transactions"
NO_NAMES = "--host-resolver-rules=MAP * ~NOTFOUND"
"""Lets a browser find no host, so that it asks nothing of anybody for itself."""

RUNTIME = os.environ.get("CARDOFFERS_PYODIDE")
"""The npm package of the runtime, which `.ci/run` gets."""


def package() -> Path:
    """Return the package, or skip what asks for it."""
    if RUNTIME is None or not Path(RUNTIME).is_file():
        pytest.skip(f"CARDOFFERS_PYODIDE does not name {FILE}")
    return Path(RUNTIME)


FAKE = {
    "pyodide-lock.json": '{"info": {"abi_version": "0"}, "packages": {"numpy": {}}}',
    "pyodide.mjs": "var a=1;async function b(){}export{b as loadPyodide,a as version};\n//# x",
    "pyodide.asm.mjs": "async function c(){return import.meta.url}export default c;",
    "pyodide.asm.wasm": "\0asm",
    "python_stdlib.zip": "PK",
}


def fake_package(path: Path) -> Path:
    """Write a package of the same form that is another one."""
    with tarfile.open(path, "w:gz") as out:
        for name, text in FAKE.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            out.addfile(member, io.BytesIO(text.encode()))
    return path


# The page in a browser

AS_OF = "2026-10-01T00:00:00Z"
READY_MS = 120_000
KEPT = """() => {
    globalThis.kept = {}
    const made = URL.createObjectURL.bind(URL)
    URL.createObjectURL = (blob) => { const url = made(blob); kept[url] = blob; return url }
}"""
"""Keeps what the page offers, so that a test reads it without a file for each."""
TAKEN = """async () => Object.fromEntries(await Promise.all(
    [...document.querySelectorAll("#files li:not([hidden]) a")].map(async (link) => {
        const bytes = new Uint8Array(await kept[link.href].arrayBuffer())
        const text = Array.from(bytes, (each) => String.fromCharCode(each)).join("")
        return [link.download.split(".")[0], text]
    })))"""
HEADER = b"cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"
ROW = (
    b"9fb6f85a8aac50e20c422cac18b44258,ct_527b0abb,M6CF4DC01F8024C,12.50,TX-%d,"
    b"2026-03-18T13:12:54Z\n"
)


@dataclass(frozen=True)
class Verdict:
    """What is said of a file: the verdict as JSON, the report of findings, the rejected rows."""

    verdict: bytes
    errors: bytes
    rejected: bytes


@dataclass(frozen=True)
class Opened:
    """A page that is open and ready."""

    page: Any
    seen: Any

    def give(self, path: Path) -> None:
        """Choose a file, also the one that was chosen before."""
        self.page.set_input_files("#file", [])
        self.page.set_input_files("#file", path)

    def check(self, path: Path) -> Verdict:
        """Hand a file over, and return what the page offers to take away."""
        self.give(path)
        self.page.locator("#files[aria-busy=false]").wait_for(timeout=READY_MS)
        taken = {"errors": "", "rejected": "", **self.page.evaluate(TAKEN)}
        return Verdict(**{name: text.encode("latin-1") for name, text in taken.items()})

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))


def built(folder: Path, check: PageCheck | None = None) -> Path:
    page = folder / "validator.html"
    page.write_bytes(build(check or PageCheck(), read_runtime(package())))
    return page


@contextmanager
def ready(opened: Any, path: Path, **more: Any) -> Iterator[Opened]:
    """Open a page and wait until it can be used; the clock of its computer is AS_OF."""
    with shown(opened, path, **more) as seen:
        yield settled(seen)


def settled(seen: Any) -> Opened:
    seen.page.evaluate(KEPT)
    seen.page.clock.set_fixed_time(AS_OF)
    seen.page.locator("#file:enabled").wait_for(timeout=READY_MS)
    return Opened(seen.page, seen)
