"""What is found about a learner's file: finished, unfinished, with each of the five faults, and with other mistakes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.faults.clean_room_samples.variants import COMPLETE, changed, examined, line, part

pytestmark = pytest.mark.usefixtures("reference_as_written", "room_here")

MERGED = "np.concatenate([attended[:, head] for head in range(attended.shape[1])], axis=-1)"
RESIDUAL = "return x + branch(standardise(x, gain, shift))"
SCALED = "scores / query.shape[-1] ** 0.5"
SECOND = "return pre_norm_residual(middle, lambda h: feed_forward(h, weights)"
MASKED = "masked = scaled + causal_mask(scores.shape[-1])"
SPLIT = "np.stack(np.split(flat, heads, axis=2), axis=1)"
RELU = "np.where(inner > 0, inner, 0.0)"
STEP = 'return {**model, "unembedding": model["unembedding"] - learning_rate * slope}'

MISTAKES = [
    (SCALED, "scores", "attention", "causal_attention", "does not divide by sqrt(d) (missing_scale)"),
    ("weights = powers / powers.sum(-1, keepdims=True)", "weights = 0.9 * powers / powers.sum(-1, keepdims=True)",
     "attention", "causal_attention", "has rows of weights that miss 1 by 0.1"),
    ('"masked": masked', '"masked": masked - 1.0', "attention", "causal_attention", 'changes in "masked" what'),
    ('"output": np.einsum("bhqk,bhkc->bhqc", weights, value)', '"output": value', "attention", "causal_attention",
     "differs from the reference"),
    (SCALED, "scores / query.shape[-1]", "attention", "causal_attention", "divides by d, not by sqrt(d)"),
    (SCALED, "scores * query.shape[-1] ** 0.5", "attention", "causal_attention", "multiplies by sqrt(d)"),
    ("-np.inf", "0.0", "attention", "causal_mask", "adds 0 where it must add -inf"),
    (MASKED, "masked = scaled", "attention", "causal_attention", "puts weight 0.98"),
    ("row + 1 :]", ": row]", "attention", "causal_mask", "flipped or shifted"),
    ("row + 1 :]", "row + 2 :]", "attention", "causal_mask", "wrong at 4 of 25 places"),
    (MERGED, "attended.reshape(2, 5, 12)", "merge", "merge_heads", "scrambles heads"),
    (SPLIT, "flat.reshape(len(x), heads, x.shape[1], -1)", "qkv", "project_qkv", "scrambles heads and tokens (q)"),
    (' + weights["b" + letter]', "", "qkv", "project_qkv", "forgets the bias"),
    ("tuple(out)", "tuple(out[::-1])", "qkv", "project_qkv", "returns its arrays in another order"),
    (RESIDUAL, "return branch(standardise(x, gain, shift))", "residual", "pre_norm_residual", "drops the skip"),
    (RESIDUAL, "return standardise(x + branch(x), gain, shift)", "residual", "pre_norm_residual", "is post-norm"),
    (RESIDUAL, "return x + branch(x)", "residual", "pre_norm_residual", "does not normalise"),
    (RESIDUAL, "return 2 * x + branch(standardise(x, gain, shift))", "residual", "pre_norm_residual", "adds x twice"),
    (RELU, "inner", "ffn", "feed_forward", "has no ReLU"),
    (SECOND, SECOND.replace("return", "return middle - x +").replace("(middle", "(x"), "block", "block", "feeds x to"),
    (' @ weights["Wo"] + weights["bo"]', ' @ weights["Wo"]', "block", "block", "forgets the bias bo"),
    ("np.mean(-np.log", "np.sum(-np.log", "learning", "loss", "is the sum, not the mean"),
    ("- learning_rate * slope", "+ learning_rate * slope", "learning", "update", "climbs"),
    ("- learning_rate * slope", "- 2 * learning_rate * slope", "learning", "update", "the gradient is off by"),
    (STEP, "return model", "learning", "update", "moves no parameter"),
    (STEP, "return {}", "learning", "update", "does not return a whole model"),
    (STEP, f'model["unembedding"] -= slope\n    {STEP}', "learning", "update", "changes what it is given"),
    ("[:, -1].argmax(-1)", "[:, 0].argmax(-1)", "generate", "generate", "another token than the likeliest"),
    ("np.concatenate([ids, best", "np.concatenate([ids * 0, best", "generate", "generate", "does not keep the prompt"),
]  # fmt: skip

FAULTS = [
    (SCALED, "scores", "missing_scale"),
    ("-np.inf", "0.0", "mask_adds_zero"),
    ("row + 1 :]", ": row]", "flipped_triangle"),
    (MERGED, "attended.reshape(attended.shape[0], attended.shape[2], -1)", "head_seq_swap"),
    (RESIDUAL, "return branch(standardise(x, gain, shift))", "residual_shape"),
]

STRANGE = [
    ("return None", "returns a NoneType, required is an array"),
    ("return (one for one in x)", "returns a generator, required is an array"),
    ('return "text"', "returns a str, required is an array"),
    ("return np.array([object()])", "returns an array of dtype object, required is an array"),
    ("return np.zeros(10**8)", "returns an array of 762 MB, required is an array"),
    ("return Sulky()", "raises RuntimeError: no array today"),
    ("return x[0]", "returns shape (5, 12), required (2, 5, 12)"),
    ('raise ValueError("so")', "raises ValueError: so"),
    ("raise SystemExit(0)", "raises SystemExit: 0"),
    ("return feed_forward(x, weights)", "raises RecursionError"),
    ('weights["W9"] = x', "changes what it is given"),
    ("x[0] = 0", "changes what it is given"),
]


def test_the_finished_sample_is_complete(tmp_path: Path) -> None:
    room = examined(tmp_path, COMPLETE)
    assert [finding.state for finding in room.findings] == ["done"] * 9
    assert {one.key: one.holds for one in room.requirements} == dict.fromkeys(
        ("contracts", "rows", "future", "merge", "reference", "per_head", "chain", "sketch", "repair"), True
    )
    assert room.verdict == "sound"
    assert room.done


@pytest.mark.parametrize(("old", "new", "key", "function", "words"), MISTAKES)
def test_a_mistake_is_named_with_the_line_of_its_function(
    tmp_path: Path, old: str, new: str, key: str, function: str, words: str
) -> None:
    text = changed(old, new)
    room = examined(tmp_path, text)
    found = part(room, key)
    assert words in found.what["en"]
    assert found.line == line(text, f"def {function}(")
    assert not room.done


@pytest.mark.parametrize(("old", "new", "fault"), FAULTS)
def test_the_detectors_name_each_of_the_five_faults(tmp_path: Path, old: str, new: str, fault: str) -> None:
    room = examined(tmp_path, changed(old, new))
    assert room.verdict == "broken"
    assert room.named == (fault,)


@pytest.mark.parametrize(("statement", "words"), STRANGE)
def test_a_function_that_does_something_strange_gets_one_line(
    tmp_path: Path, statement: str, words: str
) -> None:
    old = '    inner = x @ weights["W1"]'
    sulky = (
        '\n\nclass Sulky:\n    def __array__(self, *a, **n):\n        raise RuntimeError("no array today")\n'
    )
    found = part(examined(tmp_path, changed(old, f"    {statement}\n{old}") + sulky), "ffn")
    assert words in found.what["en"]
    assert found.line is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-np.inf", "-1e9"),
        (MASKED, "masked = np.where(np.tri(scores.shape[-1]) > 0, scaled, -np.inf)"),
        (MASKED, "masked = np.where(causal_mask(scores.shape[-1]) < 0, -np.inf, scaled)"),
        ("standardise(x, gain, shift)", "standardise(x, gain, shift) * 1.0"),
    ],
)
def test_another_correct_way_is_complete_too(tmp_path: Path, old: str, new: str) -> None:
    assert examined(tmp_path, COMPLETE.replace(old, new)).done


def test_a_boolean_mask_is_as_good_as_an_additive_one(tmp_path: Path) -> None:
    text = changed("    return grid", "    return grid == 0").replace(
        MASKED, "masked = np.where(causal_mask(scores.shape[-1]), scaled, -np.inf)"
    )
    room = examined(tmp_path, text)
    assert room.done
    assert [one.function for one in room.repairs] == ["causal_mask", "merge_heads"]


def test_half_finished_work_counts_what_is_done(tmp_path: Path) -> None:
    text = (
        COMPLETE[: COMPLETE.index("def pre_norm_residual")]
        + "\n\ndef feed_forward(x, w):\n    raise NotImplementedError\n"
    )
    room = examined(tmp_path, text)
    states = {finding.key: finding.state for finding in room.findings}
    assert room.finished == 3
    assert states == {
        "qkv": "done", "attention": "done", "merge": "done", "residual": "missing", "ffn": "not written",
        "block": "missing", "logits": "missing", "learning": "missing", "generate": "missing",
    }  # fmt: skip
    assert part(room, "ffn").line == line(text, "def feed_forward")


def test_a_fault_made_in_the_learners_code_fails_before_and_is_fixed_after(tmp_path: Path) -> None:
    leak, scramble = examined(tmp_path, COMPLETE).repairs
    assert (leak.fault, leak.function, leak.line) == (
        "mask_adds_zero",
        "causal_mask",
        line(COMPLETE, "def causal_mask"),
    )
    assert leak.healthy == leak.repaired == 0.0
    assert leak.broken > 0.1
    assert leak.identical
    assert (scramble.fault, scramble.function) == ("head_seq_swap", "merge_heads")
    assert scramble.healthy == scramble.repaired < 1e-12
    assert scramble.broken > 0.1


def test_a_fault_is_made_only_in_functions_that_are_right(tmp_path: Path) -> None:
    merge = "np.concatenate([attended[:, head] for head in range(attended.shape[1])], axis=-1)"
    scrambled = changed(merge, "attended.reshape(attended.shape[0], attended.shape[2], -1)")
    room = examined(tmp_path, scrambled)
    assert room.repairs == ()
    needed = {one.key: one for one in room.requirements}["repair"]
    assert needed.holds is None
    assert needed.what["en"] == "not made: a fault goes only into what is right, and is not yet: merge_heads"
    open_mask = examined(tmp_path, changed("-np.inf", "0.0"))
    assert "causal_mask" not in [one.function for one in open_mask.repairs]


def test_no_fault_is_made_in_a_function_that_is_wrong_though_the_block_is_right(tmp_path: Path) -> None:
    deep = examined(tmp_path, changed("    return grid", "    return grid[None]"))
    assert [one.function for one in deep.repairs] == ["merge_heads"]
    merge = "    return np.concatenate([attended[:, head] for head in range(attended.shape[1])], axis=-1)"
    spoils = merge.replace("return", "merged =") + "\n    attended[...] = 0\n    return merged"
    assert [one.function for one in examined(tmp_path, changed(merge, spoils)).repairs] == ["causal_mask"]


def test_a_fault_is_made_only_where_its_signal_was_healthy(tmp_path: Path) -> None:
    unscaled = changed("scaled = scores / query.shape[-1] ** 0.5", "scaled = scores")
    # Far off the heads computed one by one before any fault: nothing could be seen of one in the merge.
    assert [one.function for one in examined(tmp_path, unscaled).repairs] == ["causal_mask"]


def test_a_leak_is_made_in_the_attention_where_no_mask_function_is_called(tmp_path: Path) -> None:
    text = changed(MASKED, "masked = np.where(np.tri(scores.shape[-1]) > 0, scaled, -np.inf)")
    assert [one.function for one in examined(tmp_path, text).repairs] == ["causal_attention", "merge_heads"]


def test_a_block_that_calls_none_of_its_own_functions_has_no_record(tmp_path: Path) -> None:
    text = changed("def block(", "def spare(") + "\n\ndef block(x, weights, heads):\n    return x\n"
    room = examined(tmp_path, text)
    assert room.repairs == ()
    assert {one.key: one.holds for one in room.requirements}["repair"] is None


def test_gradients_by_finite_differences_are_accepted(tmp_path: Path) -> None:
    body = """
    table = model["unembedding"].copy()
    slope = np.zeros_like(table)
    for place in np.ndindex(*table.shape):
        high, low = table.copy(), table.copy()
        high[place] += 1e-5
        low[place] -= 1e-5
        rise = loss(tokens, targets, {**model, "unembedding": high}, heads)
        slope[place] = (rise - loss(tokens, targets, {**model, "unembedding": low}, heads)) / 2e-5
    """
    assert part(examined(tmp_path, changed(f"    {STEP}", body + STEP)), "learning").done


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '"scores": "(B, H, T, T)"',
            '"scores": "(B, T, H, T)"',
            "scores: you wrote (B, T, H, T) = (2, 5, 3, 5), observed",
        ),
        ('"merged": "(B, T, D)"', '"merged": ""', "merged is not sketched"),
        ('"mask": "(T, T)"', '"mask": "square"', "mask: 'square' is no shape"),
    ],
)
def test_a_sketch_that_differs_from_what_is_observed_is_open(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    room = examined(tmp_path, changed(old, new))
    sketch = next(one for one in room.requirements if one.key == "sketch")
    assert not sketch.holds
    assert words in sketch.what["en"]
    assert not room.done


def test_the_sketch_may_stand_in_docstrings_and_say_products(tmp_path: Path) -> None:
    text = changed('    "merged": "(B, T, D)",\n', "").replace(
        "    return " + MERGED, f'    """merged: (B, T, H*d)"""\n    return {MERGED}'
    )
    assert examined(tmp_path, text).done


def test_the_interface_alone_judges_no_numbers(tmp_path: Path) -> None:
    room = examined(tmp_path, changed(SCALED, "scores"), whole=False)
    assert [finding.state for finding in room.findings] == ["done"] * 11
    assert room.done


@pytest.mark.parametrize(
    ("old", "new", "name", "words"),
    [
        (
            "def merge_heads(attended: Any)",
            "def merge_heads(attended: Any, heads: Any)",
            "merge_heads",
            "takes (attended, heads)",
        ),
        ("def merge_heads(", "def combined(", "merge_heads", "missing: required is merge_heads(attended)"),
        ('        "masked": masked,\n', "", "causal_attention", "returns no masked"),
        (RESIDUAL, "return branch(x)[0]", "pre_norm_residual", "shape (5, 12), required (2, 5, 12)"),
    ],
)
def test_the_interface_names_parameters_and_shapes(
    tmp_path: Path, old: str, new: str, name: str, words: str
) -> None:
    found = part(examined(tmp_path, changed(old, new), whole=False), name)
    assert words in found.what["en"]


def test_logits_that_see_the_future_are_told_how_far(tmp_path: Path) -> None:
    room = examined(tmp_path, changed(MASKED, "masked = scaled"))
    assert part(room, "logits").what["en"].startswith("your logits see the future: replacing later tokens")
    future = next(one for one in room.requirements if one.key == "future")
    assert future.holds is False


def test_a_loss_that_is_remembered_does_not_fall(tmp_path: Path) -> None:
    text = COMPLETE + (
        "\n\nMEMORY = []\nfresh = loss\n\n\ndef loss(tokens, targets, model, heads):\n"
        "    MEMORY.append(fresh(tokens, targets, model, heads))\n    return MEMORY[0]\n"
    )
    assert "does not lower the loss" in part(examined(tmp_path, text), "learning").what["en"]


def test_a_block_that_is_not_repaired_bit_by_bit_shows_no_repair(tmp_path: Path) -> None:
    text = COMPLETE + (
        "\n\nCALLS = []\nsteady = block\n\n\ndef block(x, weights, heads):\n"
        "    CALLS.append(1)\n    return steady(x, weights, heads) + 1e-12 * len(CALLS)\n"
    )
    room = examined(tmp_path, text)
    assert [one.identical for one in room.repairs] == [False, False]
    assert {one.key: one.holds for one in room.requirements}["repair"] is False


def test_contracts_do_not_blame_the_block_for_attention_of_another_name(tmp_path: Path) -> None:
    room = examined(tmp_path, COMPLETE.replace("causal_attention", "attn"))
    assert room.verdict == "sound"
    assert {row.name: row.verdict for row in room.contracts}["slope"] == "not observable"
    assert examined(tmp_path, COMPLETE.replace("causal_attention", "attn"), {"causal_attention": "attn"}).done


SMALL = r"\d(\.\d+)?(e-\d+)?"
OPEN = ("could not be measured yet", "尚无法测量")
SAID = {
    "contracts": ("23 hold", "23 项满足"),
    "rows": (f"{SMALL}, required <= 1e-06", f"{SMALL}，应 <= 1e-06"),
    "future": ("0, required < 1e-06", "0，应 < 1e-06"),
    "merge": (r"\(2, 5, 12\), required \(2, 5, 12\)", r"\(2, 5, 12\)，应为 \(2, 5, 12\)"),
    "reference": (f"{SMALL}, required <= 1e-06", f"{SMALL}，应 <= 1e-06"),
    "per_head": (f"{SMALL}, required <= 1e-06", f"{SMALL}，应 <= 1e-06"),
    "chain": ("3 of 3 links", "3 环中的 3 环"),
    "sketch": ("every array as sketched", "每个数组都与草图一致"),
    "repair": (
        r"mask_adds_zero in causal_mask: \d\.\d+ before, 0 after",
        r"causal_mask 中的 mask_adds_zero：修复前 \d\.\d+，修复后 0",
    ),
}
WITHOUT_A_BLOCK = {
    **dict.fromkeys(("contracts", "future", "reference", "per_head"), OPEN),
    "chain": ("0 of 3 links", "3 环中的 0 环"),
    "sketch": (
        "block could not be observed; logits could not be observed",
        "block 无法观测；logits 无法观测",
    ),
    "repair": (
        "not made: block does not run, is not right itself, or calls none of your own functions",
        "未能进行：block 无法运行、本身不正确，或没有调用你自己的函数",
    ),
}


@pytest.mark.parametrize(
    ("text", "said"),
    [(COMPLETE, SAID), (COMPLETE.replace("def block(", "def blok("), SAID | WITHOUT_A_BLOCK)],
)
def test_each_requirement_says_what_was_found_in_both_languages(
    tmp_path: Path, text: str, said: dict[str, tuple[str, str]]
) -> None:
    room = examined(tmp_path, text)
    assert [one.key for one in room.requirements] == list(SAID)
    for one in room.requirements:
        english, chinese = said[one.key]
        assert re.fullmatch(english, one.what["en"]), one
        assert re.fullmatch(chinese, one.what["zh"]), one


def test_each_contract_is_shown_with_its_worst_value_or_why_there_is_none(tmp_path: Path) -> None:
    rows = {row.name: row for row in examined(tmp_path, COMPLETE).contracts}
    assert (rows["future"].value, rows["future"].verdict) == (0.0, "holds")
    assert (rows["padding"].value, rows["padding"].verdict) == (None, "not observable")
    assert rows["padding"].reason == "no padding mask is declared; say --padding NAME"
    wrong = examined(tmp_path, changed("-np.inf", "0.0")).contracts
    broken = next(row for row in wrong if row.name == "future")
    assert broken.verdict == "broken"
    assert broken.value is not None
    assert broken.value > broken.threshold == 1e-6
