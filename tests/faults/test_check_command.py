"""`faults check`: what a person types, what stands on stdout and in files, the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from detectors.checking import NAMES
from detectors.declaration import NAMES as KEYS
from faults.__main__ import main
from faults.commands.check_words import FLAGS, item
from tests.faults.check_subjects import FAULTY, SOUND

FILE = (
    SOUND
    + FAULTY
    + """
class Whole(Block):
    def attention(self, q, k, v):
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        return self.softmax(self.mask(scores)) @ v

class Post(Block):
    norm = None
    def call(self, x):
        x = self.norm_of(x + self.attend(x))
        return self.norm_of(x + self.feed(x))
class Sized:
    kind = "block"
    def __init__(self, width): self.width = width
    def call(self, x): return Block.call(Block(), x)
"""
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mine") / "mine.py"
    made.write_text(FILE)
    return made


def run(*arguments: str) -> int:
    return main(["--lang", "en", "check", *arguments])


def test_several_subjects_keep_their_order_and_the_worst_exit_code_counts(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = {"--json": tmp_path / "out.json", "--junitxml": tmp_path / "out.xml"}
    options = [text for option, path in written.items() for text in (option, str(path))]
    subjects = [f"{file}:{name}" for name in ("Leaky", "Whole", "nothing", "Weak")]
    assert run(*subjects, "-q", *options) == 3
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["BROKEN", "SOUND", "UNUSABLE", "FRAGILE"]
    assert err.startswith(f"faults: {subjects[2]}: ")
    tree = json.loads(written["--json"].read_text())
    assert set(tree) == {"schema_version", "subjects"}
    assert [one["subject"] for one in tree["subjects"]] == subjects
    assert [one["verdict"] for one in tree["subjects"]] == ["broken", "sound", "unusable", "fragile"]
    broken = tree["subjects"][0]
    keys = {"subject", "verdict", "diagnosis", "scale", "faults", "unseen", "notes", "contracts"}
    assert set(broken) == keys
    assert broken["diagnosis"][0] == {"fault": "mask_adds_zero", "variant": "zero", "distance": 0.0}
    assert [contract["name"] for contract in broken["contracts"]] == list(NAMES)
    future = broken["contracts"][NAMES.index("future")]
    assert set(future) == {"name", "value", "threshold", "verdict", "reason"}
    assert (future["verdict"], future["threshold"]) == ("broken", 1e-6)
    suites = ElementTree.parse(written["--junitxml"]).getroot().findall("testsuite")
    assert [suite.get("name") for suite in suites] == subjects
    assert [suite.get("tests") for suite in suites] == ["29", "29", "1", "29"]
    assert [suite.get("failures") for suite in suites] == ["2", "0", "0", "1"]
    assert [suite.get("errors") for suite in suites] == ["0", "0", "1", "0"]


@pytest.mark.parametrize(
    ("name", "more", "code"),
    [
        ("sound", (), 0),
        ("sound", ("--strict",), 1),
        ("Whole", ("--strict",), 0),
        ("Leaky", (), 1),
        ("Leaky", ("--no-causal",), 0),
        ("Weak", (), 0),
        ("Weak", ("--strict",), 1),
        ("Post", (), 0),
        ("Post", ("--strict",), 1),
        ("Post", ("--norm", "post"), 0),
        ("Post", ("--norm", "post", "--strict"), 1),
        ("bare", ("--kind", "block", "--width", "6", "--norm", "pre"), 1),
    ],
)
def test_the_exit_code_follows_the_verdict(name: str, more: tuple[str, ...], code: int, file: Path) -> None:
    assert run(f"{file}:{name}", "-q", *more) == code


@pytest.mark.parametrize(
    ("more", "flag"),
    [((), "--kind attention"), (("--kind", "block"), "--width N"), (("--kind", "model"), "--vocab N")],
)
def test_what_cannot_be_inferred_is_asked_in_one_line(
    more: tuple[str, ...], flag: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"{file}:bare", *more) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert flag in err
    assert err.count("\n") == 1


def test_the_report_has_the_table_the_diagnosis_and_the_smallest_witness(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"{file}:Leaky", "--format", "plain") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"BROKEN {file}:Leaky"
    rows = {line.split()[0]: line for line in lines[2:31]}
    assert list(rows) == list(NAMES)
    assert "broken" in rows["future"]
    assert "applies: it can be called" in rows["future"]
    assert "not observable" in rows["slope"]
    assert "not applicable" in rows["heads"]
    text = "\n".join(lines)
    assert "13 contracts measured, 2 of them broken; 13 could not be observed, 3 do not apply" in text
    assert "mask_adds_zero/zero, distance 0.00" in text
    assert "runner-up" in text
    assert "(threshold 1e-6): moving a later token changes no earlier output" in text
    assert "visibility" in text
    assert "B=1 T=2 H=2 Hkv=2 d_k=4 float32 seed=0: future = " in text
    assert "declare --no-causal" in text


UNSCALED = """
class Unscaled(Block):
    def scale(self, scores):
        return scores
