"""The record of a training framework, and how its older generations differ."""

from fnmatch import fnmatchcase
from typing import Any, Literal

from pydantic import Field

from solver.catalog.fact import Bytes, Day, Fact, Record, Seconds, Share

Sharding = Literal["ddp", "zero1", "zero2", "zero3"]
"""By stage of ZeRO, in the words of published runs."""


class Support(Record):
    """Where a framework runs, and in which precisions."""

    families: list[str]
    precisions: list[str]


class Lack(Record):
    """Models that a framework has no code for."""

    models: list[str]
    """Their `model_type` as config.json has it, as globs."""
    said: str
    """Where that can be seen."""


class Older(Record):
    """What versions of a framework before some number refuse beside its rules."""

    before: str
    """Number of the version that came to take it: 0.9.0."""
    rules: dict[str, str]
    """As those of the framework."""


class Era(Record):
    """How an older generation of a framework, or a relative of it, differs from the record."""

    name: str
    aliases: list[str] = Field(default_factory=list)
    """Free-text names of published runs, as globs; none: every name of the framework."""
    until: Day = "9999"
    """Date of the last runs of this generation."""
    compiled: bool | None = None
    """Of runs that state so alone."""
    notes: list[str] = Field(default_factory=list)
    """Of runs whose notes have one of these globs; none: of all."""
    precisions: list[str] = Field(default_factory=list)
    """Of runs in these; none: of all."""
    recompute: dict[str, str] | None = None
    gradient_bytes: float | None = None
    accumulation_bytes: float | None = None
    attention: dict[str, Share] | None = None
    matmul: dict[str, Share] | None = None
    joined_experts: bool | None = None
    joined: bool | None = None
    fused: float | None = None
    cast_bytes: float | None = None
    layer_launch: Seconds | None = None
    expert_launch: Seconds | None = None
    send_pause: Seconds | None = None
    scattered: bool | None = None
    deduplicated: bool | None = None
    gradient_overlap: float | None = None
    gradient_overlaps: dict[str, float] | None = None
    reduced_bytes: float | None = None
    layer_calls: int | None = None
    owned_tensors: int | None = None
    tensor_overlap: float | None = None
    expert_overlap: float | None = None
    step_overhead: Seconds | None = None
    interleaved: bool | None = None
    weighed: bool | None = None
    folded: bool | None = None
    sequence_parallel: bool | None = None
    sharding: Sharding | None = None
    weight_bytes: float | None = None
    loss_bytes: float | None = None
    cut_loss_bytes: float | None = None
    stage_stays_gathered: bool | None = None
    live_parameters: float | None = None
    buckets: float | None = None
    copy_bytes: float | None = None
    step_bytes: float | None = None
    step_in_groups: bool | None = None
    step_drops_gradients: bool | None = None
    weight_gradient_bytes: float | None = None
    kept: float | None = None
    narrow_bytes: float | None = None
    cached_bytes: float | None = None
    buffers: Bytes | None = None
    context: Bytes | None = None
    communicator: Bytes | None = None
    fragmentation: float | None = None

    @property
    def differences(self) -> dict[str, Any]:
        return self.model_dump(
            exclude={"name", "aliases", "until", "compiled", "notes", "precisions"}, exclude_none=True
        )


