"""Model FLOPs per token: every matmul, attention by its true span, the logits; nothing recomputed.

One definition for `trainplan model` and for the MFU of a plan. An embedding look-up costs none.
A token of an encoder-decoder is one source and one target token; towers for images count by the image.
"""

from typing import NamedTuple

from solver.architecture.blocks import Architecture, Attention, Block

BACKWARD_PER_FORWARD = 2.0  # the gradients of the inputs and of the weights cost a forward pass each
PATCHES = 1024  # of an image, where a tower takes any size and nothing else is stated


class Flops(NamedTuple):
    """Forward FLOPs per token, by what they are spent on."""

    matmul: float = 0.0
    attention: float = 0.0
    scan: float = 0.0
    logits: float = 0.0

    @property
    def total(self) -> float:
        return self.matmul + self.attention + self.scan + self.logits

    def plus(self, other: "Flops", times: float = 1.0) -> "Flops":
        return Flops(*(a + times * b for a, b in zip(self, other, strict=True)))


def mean_span(attention: Attention, sequence_length: float) -> float:
    """Keys that a query meets, the mean over a sequence of s tokens. Causal attention counts as half.

    full: s/2; window, and the best keys of a sparse one, of w < s: w - w^2/(2 s); chunks of c: c/2;
    bidirectional: s, and within a window of w: w - w^2/(4 s). Under document-masked packing s is the mean
    length of a document.
    """
    s = float(sequence_length)
    span = min(float(attention.span) or s, s)
    match attention.kind:
        case "full":
            return s / 2
        case "window" | "sparse":
            return span - span**2 / (2 * s)
        case "chunk":
            whole, rest = divmod(s, span)
            return (whole * span**2 + rest**2) / (2 * s)
        case "cross":
            return s
        case "bidirectional":
            return s if span == s else span - span**2 / (4 * s)


def attention_flops_per_token(attention: Attention | None, sequence_length: float) -> float:
    """Forward: scores and context of every head over the mean span, and the indexer's score of every key."""
    if attention is None:
        return 0.0
    core = (
        2.0 * attention.heads * (attention.qk_dim + attention.v_dim) * mean_span(attention, sequence_length)
    )
    index = 2.0 * attention.index_heads * attention.index_dim * sequence_length / 2
    return core + index


def block_flops_per_token(block: Block, sequence_length: float) -> Flops:
    """Forward FLOPs of one layer."""
    return Flops(
        matmul=sum(m.flops for m in block.matmuls),
        attention=attention_flops_per_token(block.attention, sequence_length)
        + attention_flops_per_token(block.cross_attention, sequence_length),
        scan=block.scan.flops if block.scan else 0.0,
    )


def forward_flops_per_token(architecture: Architecture, sequence_length: float) -> Flops:
    """Forward FLOPs of the whole model."""
    logits = architecture.head.flops * architecture.head_passes if architecture.head else 0.0
    total = Flops(matmul=sum(m.flops for m in architecture.extras), logits=logits)
    for block, count in architecture.blocks:
        total = total.plus(block_flops_per_token(block, sequence_length), count)
    return total


def training_flops_per_token(architecture: Architecture, sequence_length: float) -> float:
    """Forward and backward FLOPs of a training step, per token."""
    return (1 + BACKWARD_PER_FORWARD) * forward_flops_per_token(architecture, sequence_length).total


def training_flops_per_image(architecture: Architecture, patches: int) -> float:
    """Forward and backward FLOPs of an image in the towers. patches: where a tower takes any size."""
    total = 0.0
    for tower in architecture.towers:
        length = tower.tokens or patches
        layers = sum(block_flops_per_token(block, length).total * count for block, count in tower.blocks)
        total += length * (layers + sum(matmul.flops for matmul in tower.extras))
    return (1 + BACKWARD_PER_FORWARD) * total
