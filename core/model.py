"""A minimal decoder-only language model: tokens -> vectors -> blocks -> logits -> loss, and every gradient.

h = E[tokens] + positions; h = block(h) for each layer; logits = Norm(h) U.
Source: Radford et al. 2019 ("GPT-2"), section 2.3, for the normalisation after the last block.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from core import arrays, block, linear, model_config, norm, positions, vocabulary
from core.arrays import FloatArray
from core.block import BlockTrace
from core.block_config import BlockConfig
from core.errors import CoreError
from core.model_config import ModelConfig, init_model
from core.parameters import Parameters
from core.vocabulary import Tokens

__all__ = [
    "ModelConfig",
    "cross_entropy",
    "cross_entropy_backward",
    "embed",
    "init_model",
    "logits",
    "loss_and_gradients",
    "normalise",
    "unembed",
]


def logits(tokens: ArrayLike, parameters: Parameters, config: ModelConfig) -> FloatArray:
    """Return the logits of the next token after each token: `[batch, token, vocabulary]`.

    Tokens `[batch, token]` are integers in [0, vocabulary). Raises CoreError for other tokens, more than
    `max_length` of them, and parameters that are not of this model.
    """
    model_config.check_parameters(parameters, config)
    ids = _checked_tokens(tokens, "tokens", config)
    h = embed(ids, parameters, config)
    for layer in range(config.layers):
        h = block.block(h, model_config.block_parameters(parameters, layer), config.block)
    return unembed(h, parameters, config)


def embed(tokens: Tokens, parameters: Parameters, config: ModelConfig, offset: int = 0) -> FloatArray:
    """Return what enters the first block `[batch, token, channel]`; `offset` cached tokens come before it."""
    vectors = parameters["token_embedding"][tokens]
    if config.positions == "none":
        return vectors
    if config.positions == "learned":
        return positions.apply_token_and_position(vectors, parameters["position_embedding"], offset)
    table = positions.sinusoidal_positional_encoding(offset + tokens.shape[1], config.width)
    return positions.apply_token_and_position(vectors, table, offset)


def unembed(h: FloatArray, parameters: Parameters, config: ModelConfig) -> FloatArray:
    """Return Norm(h) U `[batch, token, vocabulary]` for the last block's output `[batch, token, channel]`."""
    return linear.linear(_final_norm(h, parameters, config), _unembedding(parameters, config), None)


def normalise(x: FloatArray, gain: FloatArray, shift: FloatArray | None, config: BlockConfig) -> FloatArray:
    """Return x `[batch, token, channel]` after the kind of normalisation that the blocks declare."""
    if config.norm_kind == "rms":
        return norm.rms_norm(x, gain, config.eps)
    return norm.layer_norm(x, gain, shift, config.eps)


def cross_entropy(logits: ArrayLike, targets: ArrayLike) -> float:
    """Return the mean of -ln softmax(logits)[target] over all targets, in nats.

    Logits `[..., vocabulary]`, targets `[...]` integers in [0, vocabulary). Equal logits give ln(vocabulary),
    a target of probability 0 infinity, NaN logits NaN.
    Raises CoreError when shapes differ or an id is out of range.
    """
    scores, answers = _checked_pair(logits, targets)
    return float(-_log_probabilities(scores)[_places(answers)].mean())


def cross_entropy_backward(logits: ArrayLike, targets: ArrayLike) -> FloatArray:
    """Return the gradient of `cross_entropy` with respect to the logits: (softmax - one-hot) / targets."""
    scores, answers = _checked_pair(logits, targets)
    grad = np.exp(_log_probabilities(scores))
    grad[_places(answers)] -= 1.0
    grad /= answers.size
    return grad


def loss_and_gradients(
    tokens: ArrayLike, targets: ArrayLike, parameters: Parameters, config: ModelConfig
) -> tuple[float, Parameters]:
    """Return the cross-entropy (nats) of targets `[batch, token]` and its gradient under every role.

    `targets[b, t]` is the token that follows `tokens[b, t]`.
    Raises CoreError as `logits` and `cross_entropy` do.
    """
    model_config.check_parameters(parameters, config)
    ids = _checked_tokens(tokens, "tokens", config)
    answers = _checked_tokens(targets, "targets", config)
    traces = _block_traces(embed(ids, parameters, config), parameters, config)
    scores = unembed(traces[-1].y, parameters, config)
    grad_scores = cross_entropy_backward(scores, answers)
    grad_h, gradients = _unembed_backward(grad_scores, traces[-1].y, parameters, config)
    for layer in reversed(range(config.layers)):
        grad_h, inner = block.block_backward(grad_h, traces[layer])
        gradients |= {model_config.block_role(layer, role): grad for role, grad in inner.items()}
    _add_embedding_gradients(gradients, grad_h, ids, parameters)
    return cross_entropy(scores, answers), Parameters({role: gradients[role] for role in parameters})


