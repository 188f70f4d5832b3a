"""Numbers of things in sentences: `1 purchase`, `1,200 purchases`."""

from __future__ import annotations


def counted(count: int, one: str, many: str | None = None) -> str:
    """Write a number before its noun; `many` is for a noun whose plural is not made with an s."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
