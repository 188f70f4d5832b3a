"""A language with a file of texts, which a test brings: only English is packaged."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from cardoffers_cli.intake.pack.building import words
from cardoffers_cli.kernel.words import texts

if TYPE_CHECKING:
    from collections.abc import Iterator

SPANISH = """
[writing]
months = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
day = "{day} de {month} de {year}"
comma = true
at = " en {name}"
purchase = "Su compra de {amount}{at} del {day}"
offer = "la oferta «{title}»"
[answers]
below_min_spend = "{purchase} no generó reembolso: {offer} exige {min_spend}; faltaron {missing}."
[page]
language = "Español"
[codes.encoding]
summary = "la línea no es UTF-8"
fix = "guarde el archivo como UTF-8"
"""


@contextmanager
def with_spanish(folder: Path, more: str = "") -> Iterator[None]:
    """Let there be a file of some Spanish texts for the length of a block."""
    shutil.copytree(Path(str(texts.FOLDER)), folder / "texts")
    (folder / "texts" / "es.toml").write_text(SPANISH + more, "utf-8")
    with patch.object(texts, "FOLDER", folder / "texts"):
        _forget()
        yield
    _forget()


def _forget() -> None:
    for remembered in (texts.languages, texts.texts_in, words):
        remembered.cache_clear()
