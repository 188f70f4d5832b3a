"""Messages as sentences."""

from __future__ import annotations


def sentence(text: str, name: str | None = None) -> str:
    """Begin a message with a capital; the name of a field at its beginning stays as it is."""
    if name and text.startswith(name):
        return text
    return f"{text[0].upper()}{text[1:]}"