class Framework(Fact):
    """A training framework: what it runs on, what layouts it accepts, what it holds in memory and costs."""

    name: str
    aliases: list[str]
    """Free-text names of published runs, as globs."""
    supports: list[Support]
    rules: dict[str, str]
    """Names of rules.RULES that hold for it, each with where the framework says so."""
    lacks: list[Lack] = Field(default_factory=list)
    """Kinds of models that it has no code for."""
    older: list[Older] = Field(default_factory=list)
    """Rules of older versions; those of a version before several hold together."""
    zero: list[int]
    """Sharding stages it has."""
    local_sgd: bool = False
    """Whether groups of replicas can train apart and average their weights now and then."""
    schedules: list[Literal["zero-bubble", "dualpipe"]] = Field(default_factory=list)
    """Of the pipeline, beside 1F1B."""
    offload: list[Literal["optimizer", "parameters"]] = Field(default_factory=list)
    """What it can keep in host memory and update there: the optimizer state; the weights too."""
    host_gradients: bool = True
    """With the optimizer in host memory: gradients go there as they appear; else they stay on the device."""
    host_adds: bool = False
    """Whether the host adds the gradients of several micro-batches, which the device waits for."""
    loads_whole: bool = False
    """Whether each process reads all weights into host memory before they are sharded."""
    recompute: dict[str, str]
    """What it calls none, selective and full -> the name of what is recomputed (physics.recompute.KINDS)."""
    gradient_bytes: float
    """Bytes a gradient element is held and reduced in."""
    weight_bytes: float
    master_bytes: float
    """Of the float32 copy that the optimizer updates (0 where the weights are that copy)."""
    optimizers: list[str] = Field(default_factory=lambda: ["adamw", "adam"])
    """That it has; what each keeps of a parameter beside the master copy is physics.optimizers."""
    host_optimizers: list[str] = Field(default_factory=lambda: ["adamw", "adam"])
    """Of these, those that can run on a host, where their state is kept there."""
    gathered_bytes: float
    """Of the weights as ZeRO gathers them to compute."""
    vocab_multiple: int = 1
    """The vocabulary is padded to a multiple of this times tp."""
    joined: bool = True
    """Matmuls of one input run as one: q, k and v; gate and up."""
    fused: float
    """Element-wise traffic, over that of one kernel each for norm, residual, rope and activation."""
    accumulation_bytes: float = 0.0
    """Moved for each parameter that a rank holds to add a micro-batch's gradient to the sum."""
    attention: dict[str, Share] = Field(default_factory=dict)
    """By architecture of the device: rate of its attention kernels over that of the device's record (1)."""
    matmul: dict[str, Share] = Field(default_factory=dict)
    """The same of its matmul kernels: libraries older than those of the kernel tables."""
    joined_experts: bool = False
    """Expert matmuls of 8 bits in one kernel with cast and activation, as efficient as those of 16 bits."""
    cast_bytes: float = 4.0
    """Moved to cast a 16-bit element to 8 bits, plain and transposed: read 2, write 1 + 1; less if fused."""
    layer_launch: Seconds
    """Host time to launch a layer's forward kernels: a floor under its time."""
    expert_launch: Seconds = 0.0
    """The same for each expert that a rank holds, on top: its products, permutation and token count."""
    send_pause: Seconds = 0.0
    """For which the host holds up a rank at each hand-off between pipeline stages."""
    deduplicated: bool = False
    """A token goes once to each scale-up domain that holds an expert of it, and is dealt out there."""
    scattered: bool = True
    """Tensor ranks send a part each of what they hand to the next stage; else each sends all of it."""
    gradient_overlap: float
    """Share of the gradient reduction that may hide behind the backward pass."""
    gradient_overlaps: dict[str, float] = Field(default_factory=dict)
    """The same by architecture of the device, where it differs: collectives may need its compute units."""
    reduced_bytes: float = 0.0
    """Of a gradient element under ZeRO 1, if a reduce-scatter would move more than it is held in."""
    layer_calls: int = 0
    """Of a layer, where ZeRO 1 gathers each tensor in a call of its own; 0: all of a stage in one."""
    owned_tensors: int = 0
    """Of a layer, where ZeRO 1 gives ranks whole tensors that they send to all; 0: all own a part of each."""
    tensor_overlap: float
    """Share of the tensor-parallel communication that may hide behind matmuls."""
    expert_overlap: float = 0.0
    """Share of the expert-parallel communication that may hide behind matmuls."""
    step_overhead: Seconds
    """Per step: data loading, logging, optimizer launch."""
    folded: bool = True
    """Of published runs: experts have a tensor degree of their own (1); else that of the dense layers."""
    interleaved: bool = False
    """Of published runs that state no virtual stages: as deep as the layers divide."""
    sequence_parallel: bool = False
    """Of published runs that do not say: whether tensor ranks split norms and residuals."""
    sharding: Sharding = "ddp"
    """Of published runs that state none."""
    weighed: bool = False
    """Of published runs: layers are dealt to stages by the weight of their products, the head's as well."""
    loss_bytes: float
    """Bytes per logit element alive at the loss (bf16 logits, float32 copy, gradient)."""
    cut_loss_bytes: float = 0.0
    """The same where tp cuts the vocabulary, if that takes more."""
    copy_bytes: float = 0.0
    """Of a parameter in copies beside its gradient, whole on every rank (16-bit gradients beside float32)."""
    step_bytes: float = 0.0
    """Of a parameter that a rank updates, in copies that live during the optimizer's step."""
    step_in_groups: bool = False
    """Whether stage 3 goes through them in groups, as small as the room asks: then no copies count."""
    step_drops_gradients: bool = False
    """Whether stage 1 frees the gradients of what other ranks own before it makes those copies."""
    weight_gradient_bytes: float = 0.0
    """Of an element of a weight gradient before it is added or reduced: one layer and the head at a time."""
    kept: float = 1.0
    """Activations kept for the backward pass, over those that fused kernels keep."""
    narrow_bytes: float = 2.0
    """Bytes that an input of an 8-bit matmul is kept in."""
    cached_bytes: float = 0.0
    """Of a layer's weight in 8-bit copies that stay from one micro-batch to the next."""
    buffers: Bytes = 0.0
    """Communication buckets that stay allocated."""
    buckets: float = 0.0
    """More of them, each of hidden x hidden 16-bit elements, where anything is sharded."""
    stage_stays_gathered: bool = False
    """Under a pipeline stage 3 gathers the weights once a step and reduces whole gradients at its end."""
    live_parameters: float = 0.0
    """Weights that may stay gathered in stage 3, beyond the layer that runs; 0: the next layer."""
    context: Bytes
    """Runtime context on a device, outside the allocator."""
    communicator: Bytes = 0.0
    """The same for each group of ranks that a rank communicates in; 0: they are in the context."""
    fragmentation: float
    """Share of the dynamic memory that the allocator cannot hand out."""
    eras: list[Era] = Field(default_factory=list)
    """Older generations and relatives, the first that matches holds; what is planned is the record itself."""

    def lack_of(self, model_type: str) -> Lack | None:
        """Why it cannot train models of a type; None: it can."""
        return next(
            (lack for lack in self.lacks if any(fnmatchcase(model_type, m) for m in lack.models)), None
        )
