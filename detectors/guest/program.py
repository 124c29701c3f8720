"""The child's main program: loads one subject, calls it on request, and survives whatever it does."""

from __future__ import annotations

import importlib
import os
import sys
from typing import IO, Any

from . import blocks, calling, describing, loading, norms, subjects
from .refusal import Refused, worded
from .wire import read_frame, write_frame

OLDEST = (3, 9)


def start(pipe_in: IO[bytes], pipe_out: IO[bytes]) -> None:
    """Serves requests until the parent hangs up. The pipes are private: the subject's own files are others."""
    own, state = os.getpid(), dict[str, Any]()
    write_frame(pipe_out, {"ready": True}, [])
    request = read_frame(pipe_in)
    while request is not None:
        header, arrays = served(state, *request)
        if os.getpid() != own:  # the subject forked, and this is the copy
            os._exit(0)
        write_frame(pipe_out, header, arrays)
        request = read_frame(pipe_in)
    os._exit(0)  # threads the subject left running must not keep this process alive


def served(
    state: dict[str, Any], header: dict[str, Any], arrays: list[Any]
) -> tuple[dict[str, Any], list[Any]]:
    """(header, arrays) of the reply; whatever the subject raises becomes a reply too."""
    try:
        return answer(state, header, arrays)
    except Refused as error:
        return {"refused": str(error)}, []
    except (SystemExit, KeyboardInterrupt) as error:
        return {"refused": f"the subject ended the program: {worded(error)}"}, []
    except BaseException as error:
        return {"raised": worded(error)}, []


def answer(
    state: dict[str, Any], header: dict[str, Any], arrays: list[Any]
) -> tuple[dict[str, Any], list[Any]]:
    """(header, arrays) of one operation."""
    operation = header["operation"]
    if operation == "load":
        return loaded(state, header)
    if "subject" not in state:
        raise Refused(f"unknown operation {operation} before a subject was loaded")
    subject = blocks.part(state["subject"], header.get("part", ""))
    options, roles = header.get("options", {}), header.get("roles", {})
    plain = arrays[: len(arrays) - len(roles)]
    replaced = {role: (place, array) for (role, place), array in zip(roles.items(), arrays[len(plain) :])}
    if operation == "call":
        with subjects.narrowed(state.get("halves", []) if options.get("own precision") else []):
            notes, output = calling.called(subject, plain, replaced, options)
        return notes, [output]
    if operation == "continue":
        return {}, calling.continued(subject, plain, options)
    if operation == "sites":
        return {"sites": calling.sites(subject, plain, options)}, []
    if operation == "describe":
        return describing.describe(subject, header["wanted"]), []
    if operation == "blocks":
        return {"blocks": blocks.alone(subject, header["names"], plain, options)}, []
    if operation == "norms":
        found, gains = norms.examined(subject, header["names"], plain, options)
        return {"norms": found}, gains
    if operation == "norm":
        return {}, [norms.normed(subject, header["name"], plain[0], options)]
    if operation == "read":
        return {}, [calling.read_role(subject, role) for role in header["wanted"]]
    raise Refused(f"unknown operation {operation}")


def loaded(state: dict[str, Any], header: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """Loads and describes the subject; `state` already has one where the parent is the same process."""
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:2]))
        raise Refused(f"{sys.executable} is Python {found}; required: 3.9 or later, named with --python")
    try:
        importlib.import_module("numpy")
    except ImportError:
        raise Refused(f"NumPy is required in {sys.executable}, which does not have it; install it") from None
    with calling.quiet():
        if "subject" not in state:
            state["subject"] = loading.load(header)
        state["halves"] = subjects.halves(state["subject"])
        notes = subjects.prepared(state["subject"])
    return dict(describing.describe(state["subject"], header["wanted"]), notes=notes), []
