"""Reports without a pair, each under the sentence that says why `check` cannot tell the wrong code from the right."""

from __future__ import annotations

PADDING = "a causal mask hides no whole row and no padding: only a call with padded sequences would tell"
CACHE = "one forward pass has no cache: only a second call that continues the first would tell"
LOSS = "the loss and its targets lie outside the model: the forward pass is right in itself"
ROTATION = "random weights absorb a pairing of channels: only imported weights, or the rotation by itself, would tell"
WINDOW = "with a declared window no contract asks for its last key: the fault lies within what was declared"
LOADING = "weights are wrong after they were loaded or tied: the same forward pass would be right with others"
DECLARED = "the wrong code is right under another declaration, and both can be meant"
TRAINING = "only training shows it: in eval mode dropout does nothing wherever it stands"
ELSEWHERE = "not causal self-attention over tokens: no contract speaks of it"
FORMULA = (
    "another epsilon or variance is another norm: only the formula the weights were trained with would tell"
)

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
    "R-pad-axis-127": PADDING,
    "R-pad-axis-128": PADDING,
    "R-pad-axis-129": PADDING,
    "R-pad-axis-131": PADDING,
    "R-mask-layout-136": PADDING,
    "R-nan-row-139": PADDING,
    "R-nan-row-140": PADDING,
    "R-nan-row-141": PADDING,
    "R-nan-row-143": PADDING,
    "R-lowprec-mask-145": "numbers are examined in 32 bits: only a run in 16 bits would overflow",
    "R-lowprec-mask-147": PADDING,
    "R-lowprec-mask-148": PADDING,
    "R-lowprec-mask-149": PADDING,
    "R-lowprec-mask-151": "numbers are examined in 32 bits: only a run in 16 bits would overflow",
    "R-rope-153": ROTATION,
    "R-rope-154": ROTATION,
    "R-rope-158": ROTATION,
    "R-kv-cache-161": CACHE,
    "R-kv-cache-162": CACHE,
    "R-kv-cache-163": CACHE,
    "R-kv-cache-164": PADDING,
    "R-kv-cache-165": PADDING,
    "R-kv-cache-167": ROTATION,
    "R-label-shift-176": LOSS,
    "R-label-shift-178": LOSS,
    "R-label-shift-179": LOSS,
    "R-label-shift-180": LOSS,
    "R-double-softmax-183": LOSS,
    "R-double-softmax-184": LOSS,
    "R-double-softmax-185": LOSS,
    "R-layernorm-186": FORMULA,
    "R-layernorm-188": FORMULA,
    "R-layernorm-189": FORMULA,
    "R-posenc-197": "a model without positions is a design: no contract asks whether declared positions act",
    "R-posenc-198": "a model without positions is a design: no contract asks whether declared positions act",
    "R-tying-201": LOADING,
    "R-tying-202": LOADING,
}
