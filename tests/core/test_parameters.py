from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from core.errors import CoreError
from core.parameters import Parameters


def sample() -> Parameters:
    return Parameters({"W": np.array([[1.0, 2.0]], np.float32), "b": np.array([3.0, 4.0])})


def test_it_is_a_mapping_from_roles_to_arrays() -> None:
    parameters = sample()
    assert list(parameters) == ["W", "b"]
    assert len(parameters) == 2
    assert "W" in parameters
    assert "c" not in parameters
    assert parameters["b"].tolist() == [3.0, 4.0]
    assert parameters.get("b") is parameters["b"]
    assert parameters.get("c") is None
    assert parameters.get("c", 7) == 7
    assert parameters.shapes == {"W": (1, 2), "b": (2,)}


def test_dtypes_stay_and_whole_numbers_become_float64() -> None:
    parameters = Parameters({"a": np.ones(1, np.float32), "b": [1, 2]})
    assert parameters["a"].dtype == np.float32
    assert parameters["b"].dtype == np.float64


def test_an_array_cannot_be_written_through_it() -> None:
    with pytest.raises(ValueError, match="read-only"):
        sample()["b"][0] = 9.0


def test_the_callers_own_array_stays_writable() -> None:
    array = np.ones(2)
    Parameters({"b": array})
    array[0] = 5.0
    assert array.tolist() == [5.0, 1.0]


def test_the_callers_later_writes_do_not_reach_it() -> None:
    array = np.ones((2, 2))
    view = array[0]
    view.flags.writeable = False  # read-only itself, but part of an array that is not
    parameters = Parameters({"W": array, "b": view})
    array[:] = 5.0
    assert parameters["W"].tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert parameters["b"].tolist() == [1.0, 1.0]


def test_an_array_that_nobody_can_write_is_not_copied() -> None:
    array = np.ones((2, 2))
    array.flags.writeable = False
    parameters = Parameters({"W": array, "b": array[0]})
    assert parameters["W"] is array
    assert np.shares_memory(parameters["b"], array)
    assert parameters.under("")["W"] is array


def test_its_shapes_cannot_be_changed() -> None:
    with pytest.raises(TypeError, match="does not support item assignment"):
        sample().shapes["W"] = (9,)  # type: ignore[index]  # what mypy refuses is what is tried
    assert sample().shapes == {"W": (1, 2), "b": (2,)}


def test_it_is_frozen() -> None:
    with pytest.raises(CoreError, match=r"frozen.*with_"):
        sample().shapes = {}


def test_an_unknown_role_is_named_with_those_there_are() -> None:
    with pytest.raises(CoreError, match=r"no role 'Wq'; use one of W \(1, 2\), b \(2,\)"):
        sample()["Wq"]


def test_a_value_that_is_no_numbers_is_refused_by_role() -> None:
    with pytest.raises(CoreError, match="bias is empty"):
        Parameters({"bias": []})


def test_with_replaces_in_the_old_dtype_and_leaves_the_original() -> None:
    parameters = sample()
    changed = parameters.with_(W=np.array([[8.0, 9.0]]))
    assert changed["W"].tolist() == [[8.0, 9.0]]
    assert changed["W"].dtype == np.float32
    assert changed["b"] is not None
    assert changed["b"].tolist() == [3.0, 4.0]
    assert parameters["W"].tolist() == [[1.0, 2.0]]


def test_with_refuses_unknown_roles_and_other_shapes() -> None:
    with pytest.raises(CoreError, match="no role 'c'"):
        sample().with_(c=[1.0])
    with pytest.raises(CoreError, match=r"^b is empty"):
        sample().with_(b=[])
    with pytest.raises(
        CoreError, match=r"b has shape \(3,\), \(2,\) is required; roles: W \(1, 2\), b \(2,\)"
    ):
        sample().with_(b=[1.0, 2.0, 3.0])


def test_without_leaves_out_roles_that_exist() -> None:
    assert list(sample().without("W")) == ["b"]
    with pytest.raises(CoreError, match="no role 'c'"):
        sample().without("c")


def test_under_takes_the_roles_of_one_part() -> None:
    parameters = Parameters({"blocks.0.W": [1.0], "blocks.1.W": [2.0], "gain": [3.0]})
    part = parameters.under("blocks.1.")
    assert list(part) == ["W"]
    assert part["W"].tolist() == [2.0]


def test_map_visits_every_role() -> None:
    doubled = sample().map(lambda array: 2 * array)
    assert [array.tolist() for array in doubled.values()] == [[[2.0, 4.0]], [6.0, 8.0]]


def test_combine_brings_equal_roles_together() -> None:
    parameters = sample()
    stepped = parameters.combine(lambda p, g, m: p - g * m, parameters, parameters.map(np.ones_like))
    assert [array.tolist() for array in stepped.values()] == [[[0.0, 0.0]], [0.0, 0.0]]


def test_combine_refuses_other_roles_and_shapes() -> None:
    with pytest.raises(CoreError, match="role b is in one set of parameters only"):
        sample().combine(np.add, sample().without("b"))
    with pytest.raises(CoreError, match="role c is in one set of parameters only"):
        sample().combine(np.add, {**sample(), "c": np.ones(1)})
    with pytest.raises(CoreError, match=r"b has shape \(1,\), \(2,\) is required"):
        sample().combine(np.add, {**sample(), "b": np.ones(1)})


def test_equality_is_of_roles_dtypes_and_every_number() -> None:
    assert sample() == sample()
    assert sample() != sample().without("b")
    assert sample() != sample().with_(b=[3.0, 5.0])
    assert sample() != sample().map(lambda array: array.astype(np.float64))
    assert sample() != dict(sample())


def test_a_saved_file_loads_as_it_was(tmp_path: Path) -> None:
    parameters = Parameters({"blocks.0.W": np.ones((2, 1), np.float32), "b": np.arange(3.0)})
    parameters.save(tmp_path / "parameters.npz")
    assert Parameters.load(tmp_path / "parameters.npz") == parameters


def test_a_missing_or_foreign_file_is_refused_in_one_line(tmp_path: Path) -> None:
    foreign, array = tmp_path / "foreign.npz", tmp_path / "array.npy"
    foreign.write_text("no arrays here")
    np.save(array, np.ones(2))
    for path in (tmp_path / "missing.npz", foreign, array):
        with pytest.raises(CoreError, match=r"cannot be read.*Parameters\.save is required") as caught:
            Parameters.load(path)
        assert "\n" not in str(caught.value)


def test_it_can_be_sent_to_another_process() -> None:
    received = pickle.loads(pickle.dumps(sample()))
    assert received == sample()
    assert not received["b"].flags.writeable


def test_its_text_lists_the_roles() -> None:
    assert repr(sample()) == "Parameters(W (1, 2), b (2,))"
