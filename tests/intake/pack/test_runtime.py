"""The runtime of the page: the package that is pinned, and no other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.intake.pack.building import FILE, SHA256, VERSION, read_runtime
from cardoffers_cli.kernel.words.errors import NotFound, Refused
from packs import RUNTIME, fake_package, package

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_pinned_package_is_taken() -> None:
    runtime = read_runtime(package())
    assert b"\0asm" == runtime.wasm[:4]
    assert b"PK" == runtime.stdlib[:2]
    assert f'"{VERSION}"'.encode() in runtime.loader
    assert b"export default " in runtime.module
    assert b'"info"' in runtime.lock


@pytest.mark.parametrize(
    ("error", "code", "make"),
    [
        (NotFound, "pyodide_missing", lambda _path: None),
        (NotFound, "pyodide_missing", Path.mkdir),
        (Refused, "pyodide_other", lambda path: path.write_bytes(b"")),
        (Refused, "pyodide_other", fake_package),
    ],
)
def test_anything_else_is_refused_with_the_command_that_gets_it(
    tmp_path: Path, error: type[NotFound | Refused], code: str, make: Callable[[Path], object]
) -> None:
    path = tmp_path / FILE
    make(path)
    with pytest.raises(error) as refused:
        read_runtime(path)
    assert code == refused.value.code
    assert f"`npm pack pyodide@{VERSION}`" in str(refused.value.hint)
    assert str(path) in refused.value.message


def test_what_is_tried_is_what_is_pinned() -> None:
    """`.ci/run` names the version as it stands in the module."""
    script = (Path(__file__).parents[3] / ".ci" / "run").read_text("utf-8")
    assert "cardoffers_cli/intake/pack/building.py" in script
    assert f"pyodide-{VERSION}.tgz" == FILE
    assert 64 == len(SHA256)
    assert RUNTIME in {None, os.environ.get("CARDOFFERS_PYODIDE")}
