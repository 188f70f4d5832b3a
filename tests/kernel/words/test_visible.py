"""What acts or hides is seen; everything else is left alone."""

import unicodedata

import pytest

from cardoffers_cli.kernel.words.visible import controls_visible, shortened, visible


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        ("Café 東京 [bold] \\", "Café 東京 [bold] \\"),
        ("\\x1b[31m", "\x1b[31m"),
        ("\\x00\\x07\\x7f\\x85\\x9b", "\x00\x07\x7f\x85\x9b"),
        ("\\n\\r\\t", "\n\r\t"),
        ("\\u202e\\u2066\\u200b\\u200d\\ufeff\\u061c", "\u202e\u2066\u200b\u200d\ufeff\u061c"),
        ("\\xad\\u2028\\U000e0041", "\u00ad\u2028\U000e0041"),
        ("\\udcff", "\udcff"),
    ],
)
def test_text_is_shown_as_it_is(shown: str, text: str) -> None:
    assert shown == visible(text)


def test_what_is_kept_is_kept() -> None:
    assert "a\nb\\t" == visible("a\nb\t", keep="\n")


def test_only_controls_are_escaped_where_text_is_for_programs() -> None:
    assert "\\x1b\u202e\u200d\\x85\\t" == controls_visible("\x1b\u202e\u200d\x85\t")


def test_no_format_or_control_character_is_forgotten() -> None:
    acting = [
        chr(point)
        for point in range(0x110000)
        if unicodedata.category(chr(point)) in {"Cc", "Zl", "Zp"}
        or unicodedata.bidirectional(chr(point)) in {"LRE", "RLE", "LRO", "RLO", "PDF"}
        or unicodedata.bidirectional(chr(point)) in {"LRI", "RLI", "FSI", "PDI"}
    ]
    assert [] == [hex(ord(each)) for each in acting if visible(each) == each]


def test_a_name_in_a_sentence_is_short_and_shows_what_it_holds() -> None:
    assert r"a\x1b[0m" == shortened("a\x1b[0m")
    assert "xxxx…" == shortened("x" * 10_000, most=5)
