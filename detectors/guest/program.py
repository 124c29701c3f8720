"""The child's main program: loads one subject, calls it on request, and survives whatever it does.

Frames on both pipes: one line of JSON with "arrays", a list of [dtype, shape], then the arrays' bytes. The parent's
end of both pipes is private: the subject's own stdin and stdout are other files.
"""

import contextlib
import importlib
import importlib.util
import inspect
import io
import json
import os
import sys
import warnings

FRAME_LIMIT = 256 * 1024 * 1024
"""Bytes of one answer; a subject that gives more is told so."""

NUMBERS = [
    "n_head",
    "n_heads",
    "num_heads",
    "num_attention_heads",
    "heads",
    "n_kv_head",
    "n_kv_heads",
    "num_kv_heads",
    "num_key_value_heads",
    "n_embd",
    "d_model",
    "hidden_size",
    "embed_dim",
    "dim",
    "width",
    "model_dim",
    "emb_dim",
    "vocab_size",
    "n_vocab",
    "vocab",
    "vocabulary",
    "block_size",
    "n_ctx",
    "max_seq_len",
    "max_position_embeddings",
    "context_length",
    "max_length",
    "max_len",
    "seq_len",
    "head_dim",
    "d_k",
    "head_size",
]
"""Attributes from which extents are read, wherever they are found on a module, its parts or its config."""

PARENT = os.getpid()


class Refused(Exception):
    """A request that cannot be met; its text is one line for the user."""


def main(pipe_in, pipe_out, request):
    """Serves requests until the parent hangs up."""
    state = {}
    while request is not None:
        try:
            header, arrays = answer(state, request[0], request[1])
        except Refused as error:
            header, arrays = {"refused": str(error)}, []
        except BaseException as error:  # sys.exit and KeyboardInterrupt of the subject too
            header, arrays = {"raised": type(error).__name__, "message": one_line(error)}, []
        if os.getpid() != PARENT:  # the subject forked, and this is the copy
            os._exit(0)
        write_frame(pipe_out, header, arrays)
        request = read_frame(pipe_in)


def answer(state, header, arrays):
    """(header, arrays) of the reply."""
    operation = header["operation"]
    if operation == "load":
        state.update(subject=load(header), options=header.get("options", {}))
        return describe(state["subject"]), []
    subject, options = state["subject"], dict(state["options"], **header.get("options", {}))
    with overridden(subject, header.get("roles", {}), arrays[len(arrays) - len(header.get("roles", {})) :]):
        plain = arrays[: len(arrays) - len(header.get("roles", {}))]
        if operation == "call":
            return {}, [called(subject, plain, options)]
        if operation == "sites":
            return {"sites": sites(subject, plain, options)}, []
    if operation == "read":
        return {}, [read_role(subject, role) for role in header["wanted"]]
    raise Refused("unknown operation " + operation)


def one_line(error):
    text = " ".join(str(error).split())
    return text[:300] + ("..." if len(text) > 300 else "")


# --- loading ---------------------------------------------------------------------------------------------------


class Blocker:
    """Refuses our own packages where a name of theirs would resolve to them: the guest has a `core` of its own or none."""

    def __init__(self, home, names):
        self.home, self.names, self.busy = home, names, False

    def find_spec(self, name, path=None, target=None):
        if name not in self.names or self.busy:
            return
        self.busy = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.busy = False
        places = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or [])]
        if any(
            os.path.realpath(place).startswith(os.path.realpath(self.home) + os.sep)
            for place in places
            if place
        ):
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
        return


def load(header):
    """The subject of "module:attribute" or "path/file.py:attribute", built by the init expression where given."""
    sys.meta_path.insert(0, Blocker(header["home"], header["blocked"]))
    module = load_module(header["module"])
    found = module
    for part in filter(None, header["attribute"].split(".")):
        if not hasattr(found, part):
            names = ", ".join(name for name in vars(module) if not name.startswith("_"))
            raise Refused("%s has no attribute %r; it has: %s" % (header["module"], part, names[:300]))
        found = getattr(found, part)
    if header.get("init"):
        found = eval(header["init"], vars(module))
    return ready(found)


def load_module(name):
    if not name.endswith(".py"):
        return importlib.import_module(name)
    if not os.path.isfile(name):
        raise Refused("no file %s; a path to a Python file or a module name is required" % name)
    sys.path.insert(0, os.path.dirname(os.path.abspath(name)))
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(name))[0], name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def ready(found):
    """Calls a factory or class that needs no argument; leaves a ready object alone."""
    if inspect.isclass(found) or (inspect.isroutine(found) and not required(found)):
        if required(found):
            needs = ", ".join(required(found))
            raise Refused("%s needs arguments (%s); build it with --init" % (found.__name__, needs))
        return ready_object(found())
    return ready_object(found)


