"""Reports without a pair, each under the sentence that says why `check` cannot tell the wrong code from the right."""

from __future__ import annotations

COUNTED = (
    "absolute positions that count the padding are a design: only a rule for padded positions would tell"
)
HALVES = "in 32 bits two finite fills leave every row a number: only a padded call in 16 bits would overflow"
LOSS = "the loss and its targets lie outside the model: the forward pass is right in itself"
ROTATION = "random weights absorb a pairing of channels: only imported weights, or the rotation by itself, would tell"
WINDOW = "with a declared window no contract asks for its last key: the fault lies within what was declared"
LOADING = "weights are wrong after they were loaded or tied: the same forward pass would be right with others"
DECLARED = "the wrong code is right under another declaration, and both can be meant"
TRAINING = "only training shows it: in eval mode dropout does nothing wherever it stands"
ELSEWHERE = "not causal self-attention over tokens: no contract speaks of it"

UNSEEN: dict[str, str] = {
    "F1-010": "a post-norm block may read whatever it likes: no law says what its second branch reads",
    "F1-018": DECLARED,  # any factor on the skip is a scaled residual
    "F1-020": "a bias added by every rank is another bias: only a second number of ranks would tell",
    "F1-021": "a norm of a norm is a norm again, and post-norm blocks have no law on their output",
    "F1-023": TRAINING,
    "F2-033": DECLARED,  # the configuration that is ignored is not the default
    "F4-092": WINDOW,
    "F4-094": WINDOW,
    "F4-096": WINDOW,
    "F4-097": WINDOW,
    "F4-098": "it needs 43,000 tokens: the contracts ask for a handful",
    "F5-109": "one small projection for all heads is another architecture, and sound in itself",
    "F5-110": ELSEWHERE,  # windows of an image
    "R-softmax-axis-124": ELSEWHERE,  # pooling
    "R-softmax-axis-126": ELSEWHERE,  # branches of a convolution
    "R-pad-axis-129": "a padding mask is the same for all heads: only a mask that differs between them would tell",
    "R-pad-axis-131": "tokens lie along one axis: only inputs with more axes than [batch, token, channel] would tell",
    "R-nan-row-143": "what a row that sees nothing gives is nobody's rule as long as it is finite",
    "R-lowprec-mask-145": "numbers are examined in 32 bits: only a run in 16 bits would overflow",
    "R-lowprec-mask-147": HALVES,
    "R-lowprec-mask-148": HALVES,
    "R-lowprec-mask-149": HALVES,
    "R-lowprec-mask-151": "numbers are examined in 32 bits: only a run in 16 bits would overflow",
    "R-rope-153": ROTATION,
    "R-rope-154": ROTATION,
    "R-rope-158": ROTATION,
    "R-kv-cache-164": COUNTED,
    "R-kv-cache-165": COUNTED,
    "R-label-shift-176": LOSS,
    "R-label-shift-178": LOSS,
    "R-label-shift-179": LOSS,
    "R-label-shift-180": LOSS,
    "R-double-softmax-183": LOSS,
    "R-double-softmax-184": LOSS,
    "R-double-softmax-185": LOSS,
    "R-posenc-197": "a model without positions is a design: no contract asks whether declared positions act",
    "R-posenc-198": "a model without positions is a design: no contract asks whether declared positions act",
    "R-tying-201": LOADING,
    "R-tying-202": LOADING,
}
