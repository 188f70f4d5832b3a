"""What Python does in the page: one file, handed over in blocks, and the verdict on it.

This runs in a browser, so it imports the standard library and `intake/plain` only.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.plain.validation import PlainValidation
from cardoffers_cli.kernel.words import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.intake.plain.validation import RowSplitter


class Checking:
    """The check of one file; its options are JSON, as the page was built with them.

    The bytes come twice: first to `feed` and, once `finish` has given the verdict, to `reject`.
    """

    def __init__(self, name: str, options: str) -> None:
        self._validation = PlainValidation(name, json.loads(options))

    @property
    def rows(self) -> int:
        """How many rows were read so far."""
        return self._validation.progress

    def feed(self, block: Any) -> bool:
        """Take the next bytes of the file, and say whether more are wanted."""
        self._validation.feed(_bytes(block))
        return not self._validation.is_unusable

    def finish(self) -> str:
        """Return the verdict, in the very bytes of `validate --format json`."""
        return json_text.dumps(self._validation.finish(), indent=2) + "\n"

    def errors(self) -> Iterator[bytes]:
        """Yield the report of every finding, as `--errors` writes it."""
        return self._validation.errors_csv()

    @cached_property
    def _apart(self) -> RowSplitter:
        return self._validation.apart()

    def reject(self, block: Any) -> Iterator[bytes]:
        """Yield what `--rejected` writes of the next bytes, which come for the second time."""
        yield self._apart.add(_bytes(block))[1]

    def rejected(self) -> Iterator[bytes]:
        """Yield what `--rejected` writes at the end."""
        yield self._apart.end()[1]


def _bytes(block: Any) -> bytes:
    """Return bytes of JavaScript as Python's."""
    return block if isinstance(block, bytes) else bytes(block.to_bytes())
