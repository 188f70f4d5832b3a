"""The runtime of the page: Python as WebAssembly, from the npm package of Pyodide.

No package of PyPI carries it, so whoever builds a page brings the package as it is published. Only
the one that is pinned here is taken: the page was tried with that one, and what is built of it by
anyone is the same.
"""

from __future__ import annotations

import hashlib
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.disk.inputs import open_input
from cardoffers_cli.kernel.words.errors import NotFound, Refused

if TYPE_CHECKING:
    from pathlib import Path

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