def _checked_tokens(tokens: ArrayLike, name: str, config: ModelConfig) -> Tokens:
    ids = vocabulary.token_batch(tokens, name, config.vocabulary)
    model_config.check_length(ids.shape[1], config)
    return ids


def _block_traces(h: FloatArray, parameters: Parameters, config: ModelConfig) -> list[BlockTrace]:
    traces = []
    for layer in range(config.layers):
        traces.append(block.block_trace(h, model_config.block_parameters(parameters, layer), config.block))
        h = traces[-1].y
    return traces


def _unembed_backward(
    grad: FloatArray, h: FloatArray, parameters: Parameters, config: ModelConfig
) -> tuple[FloatArray, dict[str, FloatArray]]:
    normal, weight = _final_norm(h, parameters, config), _unembedding(parameters, config)
    grad_normal, grad_weight, _ = linear.linear_backward(grad, normal, weight)
    grad_h, gradients = _final_norm_backward(grad_normal, h, parameters, config)
    # Tied weights are used twice: this is the share of their use as an unembedding.
    share = {"token_embedding": grad_weight.T} if config.tied else {"unembedding": grad_weight}
    return grad_h, gradients | share


def _add_embedding_gradients(
    gradients: dict[str, FloatArray], grad_h: FloatArray, tokens: Tokens, parameters: Parameters
) -> None:
    by_token = np.zeros_like(parameters["token_embedding"])
    # add.at, unlike by_token[tokens] += grad_h, counts a token once for each place where it stands.
    np.add.at(by_token, tokens, grad_h)
    gradients["token_embedding"] = by_token + gradients.get("token_embedding", 0.0)
    if "position_embedding" in parameters:
        by_position = np.zeros_like(parameters["position_embedding"])
        by_position[: tokens.shape[1]] = grad_h.sum(axis=0)
        gradients["position_embedding"] = by_position


def _unembedding(parameters: Parameters, config: ModelConfig) -> FloatArray:
    return parameters["token_embedding"].T if config.tied else parameters["unembedding"]


def _final_norm(h: FloatArray, parameters: Parameters, config: ModelConfig) -> FloatArray:
    return normalise(h, parameters["final_gain"], parameters.get("final_shift"), config.block)


def _final_norm_backward(
    grad: FloatArray, h: FloatArray, parameters: Parameters, config: ModelConfig
) -> tuple[FloatArray, dict[str, FloatArray]]:
    gain, eps = parameters["final_gain"], config.block.eps
    if config.block.norm_kind == "rms":
        grad_h, grad_gain = norm.rms_norm_backward(grad, h, gain, eps)
        return grad_h, {"final_gain": grad_gain}
    grad_h, grad_gain, grad_shift = norm.layer_norm_backward(grad, h, gain, eps)
    return grad_h, {"final_gain": grad_gain, "final_shift": grad_shift}


def _places(answers: Tokens) -> tuple[Tokens, ...]:
    """The index of the target's own element in each row of `[..., vocabulary]`."""
    return (*np.indices(answers.shape), answers)


def _log_probabilities(scores: FloatArray) -> FloatArray:
    # Not through core.softmax: a fault injected there must not change how the loss is measured.
    with np.errstate(invalid="ignore", over="ignore"):
        shifted = scores - scores.max(axis=-1, keepdims=True)
        log_probabilities: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return log_probabilities


def _checked_pair(logits: ArrayLike, targets: ArrayLike) -> tuple[FloatArray, Tokens]:
    scores = np.atleast_1d(arrays.floats(logits, "logits"))
    answers = vocabulary.token_ids(targets, "targets", scores.shape[-1])
    if scores.shape[:-1] != answers.shape:
        raise CoreError(
            f"logits have shape {scores.shape}, targets {answers.shape}; one target for each row of logits "
            "[..., vocabulary] is required"
        )
    return scores, answers
