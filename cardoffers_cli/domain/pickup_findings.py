"""What may be said of fetching files, beside what is said of files in the drop folder.

A place that cannot be reached, or a file that cannot be fetched, stops nothing else: what lies in
the drop folder is taken all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.findings import Code

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALL = (
    Code(
        "pickup_failed",
        "error",
        "the place of an institution could not be reached, or did not answer as it should",
        "read what it says, then run cardoffers pickup: it goes on with what is left",
    ),
    Code(
        "pickup_stray",
        "warning",
        "a name at the place that is no file to fetch: a link, a FIFO, or a name that leads"
        " elsewhere, hides something or is listed twice",
        "ask the sender for a plain file with a plain name",
    ),
    Code(
        "pickup_changed",
        "note",
        "a file was written to while it was fetched: nothing of it was taken",
        "nothing to do: the next pickup fetches it",
    ),
    Code(
        "pickup_size",
        "error",
        "the server sent more or fewer bytes of a file than it listed: nothing of it was taken",
        "ask the sender for the file again, or the operator of the server what happens to it",
    ),
    Code(
        "pickup_not_vouched",
        "error",
        "a file is not encrypted and signed with the keys that are pinned: it was not taken",
        "ask the sender for the file again, encrypted and signed with the keys agreed on",
    ),
    Code(
        "pickup_came_again",
        "warning",
        "a file has come again under a name that was fetched before, with other content: it was"
        " fetched as a new one",
        "ask the sender whether it replaces the one before, or adds to it",
    ),
    Code(
        "pickup_left_there",
        "warning",
        "a file is imported, and could not be removed or moved at its place",
        "give the user there the right to do so; the next pickup tries again",
    ),
)

PICKUP_CODES: Mapping[str, Code] = {code.code: code for code in _ALL}
"""Every code that is said of fetching."""
