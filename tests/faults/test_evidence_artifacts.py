"""Artifacts of an evidence record: a stranger's paths and a stranger's bytes."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from faults.evidence_artifacts import RefusedError, gather, locate, read_arrays, repository


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
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text.encode()


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


def test_json_of_another_form_has_no_intermediates(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1, 2]")
    assert read_arrays(tmp_path / "a.json") == {}


def test_json_is_read_up_to_its_limit_and_refused_beyond_it(tmp_path: Path) -> None:
    text = '{"scores": [1]}'.ljust(8 * 2**20)
    (tmp_path / "a.json").write_text(text)
    assert read_arrays(tmp_path / "a.json")["scores"].tolist() == [1]
    (tmp_path / "a.json").write_text(text + " ")
    with pytest.raises(RefusedError, match="larger than 8 MiB"):
        read_arrays(tmp_path / "a.json")


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


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_packed_otherwise_is_refused_before_it_is_unpacked(tmp_path: Path, kind: int) -> None:
    packed = zipped(tmp_path / "a.npz", {"scores.npy": npy([1.0])}, kind)
    with pytest.raises(RefusedError, match="not packed as"):
        read_arrays(packed)


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
    assert {place: sorted(found) for place, found in sets.items() if isinstance(found, dict)} == {
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
