"""Line breaking by display width; expected lines counted by hand, a Chinese character taking two columns."""

from __future__ import annotations

from reports.wrap import cut, pad, width, wrap


def test_width_counts_a_chinese_character_as_two_columns() -> None:
    assert width("mask 加 0") == 9


def test_width_counts_a_control_character_as_nothing() -> None:
    assert width("a\x07b") == 2


def test_words_break_at_blanks() -> None:
    assert wrap("one two three", 7) == ["one two", "three"]


def test_chinese_breaks_between_any_two_characters() -> None:
    assert wrap("未来位置概率", 6) == ["未来位", "置概率"]


def test_closing_punctuation_never_begins_a_line() -> None:
    assert wrap("未来位，置概", 6) == ["未来", "位，置", "概"]
    assert wrap("甲乙key，丙", 7) == ["甲乙", "key，丙"]


def test_an_opening_bracket_never_ends_a_line() -> None:
    assert wrap("未来（位）", 6) == ["未来", "（位）"]


def test_a_word_wider_than_the_line_breaks_behind_its_slash_first() -> None:
    assert wrap("flipped/one_two", 9) == ["flipped/", "one_two"]


def test_a_part_still_too_wide_breaks_behind_an_underscore() -> None:
    assert wrap("head_seq_swap", 9) == ["head_seq_", "swap"]


def test_a_word_without_any_joint_is_cut() -> None:
    assert wrap("abcdefgh", 3) == ["abc", "def", "gh"]


def test_line_ends_in_the_text_are_kept() -> None:
    assert wrap("a\n\nb", 5) == ["a", "", "b"]


def test_an_empty_text_is_one_empty_line() -> None:
    assert wrap("", 5) == [""]


def test_padding_fills_up_to_the_display_width() -> None:
    assert pad("头", 4) == "头  "


def test_what_does_not_fit_is_cut_by_display_width() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abc..."
    assert cut("ab cdefg", 6) == "ab..."
    assert cut("未来位置", 7) == "未来..."
