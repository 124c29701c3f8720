"""Subjects for `check` as source text: they run in a child process, from a file of their own."""

from __future__ import annotations

SOUND = '''
import numpy as np

class Block:
    """A correct causal pre-norm block in NumPy, two heads, width 8, with pieces to replace."""
    kind, width, heads, norm = "block", 8, 2, "pre"

    def __init__(self, **weights):
        draw = np.random.default_rng(3).standard_normal
        self.weights = {name: (draw(shape) / 3).astype("f4") for name, shape in {
            "Wq": (8, 8), "Wk": (8, 8), "Wv": (8, 8), "Wo": (8, 8), "W1": (8, 12), "W2": (12, 8)}.items()}

    def norm_of(self, x):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)

    def scale(self, scores):
        return scores / 2.0

    def mask(self, scores):
        queries, keys = scores.shape[-2:]
        return np.where(np.tril(np.ones((queries, keys), bool), keys - queries), scores, -np.inf)

    def softmax(self, scores):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)

    def split(self, x):
        return x.reshape(*x.shape[:2], 2, 4).swapaxes(1, 2)

    def attend(self, x):
        q, k, v = (self.split(x @ self.weights[name]) for name in ("Wq", "Wk", "Wv"))
        weights = self.softmax(self.mask(self.scale(q @ k.swapaxes(-1, -2))))
        return (weights @ v).swapaxes(1, 2).reshape(x.shape) @ self.weights["Wo"]

    def feed(self, x):
        return np.maximum(x @ self.weights["W1"], 0) @ self.weights["W2"]

    def call(self, x):
        x = x + self.attend(self.norm_of(x))
        return x + self.feed(self.norm_of(x))

sound = Block
'''

FAULTY = '''
class Leaky(Block):
    def mask(self, scores):
        return scores

class Weak:
    """Attention with a mask of -1e4."""
    kind = "attention"
    def call(self, q, k, v):
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        queries, keys = scores.shape[-2:]
        scores = np.where(np.tril(np.ones((queries, keys), bool), keys - queries), scores, np.float32(-1e4))
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ v

def bare(x): return x
'''

HOSTILE = (
    SOUND
    + '''
import ctypes, os, signal, subprocess, sys, threading, time, warnings

def also(action):
    """The sound block, which does something else besides at every call."""
    class Also(Block):
        def call(self, x):
            found = action(x)
            return super().call(x) if found is None else found
    return lambda: Also()

def instead(action):
    """A block that does something instead."""
    return lambda: {"kind": "block", "width": 8, "norm": "pre", "call": lambda x: action(x)}

def scribbles(x): return Block.call(block, x.copy()) * (x.fill(0) or 1)
def shouts(x): print("noise" * 10000); warnings.warn("noise"); sys.stderr.write("noise\\n" * 2000000)
def closes(x):
    if not closed:
        os.closerange(0, 3)
        closed.add(x.shape)
def spawns(x): threading.Thread(target=time.sleep, args=(1000,)).start()
def copies(x): os.fork()
def leaves(x):
    if os.fork() == 0:
        os.setsid()
        time.sleep(20)
        os._exit(0)
    os._exit(4)
def forever(x):
    while True: pass
def floods(x): return np.zeros((300 * 1024, 1024), "f4")
def yields(x): yield x
def dies(x): os.kill(os.getpid(), signal.SIGKILL)
def crashes(x): ctypes.string_at(0)
def raises(x): raise ValueError("boom\\nin two lines")
def sinks(x): return sinks(x)
def interrupts(x): raise KeyboardInterrupt
def severs(x): os.closerange(3, 256)
closed, block, lock = set(), Block(), threading.Lock()

writes_into_its_input = instead(scribbles)
prints_and_warns = also(shouts)
closes_its_files = also(closes)
leaves_threads = also(spawns)
forks = also(copies)
cannot_be_pickled = also(lambda x: lock.locked() or None)
hangs = instead(forever)
exits = instead(lambda x: sys.exit(3))
exits_at_once = instead(lambda x: os._exit(7))
leaves_a_copy_behind = instead(leaves)
is_killed = instead(dies)
crashes_hard = instead(crashes)
floods_memory = instead(floods)
returns_a_generator = instead(yields)
returns_none = instead(lambda x: None)
returns_objects = instead(lambda x: np.array([object()] * 8))
returns_text = instead(lambda x: "a text")
returns_complex = instead(lambda x: x * 1j)
returns_nan = instead(lambda x: x * np.nan)
returns_another_shape = instead(lambda x: x[:, :1])
raises_an_error = instead(raises)
recurses_forever = instead(sinks)
reads_stdin = instead(lambda x: float(input()))
interrupts_itself = instead(interrupts)
cuts_the_pipe = instead(severs)
def is_none(): return None
def is_a_number(): return 3
class NeedsArguments:
    def __init__(self, width, *, heads): pass
def fails_to_build(): raise RuntimeError("no weights here")
def hangs_while_built(): forever(0)
'''
)
