"""The modules of ours that the page runs: what one of them imports, and what that imports.

They are found in the source, as a browser's Python would look for them. One that imports anything
but the standard library cannot be taken. Beside a module stand the files that it names.
"""

from __future__ import annotations

import ast
import sys
import zipfile
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
