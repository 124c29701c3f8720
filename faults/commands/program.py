"""The program's own help: what stands above the verbs."""

from __future__ import annotations

from faults.commands import VERBS
from faults.model import Text

USAGE: Text = {
    "en": "usage: faults [--lang en|zh] VERB [OPTION ...]",
    "zh": "用法：faults [--lang en|zh] 命令 [选项 ...]",
}

PURPOSE: Text = {
    "en": "Mutation testing for transformer code: five silent faults, injected, caught and repaired.",
    "zh": "面向 Transformer 代码的故障注入变异测试：五种静默故障，注入、检出、修复。",
}

VERBS_TITLE: Text = {"en": "verbs:", "zh": "命令："}

REST: Text = {
    "en": """\
options:
  -h, --help       show this help, or that of a verb: faults VERB --help
  --version        show the version
  --lang en|zh     language; the default follows LC_ALL, LC_MESSAGES, LANG

exit codes:
  0 good; 1 a fault survived, was not restored, or the score is too low; 2 usage;
  3 a false alarm on the correct block, an error, or the tool itself; 5 nothing selected; 130 interrupted

start here:
  faults run --all
  faults show mask_adds_zero""",
    "zh": """\
选项：
  -h, --help       显示本帮助；某个命令的帮助：faults 命令 --help
  --version        显示版本号
  --lang en|zh     语言；默认取自 LC_ALL、LC_MESSAGES、LANG

退出码：
  0 通过；1 有故障存活、未复原或得分过低；2 用法错误；
  3 正确的 block 上出现误报、运行出错或工具自身出错；5 没有选中任何故障；130 被中断

从这里开始：
  faults run --all
  faults show mask_adds_zero""",
}


def help_text(language: str) -> str:
    """Everything `faults --help` prints."""
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {verb:<{width}}  {summary[language]}" for verb, summary in VERBS.items())
    parts = [USAGE[language], PURPOSE[language], f"{VERBS_TITLE[language]}\n{verbs}", REST[language]]
    return "\n\n".join(parts)