def ready_object(found):
    if found is None:
        raise Refused(
            "the subject is None; a callable, a torch.nn.Module or a mapping with 'call' is required"
        )
    module = torch_module(found if not field(found, "call") else field(found, "call"))
    if module is not None:
        module.eval()
    return found


def required(function):
    """Names of the positional parameters without a default; empty where there is no signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in kinds and p.default is inspect.Parameter.empty]


def field(subject, name):
    """A declared key of a mapping or object; None where there is none. Modules and functions declare nothing."""
    if isinstance(subject, dict):
        return subject.get(name)
    if torch_module(subject) is not None or inspect.isroutine(subject):
        return None
    return getattr(subject, name, None) if hasattr(subject, "call") else None


def callable_of(subject):
    call = field(subject, "call") or subject
    if not callable(call):
        raise Refused("the subject is a %s, which cannot be called; give a callable" % type(subject).__name__)
    return call


# --- describing ------------------------------------------------------------------------------------------------

DECLARED = [
    "kind",
    "causal",
    "norm",
    "heads",
    "kv_heads",
    "width",
    "vocab",
    "max_length",
    "layout",
    "order",
    "mask",
    "positions",
    "window",
    "design",
    "output",
    "dtype",
    "weights",
]


def describe(subject):
    """What the subject says of itself, and what can be read off it."""
    call = callable_of(subject)
    module = torch_module(call)
    declared = {name: field(subject, name) for name in DECLARED if field(subject, name) is not None}
    weights = declared.pop("weights", None)
    return {
        "declared": json.loads(json.dumps(declared, default=str)),
        "weights": sorted(weights) if isinstance(weights, dict) else [],
        "attention": callable(field(subject, "attention")),
        "framework": framework(subject, call),
        "name": getattr(call, "__name__", None) or type(call).__name__,
        "required": required(call if module is None else module.forward),
        "numbers": numbers(module if module is not None else call),
        "parameters": parameters(module),
        "embedding": has_embedding(module),
        "children": [name for name, _ in module.named_children()] if module is not None else [],
    }


def framework(subject, call):
    if torch_module(call) is not None:
        return "torch"
    module = inspect.getmodule(call)
    known = (
        {name for name, value in vars(module or object).items() if inspect.ismodule(value)}
        if module
        else set()
    )
    if "jax" in sys.modules and known & {"jax", "jnp", "nn", "lax", "eqx"}:
        return "jax"
    if "torch" in sys.modules and known & {"torch", "F", "nn"}:
        return "torch"
    return "numpy"


def numbers(subject):
    """name -> the values found under that name on the object, its config and its parts."""
    found = {}
    parts = [subject]
    if torch_module(subject) is not None:
        parts += list(subject.modules())
    for part in parts[:200]:
        for holder in (
            part,
            getattr(part, "config", None),
            getattr(part, "cfg", None),
            getattr(part, "args", None),
        ):
            for name in NUMBERS:
                value = getattr(holder, name, None)
                if (
                    isinstance(value, int)
                    and not isinstance(value, bool)
                    and value not in found.get(name, [])
                ):
                    found.setdefault(name, []).append(value)
    return found


# --- torch -----------------------------------------------------------------------------------------------------


def torch_module(subject):
    """The subject itself if it is a torch.nn.Module, else None."""
    torch = sys.modules.get("torch")
    return subject if torch is not None and isinstance(subject, torch.nn.Module) else None


def parameters(module):
    """[name, shape, class of the module that holds it] of every parameter."""
    if module is None:
        return []
    holders = dict(module.named_modules())
    return [
        [name, list(value.shape), type(holders.get(name.rpartition(".")[0], module)).__name__]
        for name, value in module.named_parameters()
    ]


def has_embedding(module):
    torch = sys.modules.get("torch")
    return module is not None and any(isinstance(part, torch.nn.Embedding) for part in module.modules())


def to_torch(array, call):
    torch = sys.modules["torch"]
    tensor = torch.from_numpy(array.copy())
    module = torch_module(call)
    first = next(module.parameters(), None) if module is not None else None
    if first is None:
        return tensor
    return tensor.to(device=first.device, dtype=first.dtype if tensor.is_floating_point() else torch.long)


# --- calling ---------------------------------------------------------------------------------------------------


def called(subject, arrays, options):
    """The subject's output for the arrays, as one NumPy array."""
    call = field(subject, "attention") if options.get("attention") else callable_of(subject)
    with quiet():
        return as_array(chosen(run(call, arrays, options), options.get("output")))


