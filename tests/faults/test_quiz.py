"""The self-test: figures known by hand or from an independent formula, and what the terminal prints."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from faults.__main__ import main
from faults.page_model import Question
from faults.quiz.questions import questions
from faults.quiz.words import ANSWERS, QUESTIONS
from reports.quiz import render


@pytest.fixture(scope="module")
def asked() -> dict[str, Question]:
    return {question.name: question for question in questions()}


def test_every_question_has_an_answer_with_its_figures_filled_in(asked: dict[str, Question]) -> None:
    assert list(asked) == list(QUESTIONS) == list(ANSWERS)
    for question in asked.values():
        for text in question.answer.values():
            assert not re.search(r"[{}]|nan|(?<!-)inf\b", text)
        assert all(math.isfinite(figure) for figure in question.figures.values())


def test_the_shapes_are_those_of_the_sizes_named(asked: dict[str, Question]) -> None:
    for answer in asked["shapes"].answer.values():
        found = re.findall(r"\([\d, ]+\)", answer)
        assert found == [
            "(2, 5, 12)", "(2, 3, 5, 4)", "(2, 3, 5, 5)", "(5, 5)", "(2, 3, 5, 5)", "(2, 3, 5, 4)",
            "(2, 5, 12)", "(2, 5, 12)",
        ]  # fmt: skip


def test_the_dot_product_of_the_chapter_is_32(asked: dict[str, Question]) -> None:
    figures = asked["dot"].figures
    assert figures["product"] == 32
    assert figures["orthogonal"] == 0
    assert figures["longer"] == 64
    assert figures["aligned"] == pytest.approx(math.sqrt(14 * 77))
    assert figures["cosine"] == pytest.approx(32 / math.sqrt(14 * 77))
    assert figures["score"] == pytest.approx(32 / math.sqrt(3))


def test_a_dot_product_of_64_channels_has_deviation_8_and_is_6_in_size(asked: dict[str, Question]) -> None:
    figures = asked["scale"].figures
    assert figures["spread"] == 8
    assert round(figures["typical"], 2) == 6.38
    # E|q.k| for Gaussian entries, by numerical integration: |q| has the chi distribution with 64 degrees.
    grid = np.linspace(1e-6, 20, 200_001)
    log_density = 63 * np.log(grid) - grid**2 / 2
    density = np.exp(log_density - log_density.max())
    mean_length = (grid * density).sum() / density.sum()
    assert figures["exact"] == pytest.approx(math.sqrt(2 / math.pi) * mean_length, rel=1e-6)
    # Four standard errors of the mean over 4000 pairs.
    assert figures["measured"] == pytest.approx(figures["exact"], abs=4 * 8 * 0.6 / math.sqrt(4000))
    assert figures["own"] == pytest.approx(64, abs=4 * math.sqrt(128 / 4000))


def test_without_the_scale_the_slope_falls_where_heads_are_wide_and_rises_where_they_are_narrow(
    asked: dict[str, Question],
) -> None:
    figures = asked["gradient"].figures
    assert figures["unscaled_largest"] > 0.8 > 0.3 > figures["scaled_largest"]
    assert figures["wide_slope"] < figures["unscaled_slope"] < figures["scaled_slope"]
    assert figures["small_unscaled_slope"] > figures["small_scaled_slope"]


def test_rows_sum_to_one_and_query_t_sees_t_plus_one_keys(asked: dict[str, Question]) -> None:
    figures = asked["axes"].figures
    assert figures["row_error"] < 1e-15
    assert figures["least_column"] < 0.5 < 1.5 < figures["largest_column"]
    assert (figures["first_seen"], figures["last_seen"], figures["future_weight"]) == (1, 5, 0)


def test_the_future_test_passes_two_faults_that_another_test_sees(asked: dict[str, Question]) -> None:
    figures = asked["necessary"].figures
    for fault in ("swap", "scale"):
        assert figures[f"{fault}_future"] <= figures["threshold"]
        assert figures[f"{fault}_heads"] > 0.05


def test_each_part_of_the_block_does_what_is_said_of_it(asked: dict[str, Question]) -> None:
    figures = asked["jobs"].figures
    assert figures["masked_future"] == 0
    assert figures["open_future"] > 0.01
    assert figures["kept_flow"] < 1e-12
    assert figures["lost_flow"] == pytest.approx(1)
    assert figures["normed_branch"] < 1e-5 < 0.1 < figures["unnormed_branch"]


def test_information_is_in_bits_and_the_gradient_in_nats(asked: dict[str, Question]) -> None:
    figures = asked["information"].figures
    assert (figures["half"], figures["eighth"], figures["uniform"], figures["certain"]) == (1, 3, 3, 0)
    # d/dz of -ln softmax(z)[0], by a central difference at p = 0.1 and p = 0.9.
    for p, name in ((0.1, "unlikely"), (0.9, "likely")):
        z = math.log(p / (1 - p))
        loss = [math.log(1 + math.exp(-(z + step))) for step in (1e-5, -1e-5)]
        assert figures[name] == pytest.approx((loss[0] - loss[1]) / 2e-5, abs=1e-8)


def test_positions_have_the_inner_products_of_the_chapter(asked: dict[str, Question]) -> None:
    figures = asked["positions"].figures
    # The sum of cos(distance * w) over the 16 frequencies, by hand.
    products = [sum(math.cos(d / 10000 ** (2 * i / 32)) for i in range(16)) for d in range(33)]
    assert figures["one_apart"] == pytest.approx(products[1])
    assert figures["five_apart"] == pytest.approx(products[5])
    assert (round(figures["one_apart"], 6), round(figures["five_apart"], 6)) == (15.313649, 11.777383)
    assert figures["disagreement"] < 1e-14
    rises = next(d for d in range(1, 33) if products[d] > products[d - 1])
    assert (figures["rises_at"], figures["before_rise"]) == (rises, rises - 1)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_terminal_prints_questions_and_answers(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quiz", "--lang", language]) == 0
    printed = "".join(capsys.readouterr().out.split())
    for question in questions():
        assert "".join(question.question[language].split()) in printed
        assert "".join(question.answer[language].split()) in printed


def test_the_questions_can_be_had_without_the_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quiz", "--lang", "en", "--questions"]) == 0
    printed = "".join(capsys.readouterr().out.split())
    for question in questions():
        assert "".join(question.question["en"].split()) in printed
        assert "".join(question.answer["en"].split()) not in printed


def test_the_same_answers_come_every_time() -> None:
    assert questions() == questions()


ASKED = (
    Question("a", {"en": "Why?", "zh": "为什么？"}, {"en": "word " * 30 + "end", "zh": "因为"}, {}),
    Question("b", {"en": "How?", "zh": "怎么？"}, {"en": "So.", "zh": "这样"}, {}),
)


def test_questions_are_numbered_and_answers_are_as_wide_as_one_reads() -> None:
    lines = render(ASKED, "en", "lines").splitlines()
    assert lines[0] == "Self-test: 2 questions"
    assert [line for line in lines if line[:2] in ("1.", "2.")] == ["1. Why?", "2. How?"]
    assert 90 < max(map(len, lines)) <= 100
    assert lines[-1] == "Every figure in the answers was computed just now, by the library itself."
    without = render(ASKED, "zh", "github", answers=False)
    assert without == "## 自测：2 题\n\n### 1. 为什么？\n\n### 2. 怎么？"
