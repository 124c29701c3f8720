"""`faults evidence`: measure the five metrics and write their record, or check somebody's record."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from faults import language as languages
from faults.commands import VERBS, output
from faults.commands.arguments import Parser
from faults.language import say
from faults.model import FaultsError, Text, UsageError

if TYPE_CHECKING:
    from faults.evidence import Measurement

OUT, SEED = "evidence", 5
SEED_LIMIT = 2**63

HELP: dict[str, Text] = {
    "out": {
        "en": f"folder for evidence.yaml, evidence.json and intermediates.npz (default {OUT})",
        "zh": f"存放 evidence.yaml、evidence.json 和 intermediates.npz 的文件夹（默认 {OUT}）",
    },
    "seed": {
        "en": f"seed of the synthetic fixture (default {SEED})",
        "zh": f"合成 fixture 的种子（默认 {SEED}）",
    },
    "force": {
        "en": "replace files in that folder even if this verb did not write them",
        "zh": "即使不是本命令写的文件，也予以替换",
    },
    "check": {
        "en": "check this record instead of measuring; exit 1 if anything is missing or out of bounds",
        "zh": "不测量，改为检查这份记录；有缺失或越界时以 1 退出",
    },
    "root": {
        "en": "with --check: folder that holds the artifacts (default: the Git repository around FILE)",
        "zh": "与 --check 合用：产物所在的目录（默认取 FILE 所在的 Git 仓库）",
    },
    "json": {"en": "also write the result as JSON", "zh": "另存结果为 JSON"},
}


def main(argv: list[str]) -> int:
    """Measure and write, or check; 0 where everything holds and is present, else 1."""
    language = languages.resolve(languages.asked(argv))
    options = _parser(language).parse_args(argv)
    options.lang = language
    _refuse_mixture(options)
    if options.json is not None:
        output.check_file("--json", options.json, language)
    return _check(options) if options.check is not None else _measure(options)


def _parser(language: str) -> Parser:
    words = {name: say(text, language) for name, text in HELP.items()}
    parser = Parser("evidence", VERBS["evidence"], language)
    parser.add_argument("--out", metavar="DIR", help=words["out"])
    parser.add_argument("--seed", type=int, metavar="S", help=words["seed"])
    parser.add_argument("--force", action="store_true", help=words["force"])
    parser.add_argument("--check", metavar="FILE", help=words["check"])
    parser.add_argument("--root", metavar="DIR", help=words["root"])
    parser.add_argument("--json", metavar="FILE", help=words["json"])
    return parser


def _refuse_mixture(options: argparse.Namespace) -> None:
    measuring = {
        "--out": options.out is not None,
        "--seed": options.seed is not None,
        "--force": options.force,
    }
    alien = [name for name, given in measuring.items() if given] if options.check is not None else []
    if alien:
        raise _usage(
            options,
            f"{alien[0]} is for measuring, not for --check",
            f"{alien[0]} 用于测量，不能与 --check 合用",
        )
    if options.check is None and options.root is not None:
        raise _usage(options, "--root needs --check FILE", "--root 须与 --check FILE 合用")


def _check(options: argparse.Namespace) -> int:
    """Print the verdict on one file."""
    # Imported here, for a command line that is known to be sound.
    from faults import evidence_check
    from reports import evidence

    path, root = _record(options), _root(options)
    with _opened(options, path):
        found = evidence_check.check(path, root)
    if options.json is not None:
        output.write_file("--json", options.json, evidence.check_to_json(found))
    print(evidence.render_check(found, options.lang))
    return 0 if found.complete else 1


def _record(options: argparse.Namespace) -> Path:
    path = Path(options.check)
    obstacle = _obstacle(options, path)
    if obstacle is not None:
        raise _usage(
            options,
            f"--check {options.check!r}: found {obstacle['en']}, required is a file of evidence",
            f"--check {options.check!r}：{obstacle['zh']}；需要一份 evidence 文件",
        )
    if options.json is not None and output.place(options.json) == path.resolve():
        raise _usage(options, "--json names the file to check", "--json 就是要检查的文件")
    return path


def _obstacle(options: argparse.Namespace, path: Path) -> Text | None:
    """Why `path` is no file that can be checked, None if it is one."""
    try:
        with _opened(options, path, PermissionError):
            regular = stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return {"en": "no such file", "zh": "文件不存在"}
    return None if regular else {"en": "something that is not a regular file", "zh": "不是普通文件"}


@contextmanager
def _opened(options: argparse.Namespace, path: Path, kind: type[OSError] = OSError) -> Iterator[None]:
    try:
        yield
    except kind as error:
        reason = error.strerror or type(error).__name__
        words = {"en": f"{path}: cannot be read ({reason})", "zh": f"{path}：无法读取（{reason}）"}
        raise FaultsError(words[options.lang]) from error


def _root(options: argparse.Namespace) -> Path | None:
    if options.root is not None and not Path(options.root).is_dir():
        raise _usage(
            options,
            f"--root {options.root!r}: found no such folder, required is one that holds the artifacts",
            f"--root {options.root!r}：没有这个文件夹；需要产物所在的目录",
        )
    return None if options.root is None else Path(options.root)


def _measure(options: argparse.Namespace) -> int:
    """Measure, write the three files, print what was found."""
    seed = SEED if options.seed is None else options.seed
    if not 0 <= seed < SEED_LIMIT:
        raise _usage(
            options,
            f"--seed: found {seed}, required is 0 to 2^63 - 1",
            f"--seed：得到 {seed}，需要 0 到 2^63 - 1",
        )
    folder = Path(OUT if options.out is None else options.out)
    made = when(options)
    _refuse_folder(options, folder)
    from faults import evidence

    measurement = evidence.measure(seed)
    return _deliver(options, measurement, made, folder)


def when(options: argparse.Namespace) -> str:
    """The time of the record; UsageError where SOURCE_DATE_EPOCH is no time."""
    from faults import evidence_record

    try:
        return evidence_record.now()
    except (ValueError, OverflowError, OSError) as error:
        found = os.environ.get(evidence_record.EPOCH)
        raise _usage(
            options,
            f"{evidence_record.EPOCH}: found {found!r}, required is whole seconds since 1970",
            f"{evidence_record.EPOCH}：得到 {found!r}，需要自 1970 年起的整秒数",
        ) from error


def _refuse_folder(options: argparse.Namespace, folder: Path) -> None:
    """UsageError, before anything is measured, where files could not or must not be written."""
    from faults.evidence_record import FILES, foreign

    if os.path.lexists(folder) and not folder.is_dir():
        raise _usage(
            options,
            f"--out {str(folder)!r}: found a file, required is a folder",
            f"--out {str(folder)!r}：是文件；需要文件夹",
        )
    strangers = [] if options.force else foreign(folder)
    blocked = [name for name in FILES if (folder / name).is_dir()]
    if strangers or blocked:
        name = str(folder / (blocked or strangers)[0])
        raise _usage(
            options,
            f"{name!r}: found something this verb did not write, or changed since; move it, "
            "name another folder with --out, or replace files with --force",
            f"{name!r}：不是本命令写的，或写后已被改动；请移走、用 --out 另选文件夹，或用 --force 替换文件",
        )
    if options.json is not None and output.place(options.json) in {
        (folder / name).resolve() for name in FILES
    }:
        raise _usage(options, "--json names one of the files in --out", "--json 与 --out 中的文件相同")


def _deliver(options: argparse.Namespace, measurement: Measurement, when: str, folder: Path) -> int:
    from reports import evidence

    files, run = _files(measurement, when, folder)
    write(options, folder, files)
    paths = [str(folder / name) for name in files]
    if options.json is not None:
        output.write_file("--json", options.json, evidence.to_json(run))
        paths.append(options.json)
    print(evidence.render_measurement(measurement.measures, run, paths, options.lang))
    return 0 if measurement.holds else 1


def _files(measurement: Measurement, when: str, folder: Path) -> tuple[dict[str, bytes], dict[str, object]]:
    """Name -> content of the three files, and the machine record, which is the last of them."""
    from faults import evidence_record as records
    from reports import evidence

    origin = records.Origin((records.command_line(measurement.seed),), records.commit(folder), when)
    content = records.record(measurement, origin, records.relative_artifact(folder))
    files = {
        records.ARTIFACT: records.archive(measurement),
        records.RECORD: records.to_yaml(content).encode(),
    }
    run = records.run_record(measurement, origin, files)
    return {**files, records.RUN: evidence.to_json(run).encode()}, run


def write(options: argparse.Namespace, folder: Path, files: Mapping[str, bytes]) -> None:
    """Each file whole or not at all, in the order given; UsageError where one cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            output.replace(folder / name, content)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _usage(
            options,
            f"--out {str(folder)!r}: cannot be written ({reason}); name another folder",
            f"--out {str(folder)!r}：无法写入（{reason}）；请另选文件夹",
        ) from error


def _usage(options: argparse.Namespace, english: str, chinese: str) -> UsageError:
    return UsageError({"en": english, "zh": chinese}[options.lang])
