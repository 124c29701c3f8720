from __future__ import annotations

import pytest
import yaml

from faults.model import FaultsError, Status, Text
from faults.mutation import equivalents
from faults.mutation.equivalents import Entry
from tests.faults.mutation.made_run import mutant

ALIVE = mutant("alive", Status.SURVIVED)
ENTRY = Entry(
    "shop.box.larger", "if first > second:", "if first >= second:", "equal ones are one", "bytecode"
)
TEXT = """
- function: shop.box.larger
  line: "if first > second:"
  mutated: "if first >= second:"
  reason: >
    equal ones are one
  proof: bytecode
- function: a.b
  line: x
  mutated: y
  reason: why
  proof: inputs
  inputs: pairs
  extremes: [zero, nan]
"""


def english(problems: tuple[Text, ...]) -> list[str]:
    return [problem["en"] for problem in problems]


def test_entries_are_read() -> None:
    first, second = equivalents.read("list.yaml", TEXT)
    assert first == ENTRY
    assert second == Entry("a.b", "x", "y", "why", "inputs", "pairs", ("zero", "nan"))


@pytest.mark.parametrize("text", ["", "[]", "# nothing\n"])
def test_an_empty_list_has_no_entries(text: str) -> None:
    assert equivalents.read("list.yaml", text) == ()


@pytest.mark.parametrize("lacking", ["function", "line", "mutated", "reason"])
@pytest.mark.parametrize("how", ["absent", "empty", "blank"])
def test_an_entry_says_everything(lacking: str, how: str) -> None:
    item = yaml.safe_load(TEXT)[0]
    if how == "absent":
        del item[lacking]
    else:
        item[lacking] = "" if how == "empty" else "  "
    with pytest.raises(FaultsError) as raised:
        equivalents.read("list.yaml", yaml.safe_dump([item]))
    assert str(raised.value) == (
        f"list.yaml, {item.get('function')}: lacks ['{lacking}'], has unknown [], proof 'bytecode'; required are "
        "function, line, mutated, reason, proof, a proof by bytecode or inputs, "
        "and for inputs also inputs and extremes"
    )


@pytest.mark.parametrize("lacking", ["inputs", "extremes"])
def test_a_proof_by_inputs_says_which(lacking: str) -> None:
    item = yaml.safe_load(TEXT)[1]
    del item[lacking]
    with pytest.raises(FaultsError, match=rf"lacks \['{lacking}'\]"):
        equivalents.read("list.yaml", yaml.safe_dump([item]))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"proof": "trust me"}, "proof 'trust me'"),
        ({"proof": None}, r"lacks \['proof'\], has unknown \[\], proof None"),
        ({"colour": "red"}, r"has unknown \['colour'\]"),
        ({"extremes": ["huge"]}, r"has unknown \['huge'\]"),
    ],
)
def test_an_entry_says_nothing_else(more: dict[str, object], said: str) -> None:
    with pytest.raises(FaultsError, match=said):
        equivalents.read("list.yaml", yaml.safe_dump([{**yaml.safe_load(TEXT)[0], **more}]))


def test_what_yaml_cannot_read_is_said_on_one_line() -> None:
    with pytest.raises(
        FaultsError,
        match=r"^list\.yaml: cannot be read \(while parsing a flow node expected the node content, .* line 1,",
    ):
        equivalents.read("list.yaml", "- [")


def test_everything_that_is_lacking_is_said() -> None:
    item = yaml.safe_load(TEXT)[1]
    del item["reason"], item["inputs"]
    with pytest.raises(FaultsError, match=r"lacks \['reason', 'inputs'\]"):
        equivalents.read("list.yaml", yaml.safe_dump([item]))


@pytest.mark.parametrize("text", ["- [", "3", "a: b\n: c"])
def test_what_is_no_list_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(
        FaultsError, match=r"^list\.yaml: cannot be read \(.*required is a YAML list of equivalents$"
    ):
        equivalents.read("list.yaml", text)


def test_the_proofs_wanted_are_those_of_survivors() -> None:
    other, dead = mutant("other", Status.SURVIVED, after="x"), mutant("dead", Status.KILLED)
    twin = mutant("twin", Status.NO_COVERAGE)
    assert equivalents.wanted([ENTRY], [ALIVE, other, dead, twin]) == [(ENTRY, ALIVE), (ENTRY, twin)]


def test_a_proved_mutant_carries_its_reason() -> None:
    other = mutant("other", Status.SURVIVED, after="x")
    found, wrong = equivalents.settled([ENTRY], [ALIVE, other], {"alive": ""})
    assert [mutant.equivalent for mutant in found] == ["equal ones are one", ""]
    assert wrong == ()


def test_a_proof_that_failed_is_said_and_the_mutant_survives() -> None:
    found, wrong = equivalents.settled([ENTRY], [ALIVE], {"alive": "the bytecode differs"})
    assert found == (ALIVE,)
    name = "'shop.box.larger: if first > second: -> if first >= second:'"
    assert english(wrong) == [f"equivalent {name}: not proved: the bytecode differs"]
    assert wrong[0]["zh"] == f"等价变异体 {name}：未能证明：the bytecode differs"


def test_an_entry_that_fits_no_mutant_is_stale() -> None:
    _, wrong = equivalents.settled([ENTRY], [mutant(after="x")], {})
    assert wrong[0]["en"].endswith(": stale: no mutant makes this change")
    assert wrong[0]["zh"].endswith("：过时：没有这样的变异体")
    assert len(wrong) == 1


def test_in_a_partial_run_an_entry_may_fit_no_mutant() -> None:
    assert equivalents.settled([ENTRY], [], {}, partial=True)[1] == ()
    assert equivalents.settled([ENTRY], [mutant(status=None)], {}, partial=True)[1] == ()


@pytest.mark.parametrize("status", [Status.KILLED, Status.TIMEOUT])
def test_an_entry_whose_mutant_dies_is_not_needed(status: Status) -> None:
    _, wrong = equivalents.settled([ENTRY], [mutant(status=status)], {})
    assert wrong[0]["en"].endswith(f": not needed: its mutant was {status}")
    assert wrong[0]["zh"].endswith(f"：多余：其变异体 {status}")


def test_an_entry_is_needed_while_one_of_its_mutants_lives() -> None:
    _, wrong = equivalents.settled([ENTRY], [mutant("dead"), ALIVE], {"alive": ""})
    assert wrong == ()


def test_an_entry_listed_twice_is_said_once() -> None:
    _, wrong = equivalents.settled([ENTRY, ENTRY], [ALIVE], {"alive": ""})
    assert len(wrong) == 1
    assert wrong[0]["en"].endswith(": listed twice")
    assert wrong[0]["zh"].endswith("：重复列出")
