"""Artifacts of an evidence record: a stranger's paths and a stranger's bytes."""

from __future__ import annotations

import io
import json
import os
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from faults.evidence_artifacts import RefusedError, gather, locate, read_arrays, repository
from faults.model import Text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one file, a record, and a file outside."""
    top = tmp_path / "repository"
    (top / "out").mkdir(parents=True)
    (top / ".git").mkdir()
    (top / ".git" / "config").write_text("x")
    (top / "out" / "trace.npz").write_bytes(b"x")
    (top / "record.yaml").write_text("x")
    (tmp_path / "outside").write_text("x")
    return top


def refusal(entry: str, root: Path) -> str:
    with pytest.raises(RefusedError) as refused:
        locate(entry, root, root / "record.yaml")
    assert refused.value.why["zh"]
    return refused.value.why["en"]


@pytest.mark.parametrize("entry", ["out/trace.npz", "./out/trace.npz", "out//trace.npz"])
def test_a_file_inside_the_repository_is_found(root: Path, entry: str) -> None:
    assert locate(entry, root, root / "record.yaml") == (root / "out" / "trace.npz").resolve()


@pytest.mark.parametrize(
    ("entry", "required"),
    [
        ("/etc/passwd", "is absolute"),
        ("//etc/passwd", "is absolute"),
        ("C:/x", "is absolute"),
        ("C:x", "is absolute"),
        ("\\\\host\\share", "is absolute"),
        ("~/x", "is absolute"),
        ("out\\trace.npz", "has a backslash"),
        ("\\out", "has a backslash"),
        ("../outside", 'contains ".."'),
        ("out/../out/trace.npz", 'contains ".."'),
        (".git/config", "lies in .git"),
        (".GIT/config", "lies in .git"),
        ("missing.npz", "does not exist"),
        ("record.yaml/x", "does not exist"),
        ("a\x00b", "does not exist"),
        ("x" * 5000, "does not exist"),
        ("out", "is not a regular file"),
        (".", "is not a regular file"),
        ("record.yaml", "is this record itself"),
        ("./record.yaml", "is this record itself"),
    ],
)
def test_a_path_that_proves_nothing_is_refused(root: Path, entry: str, required: str) -> None:
    assert refusal(entry, root).startswith(required)


@pytest.mark.parametrize(
    ("entry", "en", "zh"),
    [
        ("/x", "is absolute: give a path relative to the repository", "是绝对路径：请写仓库相对路径"),
        ("out\\x", "has a backslash: separate folders with /", "含反斜杠：请用 / 分隔目录"),
        ("../x", 'contains "..": name the file itself', "含 “..”：请直接写出文件路径"),
        (".git/config", "lies in .git, which is no part of a submission", "位于 .git 中，不属于提交内容"),
        ("missing", "does not exist in the repository", "在仓库中不存在"),
        ("away", "is a link that leads out of the repository's files", "是指向仓库文件之外的链接"),
        ("out", "is not a regular file", "不是普通文件"),
        ("empty", "is empty", "是空文件"),
        ("record.yaml", "is this record itself, which proves nothing", "就是本记录自己，不能作为证据"),
    ],
)
def test_each_refusal_says_in_both_languages_what_was_found(root: Path, entry: str, en: str, zh: str) -> None:
    (root / "away").symlink_to(root.parent / "outside")
    (root / "empty").write_bytes(b"")
    with pytest.raises(RefusedError) as refused:
        locate(entry, root, root / "record.yaml")
    assert refused.value.why == {"en": en, "zh": zh}


def test_an_empty_file_and_a_pipe_are_refused(root: Path) -> None:
    (root / "empty").write_bytes(b"")
    os.mkfifo(root / "pipe")
    assert refusal("empty", root) == "is empty"
    assert refusal("pipe", root) == "is not a regular file"


def test_links_are_followed_inside_the_repository_and_never_out_of_it(root: Path) -> None:
    (root / "good").symlink_to("out/trace.npz")
    (root / "bad").symlink_to(root.parent / "outside")
    (root / "folder").symlink_to(root.parent)
    (root / "git").symlink_to(".git/config")
    (root / "loop").symlink_to("loop")
    assert locate("good", root, root / "record.yaml").name == "trace.npz"
    for entry in ("bad", "folder/outside", "git"):
        assert refusal(entry, root).startswith("is a link that leads out")
    assert refusal("loop", root).startswith("does not exist")


def test_a_repository_that_is_reached_through_a_link_is_still_the_repository(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    assert locate("out/trace.npz", link, link / "record.yaml").name == "trace.npz"
    assert repository(link / "record.yaml") == root.resolve()


def test_the_repository_is_the_nearest_folder_with_git_in_it(root: Path) -> None:
    inner = root / "out" / "inner"
    inner.mkdir()
    assert repository(inner / "x.yaml") == root.resolve()
    # A work tree or a submodule has a file of that name.
    (inner / ".git").write_text("gitdir: elsewhere")
    assert repository(inner / "x.yaml") == inner.resolve()


def test_no_repository_is_found_where_there_is_none() -> None:
    assert repository(Path("/x.yaml")) is None or Path("/.git").exists()


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array))
    return stream.getvalue()


def header(text: str, version: bytes = b"\x01\x00") -> bytes:
    # The length of the header has four bytes from version 2 on.
    return b"\x93NUMPY" + version + struct.pack("<I" if version[0] == 2 else "<H", len(text)) + text.encode()


def why(path: Path) -> Text:
    with pytest.raises(RefusedError) as refused:
        read_arrays(path)
    return refused.value.why


def zipped(path: Path, members: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)
    return path


def test_arrays_come_out_of_each_kind_of_file(tmp_path: Path) -> None:
    values = np.array([[1.0, 2.0], [3.0, 4.5]])
    np.savez(tmp_path / "a.npz", scores=values, other=values)
    np.savez_compressed(tmp_path / "b.npz", scores=np.asfortranarray(values).astype(">f4"))
    np.save(tmp_path / "scores.npy", values)
    (tmp_path / "c.json").write_text(json.dumps({"scores": values.tolist(), "other": "text"}))
    for name in ("a.npz", "b.npz", "scores.npy", "c.json"):
        found = read_arrays(tmp_path / name)
        assert list(found) == ["scores"]
        assert found["scores"].dtype == np.float64
        assert found["scores"].tolist() == values.tolist()


@pytest.mark.parametrize("kind", ["<f8", ">f4", "<f2", "|i1", "<i8", "|u1", ">u4"])
def test_whole_numbers_and_numbers_of_any_precision_are_read_as_double_precision(
    tmp_path: Path, kind: str
) -> None:
    np.save(tmp_path / "scores.npy", np.array([[1, 2, 3], [4, 5, 6]], dtype=kind))
    found = read_arrays(tmp_path / "scores.npy")["scores"]
    assert found.dtype == np.float64
    assert found.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_an_array_that_is_stored_by_columns_keeps_its_rows(tmp_path: Path) -> None:
    # Stored is column after column: 1 4, 2 5, 3 6.
    text = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }"
    (tmp_path / "scores.npy").write_bytes(header(text) + bytes([1, 4, 2, 5, 3, 6]))
    assert read_arrays(tmp_path / "scores.npy")["scores"].tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_header_of_version_2_is_read_and_what_follows_the_array_is_not(tmp_path: Path) -> None:
    text = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }"
    (tmp_path / "scores.npy").write_bytes(header(text, b"\x02\x00") + bytes([1, 2, 99]))
    assert np.load(tmp_path / "scores.npy").tolist() == [1, 2]
    assert read_arrays(tmp_path / "scores.npy")["scores"].tolist() == [1, 2]


def test_an_array_without_elements_is_an_array(tmp_path: Path) -> None:
    np.save(tmp_path / "scores.npy", np.zeros((0, 2)))
    assert read_arrays(tmp_path / "scores.npy")["scores"].shape == (0, 2)


def test_minus_infinity_may_be_written_as_a_word_in_json(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"masked": [[1, "-inf"], [-Infinity, 2]]}')
    infinity = float("inf")
    assert read_arrays(tmp_path / "a.json")["masked"].tolist() == [[1, -infinity], [-infinity, 2]]


@pytest.mark.parametrize(
    "raw",
    [
        b"not an array",
        b"",
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }") + b"x" * 31,
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2), }") + b"x" * 16,
        header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + b"cos\nsystem\n",
        header("{'descr': '<M8[s]', 'fortran_order': False, 'shape': (1,), }") + b"x" * 8,
        header("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }") + b"x",
        header("__import__('os').system('echo')"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", b"\x09\x00") + b"x" * 8,
        npy(["text"]),
    ],
)
def test_bytes_that_are_no_array_of_numbers_are_refused(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "scores.npy").write_bytes(raw)
    zipped(tmp_path / "a.npz", {"scores.npy": raw})
    for name in ("scores.npy", "a.npz"):
        with pytest.raises(RefusedError):
            read_arrays(tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        '{"scores": [[1], [2, 3]]}',
        '{"scores": "x"}',
        '{"scores": {}}',
        "[" * 100_000,
        '{"scores": ' + "[" * 70 + "1" + "]" * 70 + "}",
        '{"scores": [1' + "0" * 400 + "]}",
        "\ud800",
    ],
)
def test_json_that_holds_no_array_of_numbers_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(RefusedError):
        read_arrays(tmp_path / "a.json")


@pytest.mark.parametrize("text", ["[1, 2]", '["scores"]', '"scores"', "5", "null"])
def test_json_of_another_form_has_no_intermediates(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    assert read_arrays(tmp_path / "a.json") == {}


def test_json_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf{"scores": [1]}')
    assert read_arrays(tmp_path / "a.json")["scores"].tolist() == [1]


def test_what_cannot_be_read_is_refused_in_both_languages_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[")
    assert why(tmp_path / "a.json") == {
        "en": "cannot be read as .json (JSONDecodeError)",
        "zh": "无法按 .json 读取（JSONDecodeError）",
    }
    np.save(tmp_path / "scores.npy", np.array([True]))
    assert why(tmp_path / "scores.npy") == {
        "en": "holds an array that is not of numbers",
        "zh": "含有不是数值的数组",
    }
    (tmp_path / "weights.npy").write_bytes(
        header("{'descr': '|u1', 'fortran_order': False, 'shape': (4194305,), }")
    )
    assert why(tmp_path / "weights.npy") == {
        "en": "holds an array that is too large: use a smaller fixture",
        "zh": "含有过大的数组：请用更小的 fixture",
    }


def test_json_is_read_up_to_its_limit_and_refused_beyond_it(tmp_path: Path) -> None:
    text = '{"scores": [1]}'.ljust(8 * 2**20)
    (tmp_path / "a.json").write_text(text)
    assert read_arrays(tmp_path / "a.json")["scores"].tolist() == [1]
    (tmp_path / "a.json").write_text(text + " ")
    assert why(tmp_path / "a.json") == {
        "en": "is larger than 8 MiB: use a smaller fixture",
        "zh": "大于 8 MiB：请用更小的 fixture",
    }


def test_an_array_has_so_many_elements_and_no_more(tmp_path: Path) -> None:
    np.save(tmp_path / "scores.npy", np.zeros(4 * 2**20, np.uint8))
    assert read_arrays(tmp_path / "scores.npy")["scores"].size == 4 * 2**20
    np.save(tmp_path / "scores.npy", np.zeros(4 * 2**20 + 1, np.uint8))
    with pytest.raises(RefusedError, match="too large"):
        read_arrays(tmp_path / "scores.npy")


def test_an_archive_that_unpacks_to_more_than_allowed_is_refused(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "bomb.npz", {"scores.npy": bytes(65 * 2**20)})
    assert bomb.stat().st_size < 2**20
    with pytest.raises(RefusedError, match="larger than 64 MiB"):
        read_arrays(bomb)


def test_an_archive_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "bomb.npz", {"scores.npy": bytes(2**20)})
    size, lie = struct.pack("<I", 2**20), struct.pack("<I", 100)
    bomb.write_bytes(bomb.read_bytes().replace(size, lie))
    with pytest.raises(RefusedError, match="cannot be read"):
        read_arrays(bomb)


def test_no_more_of_an_archive_is_unpacked_than_it_says_it_holds(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "bomb.npz", {"scores.npy": bytes(8 * 2**20)})
    size, lie = struct.pack("<I", 8 * 2**20), struct.pack("<I", 100)
    bomb.write_bytes(bomb.read_bytes().replace(size, lie))
    tracemalloc.start()
    try:
        assert why(bomb)["en"].startswith("cannot be read")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_packed_otherwise_is_refused_before_it_is_unpacked(tmp_path: Path, kind: int) -> None:
    packed = zipped(tmp_path / "a.npz", {"scores.npy": npy([1.0])}, kind)
    assert why(packed) == {"en": "is not packed as numpy.savez packs", "zh": "不是 numpy.savez 的压缩方式"}


def test_a_set_is_one_archive_or_the_npy_files_of_one_folder(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", scores=[1.0], weights=[2.0])
    for name in ("scores", "weights"):
        np.save(tmp_path / f"{name}.npy", [3.0])
    (tmp_path / "notes.txt").write_text("scores")
    (tmp_path / "other.json").write_text("{}")
    np.save(tmp_path / "other.npy", [3.0])
    sets = gather(
        tmp_path / name
        for name in ("a.npz", "scores.npy", "weights.npy", "other.npy", "notes.txt", "other.json")
    )
    assert {place: isinstance(found, dict) and sorted(found) for place, found in sets.items()} == {
        tmp_path / "a.npz": ["scores", "weights"],
        tmp_path: ["scores", "weights"],
    }


def test_one_unreadable_file_does_not_hide_the_others(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", scores=[1.0])
    (tmp_path / "b.npz").write_bytes(b"x")
    (tmp_path / "scores.npy").write_bytes(b"x")
    np.save(tmp_path / "weights.npy", [3.0])
    sets = gather(tmp_path / name for name in ("b.npz", "a.npz", "scores.npy", "weights.npy"))
    assert isinstance(sets[tmp_path], RefusedError)
    assert isinstance(sets[tmp_path / "b.npz"], RefusedError)
    assert sets[tmp_path / "a.npz"] == {"scores": np.array([1.0])}
