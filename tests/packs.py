"""The page that checks files, for tests: the runtime where there is one, and one that is none."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from cardoffers_cli.files.pack.runtime import FILE

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