def run(call, arrays, options):
    kind = options.get("framework", "numpy")
    names = options.get("keywords") or []
    if kind == "torch":
        torch = sys.modules["torch"]
        given = [to_torch(array, call) for array in arrays]
        with torch.no_grad():
            return invoke(call, given, names)
    if kind == "jax":
        return invoke(call, [sys.modules["jax"].numpy.asarray(array) for array in arrays], names)
    # Copies: a subject that writes into its input must not change the next measurement.
    return invoke(call, [array.copy() for array in arrays], names)


def invoke(call, given, names):
    """The last len(names) arguments by keyword, the others by position."""
    cut = len(given) - len(names)
    return call(*given[:cut], **dict(zip(names, given[cut:])))


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def chosen(output, which):
    """One array out of a tuple, a mapping or a model output."""
    if isinstance(which, int) and isinstance(output, (tuple, list)):
        return output[which]
    if isinstance(which, str) and which:
        return output[which] if isinstance(output, dict) else getattr(output, which)
    for name in ("logits", "last_hidden_state"):
        if isinstance(output, dict) and name in output:
            return output[name]
        if hasattr(output, name) and not hasattr(output, "shape"):
            return getattr(output, name)
    if isinstance(output, (tuple, list)) and output:
        return output[0]
    if inspect.isgenerator(output):
        raise Refused("the subject returned a generator; an array is required")
    return output


def as_array(output):
    """Float32 or float64 NumPy numbers, whatever framework they come from."""
    import numpy

    if output is None:
        raise Refused("the subject returned None; an array is required")
    if hasattr(output, "detach"):
        output = output.detach().to("cpu")
        if output.is_floating_point() and output.element_size() < 4:
            output = output.float()
        output = output.numpy()
    array = numpy.asarray(output)
    if array.dtype.kind not in "fiub":
        kind = str(array.dtype)
        if kind not in ("bfloat16", "float16"):
            raise Refused(
                "the subject returned %s of dtype %s; numbers are required" % (type(output).__name__, kind)
            )
    if array.nbytes > FRAME_LIMIT:
        raise Refused(
            "the subject returned %d MB; at most %d are read" % (array.nbytes >> 20, FRAME_LIMIT >> 20)
        )
    return array.astype(array.dtype if array.dtype.str[1:] in ("f4", "f8") else "f4")


# --- weights by role -------------------------------------------------------------------------------------------


def role_view(subject, place):
    """The tensor behind a role: [name, transposed, first, last] of a parameter, or the key of a declared mapping."""
    name, transposed, first, last = place
    module = torch_module(callable_of(subject))
    if module is None:
        return field(subject, "weights")[name]
    value = dict(module.named_parameters())[name].data
    value = value[first:last] if last else value
    return value.t() if transposed else value


def read_role(subject, place):
    return as_array(role_view(subject, place))


@contextlib.contextmanager
def overridden(subject, roles, arrays):
    """Writes the arrays into the places of the roles, in place, and puts the old numbers back."""
    kept = []
    try:
        for place, array in zip(roles.values(), arrays):
            view = role_view(subject, place)
            kept.append((view, view.clone() if hasattr(view, "clone") else view.copy()))
            write(view, array)
        yield
    finally:
        for view, old in reversed(kept):
            write(view, old)


def write(view, array):
    if hasattr(view, "copy_"):
        view.copy_(to_torch(array, None) if not hasattr(array, "copy_") else array)
    else:
        view[...] = array


def sites(subject, arrays, options):
    """The attention operations that one call runs through; see the file that `follow` comes from."""
    call = callable_of(subject)
    with quiet():
        return follow(lambda: run(call, arrays, options), options)  # noqa: F821 - defined by the text sent along


# --- the pipes -------------------------------------------------------------------------------------------------


def read_frame(pipe):
    """(header, arrays), or None when the parent has hung up."""
    line = pipe.readline()
    if not line:
        return None
    header = json.loads(line)
    described = header.pop("arrays", [])
    if not described:
        return header, []
    import numpy

    arrays = []
    for kind, shape in described:
        count = int(numpy.prod(shape, dtype=numpy.int64))
        arrays.append(numpy.frombuffer(pipe.read(count * numpy.dtype(kind).itemsize), kind).reshape(shape))
    return header, arrays


def write_frame(pipe, header, arrays):
    header["arrays"] = [[array.dtype.str, list(array.shape)] for array in arrays]
    pipe.write(json.dumps(header).encode() + b"\n")
    for array in arrays:
        pipe.write(array.tobytes())
    pipe.flush()


def start():
    """Takes the pipes away from the subject and serves."""
    pipe_in = sys.stdin.buffer
    pipe_out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.stdin = io.StringIO()
    main(pipe_in, pipe_out, read_frame(pipe_in))
    os._exit(0)  # threads the subject left running must not keep this process alive
