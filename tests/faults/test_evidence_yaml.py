"""Reading evidence files that nobody has vetted."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from faults.evidence_yaml import DEPTH_LIMIT, SIZE_LIMIT, Document, filled, parse, read, shown


def only_problem(document: Document) -> str:
    assert document.tree is None
    assert len(document.problems) == 1
    problem = document.problems[0]
    assert problem.where["zh"]
    assert problem.what["zh"]
    return f"{problem.where['en']}: {problem.what['en']}"


def only_what(document: Document) -> list[str]:
    return [problem.what["en"] for problem in document.problems]


def chinese(document: Document) -> list[str]:
    return [f"{problem.where['zh']}：{problem.what['zh']}" for problem in document.problems]


def test_every_scalar_stays_the_text_that_was_written() -> None:
    written = "a: 1234567\nb: 1e5\nc: 0x1F\nd: true\ne: 2024-01-01\nf: 1_000\ng: .nan\nh: 010"
    texts = {"a": "1234567", "b": "1e5", "c": "0x1F", "d": "true"}
    texts |= {"e": "2024-01-01", "f": "1_000", "g": ".nan", "h": "010"}
    assert parse(written) == Document(dict(texts), ())


@pytest.mark.parametrize("null", ["", "~", "null", "NULL"])
def test_a_plain_null_is_empty_and_a_quoted_one_is_text(null: str) -> None:
    assert parse(f"a: {null}").tree == {"a": ""}
    assert parse(f'a: "{null}"').tree == {"a": null}


@pytest.mark.parametrize(
    ("text", "required"),
    [
        ("a: &x 1\nb: 2", "line 1: anchors and aliases"),
        ("b: *x", "line 1: anchors and aliases"),
        ("a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]", "line 1: anchors and aliases"),
        ("a: 1\n<<: *a", "line 2: anchors and aliases"),
        ("a: !!python/object/apply:os.system ['echo']", "line 1: tag"),
        ("a: !!str 12", "line 1: tag"),
        ("!!map {a: 1}", "line 1: tag"),
        ("a: !local x", "line 1: tag"),
        ("a: 1\nb: 2\na: 3", "line 3: key 'a' appears twice"),
        ("x:\n  - {b: 1, b: 2}", "line 2: key 'b' appears twice"),
        ("? [a, b]\n: 1", "line 1: a key must be text"),
        ("a: 1\n---\nb: 2", "line 2: not valid YAML"),
        ("a: 'never closed", "line 1: not valid YAML"),
        ("a: [1, 2", "line 1: not valid YAML"),
        ("\ta: 1", "line 1: not valid YAML"),
        ("a: @x", "line 1: not valid YAML"),
        ("a: \x00", "file: not valid YAML"),
        ("a: \x1b[31m", "file: not valid YAML"),
        ("", "file: empty"),
        ("# only a comment\n", "file: empty"),
        ("%YAML 9.9\n---\na: 1", "line 1: not valid YAML"),
    ],
)
def test_what_an_evidence_record_has_no_use_for_is_refused_in_one_line(text: str, required: str) -> None:
    found = only_problem(parse(text))
    assert found.startswith(required)
    assert found.isprintable()


def test_nesting_is_accepted_up_to_the_limit_and_refused_beyond_it() -> None:
    # The list closest to the text stands one level above it.
    allowed = DEPTH_LIMIT - 1
    assert parse("[" * allowed + "x" + "]" * allowed).problems == ()
    assert "nested deeper" in only_problem(parse("[" * (allowed + 1) + "x" + "]" * (allowed + 1)))


@pytest.mark.parametrize("unit", ["[", "{a: ", "- ", "? ", "a: \n ", "[[],", "'a", "&a [", "!a "])
def test_a_file_full_of_structure_is_answered_at_once(unit: str) -> None:
    start = time.monotonic()
    document = parse(unit * (SIZE_LIMIT // len(unit)))
    assert document.tree is None
    # Measured: below 2 s each; a reader that recursed or looked back would crash or take minutes.
    assert time.monotonic() - start < 20


def test_unquoted_bounds_get_the_advice_to_quote_them() -> None:
    assert 'quote every value that begins with ">"' in only_problem(parse("expected: >1e-5"))
    assert "quote" not in only_problem(parse("a: [1"))
    # The line that is wrong counts, not the one before it or after it.
    assert "quote" not in only_problem(parse("# expected: >1\nb: @x\nexpected: >1"))


def test_what_is_wrong_with_a_file_is_one_whole_line_in_each_language() -> None:
    quote = '; quote every value that begins with ">", e.g. expected: ">1e-5"'
    what = "expected chomping or indentation indicators, but found 'e'"
    assert only_problem(parse("a: 1\nb: >1e-5")) == f"line 2: not valid YAML: {what}{quote}"
    assert chinese(parse("a: 1\nb: >1e-5")) == [
        f'第 2 行：不是合法的 YAML：{what}；以 ">" 开头的值都要加引号，例如 expected: ">1e-5"'
    ]
    refused = {
        "": ("file: empty: there is no evidence record in it", "文件：空文件：其中没有 evidence 记录"),
        "a: &x 1": (
            "line 1: anchors and aliases are refused: write it out",
            "第 1 行：不接受锚点和别名：请写出全文",
        ),
        "a: !x 1": ("line 1: tag '!x' is refused: remove it", "第 1 行：不接受标签 '!x'：请删去"),
        "[" * 20: ("line 1: nested deeper than 16", "第 1 行：嵌套超过 16 层"),
        "? [a]\n: 1": ("line 1: a key must be text", "第 1 行：键必须是文本"),
        "a: 1\na: 2": ("line 2: key 'a' appears twice: keep one", "第 2 行：键 'a' 重复出现：只保留一个"),
        "a: \x00": (
            "file: not valid YAML: unacceptable character #x0000: special characters are not allowed",
            "文件：不是合法的 YAML：unacceptable character #x0000: special characters are not allowed",
        ),
    }
    for text, (en, zh) in refused.items():
        assert only_problem(parse(text)) == en
        assert chinese(parse(text)) == [zh]


def test_placeholders_are_found_with_key_and_line_where_the_text_is_yaml() -> None:
    document = parse(
        "a: 1\nlicenses:\n  - source: <source>\n    version: v <x> and <y z>\nlist:\n  - <item>\n"
    )
    assert document.tree is not None
    assert [f"{p.where['en']} {p.what['en']}" for p in document.problems] == [
        "line 3 source: <source> is not filled in",
        "line 4 version: <x> is not filled in",
        "line 4 version: <y z> is not filled in",
        "line 6 list: <item> is not filled in",
    ]
    assert chinese(parse("a: <x>")) == ["第 1 行：a: <x> 尚未填写"]


@pytest.mark.parametrize("text", ["<item>", "- <item>"])
def test_a_placeholder_that_belongs_to_no_key_is_named_alone(text: str) -> None:
    assert only_what(parse(text)) == ["<item> is not filled in"]


def test_placeholders_are_found_where_the_text_is_not_yaml() -> None:
    document = parse(
        "# <comment>\ncommit: <sha>\nexpected: >1e-5\nlist:\n  - <item>\n  # <comment>\n  - name: see <x>: <y>\n"
    )
    assert document.tree is None
    assert [f"{p.where['en']} {p.what['en']}" for p in document.problems[1:]] == [
        "line 2 commit: <sha> is not filled in",
        "line 5 <item> is not filled in",
        "line 7 name: <x> is not filled in",
        "line 7 name: <y> is not filled in",
    ]


@pytest.mark.parametrize("text", ["<1e-6", "< 1e-6, > 0", "Jane <jane@example.org>", "a < b", "->", "<>"])
def test_a_bound_or_an_address_is_no_placeholder(text: str) -> None:
    assert filled(text)


def test_byte_order_mark_and_windows_line_ends_are_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "bom.yaml"
    file.write_bytes("\ufeffa: 中文\r\nb:\r\n  - 1\r\n".encode())
    assert read(file) == Document({"a": "中文", "b": ["1"]}, ())
    file.write_bytes("\ufeffa: <x>\r\nb: >1e-5\r\n".encode())
    assert only_what(read(file))[1:] == ["a: <x> is not filled in"]


@pytest.mark.parametrize("raw", [b"\xff\xfea\x00:\x00", b"\x7fELF\x80\x90", b"a: \xc3\x28"])
def test_bytes_that_are_not_utf8_are_refused_in_one_line(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "binary.yaml"
    file.write_bytes(raw)
    at = next(at for at, byte in enumerate(raw) if byte >= 0x80)
    assert only_problem(read(file)) == f"file: not UTF-8 text (byte {at})"
    assert chinese(read(file)) == [f"文件：不是 UTF-8 文本（第 {at} 字节）"]


def test_a_file_is_read_up_to_the_size_limit_and_refused_beyond_it(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_bytes(b"a: 1\n#" + b"x" * (SIZE_LIMIT - 6))
    assert read(file).tree == {"a": "1"}
    file.write_bytes(b"a: 1\n#" + b"x" * (SIZE_LIMIT - 5))
    assert only_problem(read(file)) == "file: larger than 256 KiB: no evidence record"
    assert chinese(read(file)) == ["文件：大于 256 KiB：不是 evidence 记录"]
    file.write_bytes(b"a: 1\n#" + b"x" * 2 * SIZE_LIMIT)
    assert only_problem(read(file)) == "file: larger than 256 KiB: no evidence record"


def test_a_strangers_text_is_shown_escaped_and_cut() -> None:
    assert shown("\x1b[31m\u202e") == "'\\x1b[31m\\u202e'"
    assert shown("x" * 100) == "'" + "x" * 59 + "…'"
    assert shown("x" * 60) == "'" + "x" * 60 + "'"
