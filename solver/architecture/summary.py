"""One model at a glance: counts by component, FLOPs, cache, states, degrees that divide it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from solver.architecture.blocks import Architecture, Block, Matmul
from solver.architecture.flops import (
    BACKWARD_PER_FORWARD,
    PATCHES,
    Flops,
    block_flops_per_token,
    forward_flops_per_token,
    training_flops_per_image,
)

CACHE_BYTES = 2  # of an element of the key-value cache or of a scan's state (bf16)
LARGEST_TP = 64


class ByteModel(NamedTuple):
    """Bytes that training holds of a parameter: compute weights, gradients, master copy, two Adam moments.

    held: in words; frameworks: ids of those that hold it so by themselves; how: what else gives it
    """

    held: str
    weight: int
    gradient: int
    master: int
    moments: int
    frameworks: Sequence[str] = ()
    how: str = ""

    @property
    def total(self) -> int:
        return self.weight + self.gradient + self.master + self.moments


@dataclass(frozen=True)
class LayerKind:
    """Some alike neighbouring layers, for dealing them to pipeline stages."""

    name: str
    count: int
    parameters: int
    active_parameters: int
    forward_flops_per_token: float


@dataclass(frozen=True)
class States:
    """Model states by a byte model, and the checkpoint to resume from: all but the gradients."""

    bytes_per_parameter: int
    bytes: int
    checkpoint_bytes: int
    frameworks: list[str]
    how: str


@dataclass(frozen=True)
class Summary:
    """What `trainplan model` tells. FLOPs are per token; training is forward and backward.

    six_n                 6 x active parameters, the textbook rule
    six_n_difference      what leads from it to flops_per_token; the parts add up to the difference
    kv_bytes_per_token    cache of all layers while nothing slides out; state_bytes_per_sequence: of scans
    optimizer_bytes_per_parameter   of each optimizer's state alone, on average over the model
    flops_per_image       of training, in the image towers; not part of flops_per_token
    tensor_parallel       degrees that divide the heads; those beyond the KV heads replicate them
    """

    name: str
    model_type: str
    sequence_length: int
    total_parameters: int
    active_parameters: int
    active_parameters_without_input_table: int
    trainable_parameters: int
    embedding_parameters: int
    parameters_by_component: dict[str, int]
    flops_per_token: float
    forward_flops_per_token: dict[str, float]
    six_n: float
    six_n_difference: dict[str, float]
    kv_bytes_per_token: int
    state_bytes_per_sequence: int
    states: dict[str, States]
    weights_checkpoint_bytes: int
    tensor_parallel: list[int]
    tensor_parallel_replicating: list[int]
    pipeline_parallel: list[int]
    expert_parallel: list[int]
    layer_kinds: list[LayerKind]
    notes: list[str]
    optimizer_bytes_per_parameter: dict[str, float] = field(default_factory=dict)
    image_patches: int = 0
    flops_per_image: float = 0.0

    def plain(self) -> dict[str, object]:
        """As JSON has it."""
        return asdict(self)


def summary(
    architecture: Architecture, sequence_length: int, byte_models: Iterable[ByteModel] = ()
) -> Summary:
    """Counts, FLOPs at this sequence length, sizes and degrees of one model."""
    a, forward = architecture, forward_flops_per_token(architecture, sequence_length)
    training = (1 + BACKWARD_PER_FORWARD) * forward.total
    tp = _divisors(a.heads, LARGEST_TP)
    return Summary(
        name=a.name,
        model_type=a.model_type,
        sequence_length=sequence_length,
        total_parameters=a.total_parameters,
        active_parameters=a.active_parameters,
        active_parameters_without_input_table=a.active_parameters - a.token_embeddings,
        trainable_parameters=trainable_parameters(a),
        embedding_parameters=a.embedding_parameters,
        parameters_by_component=parameters_by_component(a),
        flops_per_token=training,
        forward_flops_per_token=forward._asdict() | {"total": forward.total},
        six_n=6.0 * a.active_parameters,
        six_n_difference=six_n_difference(a, forward),
        kv_bytes_per_token=kv_bytes_per_token(a),
        state_bytes_per_sequence=state_bytes_per_sequence(a),
        states={model.held: _states(a.total_parameters, model) for model in byte_models},
        weights_checkpoint_bytes=2 * a.total_parameters,
        tensor_parallel=[t for t in tp if a.kv_heads % t == 0],
        tensor_parallel_replicating=[t for t in tp if a.kv_heads % t and t % max(a.kv_heads, 1) == 0],
        pipeline_parallel=_divisors(a.layers, a.layers),
        expert_parallel=_divisors(a.experts, a.experts),
        layer_kinds=[_layer_kind(block, count, sequence_length) for block, count in a.blocks],
        notes=list(a.notes),
        image_patches=max((tower.tokens or PATCHES for tower in a.towers), default=0),
        flops_per_image=training_flops_per_image(a, PATCHES),
    )


def _divisors(number: int, largest: int) -> list[int]:
    return [d for d in range(1, min(number, largest) + 1) if number % d == 0]


def _states(parameters: int, model: ByteModel) -> States:
    kept = model.total - model.gradient
    whole, checkpoint = model.total * parameters, kept * parameters
    return States(model.total, whole, checkpoint, list(model.frameworks), model.how)


def _layer_kind(block: Block, count: int, sequence_length: int) -> LayerKind:
    flops = block_flops_per_token(block, sequence_length).total
    return LayerKind(block.name, count, block.parameters, block.active_parameters, flops)


def trainable_parameters(architecture: Architecture) -> int:
    """All but the matmuls that are frozen."""
    frozen = sum(
        m.parameters * count for block, count in architecture.blocks for m in block.matmuls if not m.trainable
    )
    return architecture.total_parameters - frozen


# Where a matmul belongs, by the start of its name; the first that fits.
_COMPONENTS = (
    ("router", "router"),
    ("latent_", "routed experts"),
    ("expert_", "routed experts"),
    ("shared_", "shared experts"),
    ("scan_", "scan"),
    ("selection", "scan"),
    ("step_size", "scan"),
    ("linear_", "scan"),
    ("join_next", "prediction layers"),
    ("gate", "feed-forward"),
    ("up", "feed-forward"),
    ("down", "feed-forward"),
    ("", "attention"),
)


def component(matmul: Matmul) -> str:
    return next(part for start, part in _COMPONENTS if matmul.name.startswith(start))


def parameters_by_component(architecture: Architecture) -> dict[str, int]:
    """Parameters by what they are part of; they add up to the total."""
    found: Counter[str] = Counter()
    found["input table"] = architecture.token_embeddings
    found["positions"] = architecture.positions
    for block, count in architecture.blocks:
        for matmul in block.matmuls:
            found[component(matmul)] += matmul.parameters * count
        found["norms and vectors"] += block.vectors * count
    found["norms and vectors"] += architecture.final_vectors
    found["output head"] = architecture.head_parameters
    found["outside the layers"] = sum(m.parameters for m in architecture.extras)
    found["image tower"] = sum(tower.parameters for tower in architecture.towers)
    return {name: count for name, count in found.items() if count}


def six_n_difference(architecture: Architecture, forward: Flops) -> dict[str, float]:
    """From 6 x active parameters to the training FLOPs per token, part by part."""
    passes = 1 + BACKWARD_PER_FORWARD
    matmuls = [m for block, count in architecture.blocks for m in block.matmuls * count]
    reused = passes * sum(m.flops for m in matmuls if m.borrowed)
    head = passes * architecture.head.flops if architecture.head else 0.0
    again = head * (architecture.head_passes - 1)
    table = -6.0 * architecture.token_embeddings + (head if architecture.tied_embeddings else 0.0)
    tower = -6.0 * sum(t.parameters for t in architecture.towers)
    known = {
        "attention scores and context": passes * forward.attention,
        "scan": passes * forward.scan,
        "input table is looked up, not multiplied": table,
        "weights used again": reused,
        "head met again by prediction layers": again,
        "image tower": tower,
    }
    rest = passes * forward.total - 6.0 * architecture.active_parameters - sum(known.values())
    parts = known | {"positions, norms, biases and other vectors": rest}
    return {name: value for name, value in parts.items() if value}


def kv_bytes_per_token(architecture: Architecture) -> int:
    """Cache of keys and values of one token in all layers, 16 bits an element.

    Latent attention keeps the compressed key-value and the shared rotary key, and the indexer its keys:
    arXiv 2505.09343, table 1 (70.272 kB for DeepSeek-V3 is 61 x 576 x 2 B).
    """
    return CACHE_BYTES * sum(_cached(block) * count for block, count in architecture.blocks)


def _cached(block: Block) -> int:
    attention = block.attention
    if attention is None or attention.kind == "bidirectional":
        return 0
    compressed = _outer(block.matmuls, "kv_down")
    if compressed:
        return compressed + attention.index_dim
    return attention.kv_heads * (attention.qk_dim + attention.v_dim)


def _outer(matmuls: Iterable[Matmul], name: str) -> int:
    return next((m.outer for m in matmuls if m.name == name), 0)


def state_bytes_per_sequence(architecture: Architecture) -> int:
    """State of the scans and of their convolutions for one sequence, 16 bits an element."""
    scans = [(block.scan, count) for block, count in architecture.blocks if block.scan]
    return CACHE_BYTES * sum(
        (scan.heads * scan.head_dim * scan.state_dim + scan.conv_elements) * count for scan, count in scans
    )
