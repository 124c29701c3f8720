"""What is asked of a host about the norms inside its subject, and what becomes of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.errors import NotObservable
from detectors.foreign import Foreign
from detectors.host import Answer, GuestError, SubjectRaised

Array = NDArray[Any]

DESCRIBED: Mapping[str, Any] = {
    "declared": {"kind": "block", "norm": "pre", "width": 4, "heads": 2, "padding": "keep"},
    "weights": [], "attention": False, "step": False, "framework": "torch", "name": "Block",
    "required": ["x", "keep"], "numbers": {}, "switches": {}, "parameters": [], "embedding": False, "blocks": [],
    "norms": ["first", "second", "third"],
}  # fmt: skip


class Elsewhere:
    """A host whose subject doubles its input, with norms that add 1, and keeps what it is asked."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked: list[tuple[dict[str, Any], list[Array]]] = []

    def request(self, header: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Answer:
        self.asked.append((dict(header), list(arrays)))
        if header["operation"] == "norm":
            return {}, [arrays[0] + 1, arrays[0]]
        if header["operation"] == "norms":
            if self.error is not None:
                raise self.error
            norms = {"first": {"channels": 4, "gains": 2}, "second": {"channels": 2, "gains": 1}}
            return {"norms": norms}, [np.full(4, 1.0), np.full(4, 2.0), np.full(2, 3.0)]
        return {"wrote": False, "half": ""}, [2 * arrays[0]]


def test_each_norm_has_its_channels_and_its_own_gains() -> None:
    host = Elsewhere()
    norms = Foreign(host, DESCRIBED, {}, "part").subject("it").norms
    assert {name: norm.channels for name, norm in norms.items()} == {"first": 4, "second": 2}
    gains = {name: [gain.tolist() for gain in norm.gains] for name, norm in norms.items()}
    assert gains == {"first": [[1.0] * 4, [2.0] * 4], "second": [[3.0] * 2]}
    x = np.zeros((1, 3, 4))
    assert norms["second"].call(x).tolist() == (x + 1).tolist()
    header, (sent,) = host.asked[-1]
    assert (header["operation"], header["name"], header["part"]) == ("norm", "second", "part")
    assert sent is x


def test_a_norm_that_cannot_be_called_by_itself_is_named_with_the_reason() -> None:
    class Refusing(Elsewhere):
        def request(self, header: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Answer:
            if header["operation"] == "norm":
                raise SubjectRaised("ValueError: no room")
            return super().request(header, arrays)

    norm = Foreign(Refusing(), DESCRIBED, {}).subject("it").norms["first"]
    reason = r"^its norm first cannot be called by itself: ValueError: no room$"
    with pytest.raises(NotObservable, match=reason):
        norm.call(np.zeros((1, 3, 4)))


def test_norms_are_watched_in_a_call_as_the_subject_takes_it() -> None:
    host = Elsewhere()
    Foreign(host, DESCRIBED, {}).subject("it")
    ((header, arrays),) = [(one, sent) for one, sent in host.asked if one["operation"] == "norms"]
    assert header["names"] == ["first", "second", "third"]
    assert header["options"]["keyword"] == "keep"
    assert [array.shape for array in arrays] == [(2, 5, 4), (2, 5)]


@pytest.mark.parametrize("error", [SubjectRaised("no"), GuestError("no")])
def test_norms_that_cannot_be_reached_leave_the_rest_as_it_is(error: Exception) -> None:
    assert Foreign(Elsewhere(error), DESCRIBED, {}).subject("it").norms == {}


def test_a_subject_without_norms_is_not_asked_about_them() -> None:
    host = Elsewhere()
    assert Foreign(host, {**DESCRIBED, "norms": []}, {}).subject("it").norms == {}
    assert "norms" not in [header["operation"] for header, _ in host.asked]