"""


def test_a_scale_that_cannot_be_seen_is_never_called_sound(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(FILE + UNSCALED)
    assert run(f"{tmp_path}/mine.py:Unscaled", "--format", "plain", "--json", str(tmp_path / "out.json")) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith(f"UNDECIDED {tmp_path}/mine.py:Unscaled ")
    assert "verdict sound as far as seen; not observable: missing_scale" in text
    assert (
        "missing_scale not observable: its attention can be neither called nor followed; to see it, give"
        in text
    )
    assert "residual_shape checked mis" in text
    (subject,) = json.loads((tmp_path / "out.json").read_text())["subjects"]
    assert (subject["verdict"], subject["unseen"]) == ("undecided", ["missing_scale"])
    assert [one["seen"] for one in subject["faults"]] == [
        "checked", "not observable", "checked in part", "checked in part", "checked",
    ]  # fmt: skip


def test_what_undecided_means_and_how_it_exits_stands_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "exit 1 for fragile and undecided subjects too, which exit 0 otherwise; undecided: nothing is broken,"
        in text
    )


def test_a_name_with_a_line_end_stays_on_its_line(
    tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"{tmp_path}/no\nsuch.py:x") == 3
    assert (
        capsys.readouterr().err
        == f"faults: {tmp_path}/no\\nsuch.py:x: there is no file {tmp_path}/no\\nsuch.py\n"
    )
    named = tmp_path / "two\nlines.py"
    named.write_text(FILE)
    assert run(f"{named}:Whole", "-q") == 0
    assert capsys.readouterr().out.startswith(f"SOUND {tmp_path}/two\\nlines.py:Whole: each of the five ")


def test_an_open_question_is_asked_beside_what_could_be_measured(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"{file}:Post") == 0
    out = capsys.readouterr().out
    assert out.startswith("UNDECIDED ")
    assert "question" in out
    assert "pre-norm without its skip, or post-norm? say --norm pre or post" in out


def test_the_report_is_chinese_where_chinese_is_asked_for(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--lang", "zh", "check", f"{file}:Leaky", f"{file}:Post"]) == 1
    out = capsys.readouterr().out
    for english in (
        "applies",
        "not observable",
        "measured",
        "cannot",
        "assumes",
        "declare",
        "threshold",
        "broken",
    ):
        assert english not in out
    for chinese in ("有故障", "无法判定", "不成立", "契约", "最小见证", "声明 --no-causal", "请用 --norm"):
        assert chinese in out


def test_errors_are_chinese_where_chinese_is_asked_for(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--lang", "zh", "check", f"{file}:bare"]) == 2
    assert "请用 --kind 说明" in capsys.readouterr().err
    assert main(["--lang", "zh", "check", f"{file}:nothing"]) == 3
    assert "没有 'nothing'；它有：" in capsys.readouterr().err


def test_init_builds_what_needs_arguments(file: Path) -> None:
    assert run(f"{file}:Sized", "--init", "Sized(8)", "-q", "--norm", "pre", "--seed", "3") == 0


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "the following arguments are required: SUBJECT"),
        (("a:b", "c:d", "--init", "x"), "--init builds one subject, found several; check them one by one"),
        (("a:b", "--timeout", "0"), "--timeout: found 0, required is more than 0 seconds"),
        (("a:b", "--timeout", "nan"), "--timeout: found nan, required is more than 0 seconds"),
        (("a:b", "--seed", "-1"), "--seed: found -1, required is 0 or more"),
        (("a:b", "-q", "-v"), "found -q and -v, required is one of them"),
        (("a:b", "--cwd", "/no/such/folder"), "--cwd: found no folder '/no/such/folder'"),
        (("a:b", "--heads", "4", "--kv-heads", "3"), "kv_heads: found 3, required: a divisor of heads = 4"),
        (
            ("a:b", "--max-length", "1"),
            "max_length: found 1, required: a whole number of at least 2; one token shows",
        ),
        (
            ("a:b", "--width", "1", "--heads", "1"),
            "width: found 1, required: a whole number of at least 2; one chan",
        ),
        (
            ("a:b", "--vocab", "1"),
            "vocab: found 1, required: a whole number of at least 2; one token id cannot",
        ),
        (("a:b", "--heads", "1000000"), "heads: found 1000000, required: a whole number of at most 1024"),
        (("a:b", "--width", "99999999"), "width: found 99999999, required: a whole number of at most 65536"),
        (("a:b", "--order", "qkk"), "order: found 'qkk', required: the letters q, k and v"),
        (("a:b", "--design", "odd"), "design: found 'odd', required: one of "),
        (("a:b", "--json", "x", "--junitxml", "./x"), "--json and --junitxml name the same file"),
        (("a:b", "--json", "/no/such/folder/x"), "--json '/no/such/folder/x': found no folder"),
        (("a:b", "--format", "gird"), "unknown table format 'gird'; did you mean"),
        (("a:b", "--kind", "bloc"), "argument --kind: invalid choice"),
        (("a.py",), "subject 'a.py': required: module:attribute"),
    ],
)
def test_a_wrong_command_line_is_refused_before_anything_runs(
    arguments: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert line in err


def test_there_is_a_flag_for_every_declared_key() -> None:
    assert {flag.key for flag in FLAGS} == set(KEYS)
    assert (item("1"), item("logits")) == (1, "logits")


def test_a_module_is_found_in_the_working_directory(tmp_path: Path, file: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "blocks.py").write_text(file.read_text())
    assert run("package.blocks:sound", "--cwd", str(tmp_path), "-q") == 0
    assert run("package.blocks:sound", "-q") == 3


def test_the_same_command_prints_the_same_bytes(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = []
    for _ in range(2):
        run(f"{file}:Leaky", f"{file}:Weak", "-v")
        seen.append(capsys.readouterr().out)
    assert seen[0] == seen[1]
