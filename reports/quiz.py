"""The self-test as text: what `faults quiz` prints."""

from __future__ import annotations

from collections.abc import Sequence

from faults.page_model import Question, Text
from reports.document import READING, Block, Heading, Lines, draw

TITLE: Text = {"en": "Self-test: {count} questions", "zh": "自测：{count} 题"}
NOTE: Text = {
    "en": "Every figure in the answers was computed just now, by the library itself.",
    "zh": "答案中的每个数值都由本库当场计算。",
}


def render(questions: Sequence[Question], language: str, style: str, answers: bool = True) -> str:
    """The questions, numbered, each with its answer below it unless `answers` is False."""
    blocks: list[Block] = [Heading(TITLE[language].format(count=len(questions)), level=1)]
    for at, asked in enumerate(questions, start=1):
        blocks.append(Heading(f"{at}. {asked.question[language]}"))
        blocks += [Lines([asked.answer[language]], READING)] if answers else []
    return draw([*blocks, *([Lines([NOTE[language]])] if answers else [])], style, language)
