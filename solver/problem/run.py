"""The run file of `evaluate`: one stated layout on stated hardware."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, PrivateAttr

from solver.problem.amount import steps_of
from solver.problem.paths import Folder
from solver.problem.quantities import (
    Degree,
    Devices,
    Kernel,
    Model,
    Name,
    Precision,
    PrecisionName,
    Truth,
    UsdPerHour,
    name_of,
)  # fmt: skip
from solver.problem.shape import ModelSpec
from solver.problem.training import Training
from solver.units import shown

Inline = dict[str, Any]

_RELEASE = re.compile(r"v?\d{1,6}(\.\d{1,6}){1,3}([-+.]?[A-Za-z][\w.+-]*)?", re.ASCII)  # 0.9.0, v2.1.0rc1


def _id_or_fields(value: object) -> object:
    """An id of the catalog, or the fields of a record written inline."""
    if isinstance(value, list):
        raise ValueError("a run is on machines of one kind; name one, not a list")
    return value if isinstance(value, dict) else name_of(value)


def _stages(value: object) -> Literal["even"] | tuple[int, ...]:
    if isinstance(value, str) and value.strip().lower() == "even":
        return "even"
    listed = value if isinstance(value, list) else []
    layers = tuple(n for n in listed if isinstance(n, int) and not isinstance(n, bool) and 0 < n <= 10**5)
    if not layers or len(layers) < len(listed):
        raise ValueError(f'{shown(value)} is no deal of layers; write "even" or those of each stage: [9, 8]')
    return layers


def _number_or_name(value: object) -> object:
    """A number, or the name by which a framework calls what it does."""
    if isinstance(value, str) and not value.strip().isdigit():
        return name_of(value)
    if isinstance(value, bool) or not isinstance(value, int | str) or not 0 <= int(value) <= 10**7:
        raise ValueError(f"{shown(value)} is neither a number nor a name; write e.g. 1")
    return int(value)


def _version(value: object) -> str:
    if isinstance(value, int | float):
        raise ValueError(f'{shown(value)} is a number, in which 0.10 is 0.1; write it in quotes, e.g. "0.10"')
    if not _RELEASE.fullmatch(name := name_of(value)):
        raise ValueError(
            f'{shown(value)} is no number of a release; write e.g. "0.12.0", or leave the field out'
        )
    return name


IdOrFields = Annotated[str | Inline, BeforeValidator(_id_or_fields)]
NumberOrName = Annotated[int | str, BeforeValidator(_number_or_name)]
Stages = Annotated[Literal["even"] | tuple[int, ...], PlainValidator(_stages)]
Version = Annotated[str, BeforeValidator(_version)]


class RunHardware(Model):
    """Machines, counted in devices."""

    machine: IdOrFields
    """Id of a machine, or the fields of its record."""
    devices: Devices = Field(examples=[64])
    """Devices used."""
    fabric: IdOrFields | None = None
    """Network between the machines, or the fields of its record; the machine's usual one where left out."""
    price: UsdPerHour | None = None
    """Of one machine."""


class RunLayout(Model):
    """How the training is laid on the devices; what is left out takes a default of the framework."""

    tp: Degree | None = None
    """Tensor parallel degree."""
    cp: Degree | None = None
    """Context parallel degree."""
    pp: Degree | None = None
    """Pipeline stages."""
    vpp: Degree | None = None
    """Virtual stages on a rank."""
    ep: Degree | None = None
    """Expert parallel degree."""
    etp: Degree | None = None
    """Expert tensor parallel degree."""
    dp: Degree | None = None
    """Data parallel degree."""
    edp: Degree | None = None
    """Expert data parallel degree: ranks / (pp ep etp)."""
    zero: NumberOrName | None = None
    """Sharding over the replicas: 0 nothing, 1 optimizer, 2 gradients, 3 weights; or the framework's name."""
    shard: NumberOrName | None = None
    """Replicas that share one copy of what is sharded."""
    micro_batch: Degree | None = None
    """Sequences that a replica takes at a time."""
    grad_accum: Degree | None = None
    """Micro-batches of one step."""
    recompute: Name | None = None
    """none, selective or full, or the framework's name."""
    sequence_parallel: Truth | None = None
    """Norms and residuals split over the tensor parallel ranks."""
    schedule: Name | None = None
    """Of the pipeline."""
    offload: Name | None = None
    """What is kept in host memory."""
    stages: Stages | None = None
    """even, or the layers of each pipeline stage."""
    precision: Precision | None = None
    """As in training; a plan repeats it here."""


class Software(Model):
    """What a run was made with; defaults by framework and date."""

    version: Version | None = None
    """Of the framework."""
    attention: Kernel | None = None
    """flash, or unfused: score matrices in memory."""
    compiled: Truth | None = None
    """Compiled as a graph."""
    cuda_graphs: Truth | None = None
    """Kernels launched as graphs."""


class Run(Model):
    """A run file: one layout on stated hardware, to be estimated or refused."""

    model: ModelSpec = Field(examples=["{parameters: 7B}"])
    """Catalog id, path to a config.json, sizes written inline, or {parameters: 7B}."""
    training: Training
    """Sequence length, global batch, one precision."""
    hardware: RunHardware
    """Machines, counted in devices."""
    framework: Name
    """Id of a training framework."""
    layout: RunLayout = RunLayout()
    """How the training is laid on the devices."""
    software: Software = Software()
    """What the run is made with."""
    catalog: Folder | None = None
    """Folder of records that overlay the catalog."""

    _source: str = PrivateAttr(default="run")
    _given: dict[str, Any] = PrivateAttr(default_factory=dict)

    def model_post_init(self, context: dict[str, Any] | None, /) -> None:
        """Keeps what the user wrote."""
        self._given = (context or {}).get("given", {})
        self._source = (context or {}).get("source", self._source)

    @property
    def source(self) -> str:
        """What messages call the input: the path of its file."""
        return self._source

    @property
    def given(self) -> dict[str, Any]:
        """The file as written: plain values by field, without the defaults."""
        return self._given

    @property
    def precision(self) -> PrecisionName:
        """The one precision of the run."""
        return self.training.precision[0]

    @property
    def steps(self) -> int:
        """Optimizer steps of the whole training; one where its length is not stated."""
        return max(steps_of(self.training), 1)
