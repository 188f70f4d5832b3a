"""Read a message of a bank element by element, however long it is, and whatever is in it.

A bank's message is a stranger's text: it may declare no entities and no document type, nest no
deeper than messages do, and have no entry of more than some megabytes (threats.md).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError  # only what parsing raises

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from cardoffers_cli.payouts.files.entries import refused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import BinaryIO
    from xml.etree.ElementTree import Element

MOST_BYTES = 4 << 20
"""Bytes that an entry may have, and what stands between two."""
MOST_DEPTH = 40
"""How deep elements may nest; those of ISO 20022 nest some fifteen deep."""

_NAMESPACE = re.compile(r"\{([^}]*)\}Document")
_MESSAGE = re.compile(r"(camt\.05[234]|pain\.002)\.\d{3}\.\d{2}")
_ADDED = "SplmtryData"
_AGAIN = "Fetch the file again from the bank."


class _Metered:
    """A file of which only so much may be read until something of it was taken."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.since = 0

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self.since += len(piece)
        if self.since > MOST_BYTES:
            message = f"An entry of the file has over {MOST_BYTES >> 20} MiB."
            raise refused("bank_entry_too_large", message, _AGAIN)
        return piece


def read_elements(file: BinaryIO, wanted: Collection[str]) -> Iterator[Element]:
    """Yield the elements of some names, each as it ends.

    Only elements of the message's own namespace count, of whichever version, and none of what a
    bank adds to it. Raises `FileUnusable` for what is not XML, is cut off, declares anything, or is
    another message.
    """
    metered = _Metered(file)
    try:
        yield from _read(metered, wanted)
    except ParseError as error:
        line, column = error.position
        message = f"The file is not whole XML: line {line}, column {column + 1}."
        raise refused("bank_xml_invalid", message, _AGAIN) from None
    except DefusedXmlException:
        raise refused(
            "bank_xml_forbidden",
            "The file declares a document type or entities, which no message of a bank has.",
            "Do not use it, and ask the bank whether it is theirs.",
        ) from None
    except (ValueError, LookupError):  # an encoding that the parser has not
        message = "The file names an encoding that cannot be read."
        raise refused("bank_xml_invalid", message, _AGAIN) from None


def _read(metered: _Metered, wanted: Collection[str]) -> Iterator[Element]:
    above: list[Element] = []
    for event, element in iterparse(metered, ("start", "end"), forbid_dtd=True):
        if event == "start":
            if not above:
                _check_message(element)
            above.append(element)
            if len(above) > MOST_DEPTH:
                raise refused(
                    "bank_xml_forbidden",
                    f"The file nests over {MOST_DEPTH} elements, which no message of a bank does.",
                    "Do not use it, and ask the bank whether it is theirs.",
                )
            continue
        above.pop()
        if name_of(element) in wanted and _is_of_message(above, element):
            yield element
            metered.since = 0
            # what stands before it goes out of memory too, unless that is still wanted
            if name_of(above[-1]) in wanted:
                above[-1].remove(element)
            else:
                above[-1].clear()


def _is_of_message(above: list[Element], element: Element) -> bool:
    """Whether an element is of the namespace of the root, and in nothing that was added to it."""
    own = _space(above[0])
    return all(_space(node) == own and name_of(node) != _ADDED for node in (*above, element))


def _check_message(root: Element) -> None:
    match = _NAMESPACE.fullmatch(root.tag)
    if not match or not _MESSAGE.search(match[1]):
        raise refused(
            "bank_form_unknown",
            "The file is XML, and none of camt.052, camt.053, camt.054 and pain.002.",
            "`cardoffers help payments` tells which files of a bank are read.",
        )


def name_of(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def message_of(element: Element) -> str:
    """Return which message an element is of, such as camt.053."""
    match = _MESSAGE.search(_space(element))
    return match[1] if match else ""


def _space(element: Element) -> str:
    return str(element.tag).rpartition("}")[0]


def all_at(element: Element, path: str) -> list[Element]:
    """Return the elements at a path of names below one, of its namespace."""
    elements = [element]
    for name in path.split("/"):
        tag = f"{_space(element)}}}{name}"
        elements = [child for parent in elements for child in parent if child.tag == tag]
    return elements


def text_at(element: Element, *paths: str) -> str | None:
    """Return the text of the first element at the first path that has one."""
    for path in paths:
        for child in all_at(element, path):
            if text := (child.text or "").strip():
                return text
    return None


def attribute_at(element: Element, path: str, name: str) -> Any:
    """Return an attribute of the first element at a path; None where it is not there."""
    return next((child.get(name) for child in all_at(element, path)), None)
