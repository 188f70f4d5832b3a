"""The look: the terminal's own colours and one accent, so that it is right on dark and on light."""

from __future__ import annotations

from dataclasses import replace

from textual.theme import BUILTIN_THEMES, Theme


def calm(*, has_colour: bool) -> Theme:
    """Return the terminal's own colours with one accent, or with none."""
    ansi = BUILTIN_THEMES["ansi-dark"]
    accent = "ansi_cyan" if has_colour else "ansi_default"
    cursor = "ansi_black" if has_colour else "ansi_default"
    plain = {name: "ansi_default" for name in ansi.variables if not name.endswith("style")}
    return replace(
        ansi,
        name="calm",
        primary=accent,
        secondary=accent,
        accent=accent,
        warning=accent,
        error=accent,
        success=accent,
        variables={
            **ansi.variables,
            **plain,
            "block-cursor-background": accent,
            "block-cursor-foreground": cursor,
            "scrollbar": accent,
            "scrollbar-hover": accent,
            "scrollbar-active": accent,
            "scrollbar-background": "ansi_default",
            "scrollbar-background-hover": "ansi_default",
            "scrollbar-background-active": "ansi_default",
        },
    )
