"""What the physics needs of a machine class, as numbers: compute, memory and network of one rank, in one
precision.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from solver.catalog.records import Device, Gemm, Kernels, Link, Machine

Floats = npt.NDArray[np.float64]
Number = float | Floats

WIDTH = {"fp32": 4.0, "tf32": 4.0}  # bytes of an activation element; 2 in every narrower precision
NARROW = ("fp8", "mxfp8", "nvfp4", "int8")  # matmuls of the blocks in these, everything else in 16 bits


class Software(NamedTuple):
    """What a framework makes of a device of this architecture.

    attention, matmul   rates of its kernels over those of the device's record
    gradient_overlap    share of the communication with replicas that may hide behind compute
    joined_experts      narrow expert matmuls reach what those in 16 bits do
    """

    attention: float
    matmul: float
    gradient_overlap: float
    joined_experts: bool = False


AS_MEASURED = Software(1.0, 1.0, 1.0)  # by kernel tables, nothing in the way


class Roofline(NamedTuple):
    """Constants of a matmul in one precision (records.Gemm); each a number, or (C, 1) for C devices."""

    efficiency: Number
    inner_overhead: Number
    bandwidth_efficiency: Number
    launch: Number
    idle_outputs: Number

    @classmethod
    def of(cls, gemm: Gemm, rate: float) -> Self:
        """From the device's record; rate: of a framework's kernels over those of the record."""
        own = cls(*(getattr(gemm, name) for name in cls._fields))
        return own._replace(efficiency=own.efficiency * rate)


@dataclass(frozen=True)
class Rank:
    """Compute and memory of one rank in one precision; each a number, or (C, 1) for C devices side by side.

    peak, peak_16           dense rate of the precision and of 16 bits at the sustained clock [FLOP/s]
    memory_bytes_per_s      [B/s]
    usable_bytes            [B]
    gradient_overlap        share of the communication with replicas that may hide behind compute
    host_bytes_per_s        one way, to host memory, of the data sheet [B/s]
    """

    peak: Number
    peak_16: Number
    gemm: Roofline
    gemm_16: Roofline
    memory_bytes_per_s: Number
    usable_bytes: Number
    grouped_gemm_efficiency: Number
    attention_forward: Number
    attention_backward: Number
    attention_softmax: Number
    attention_idle_rows: Number
    pointwise_bandwidth: Number
    gradient_overlap: Number
    host_bytes_per_s: Number
    width: float
    narrow: bool

    @classmethod
    def of(cls, device: Device, precision: str, software: Software = AS_MEASURED) -> Self:
        """The rank of a device; a device of several ranks shares its compute and memory evenly."""
        sixteen = "bf16" if "bf16" in device.peak else "fp16" if "fp16" in device.peak else precision
        kernels, ranks = device.kernels, device.ranks
        return cls(
            peak=device.peak[precision] * kernels.sustained / ranks,
            peak_16=device.peak[sixteen] * kernels.sustained / ranks,
            gemm=Roofline.of(kernels.gemm[precision], software.matmul),
            gemm_16=Roofline.of(kernels.gemm[sixteen], software.matmul),
            memory_bytes_per_s=device.memory_bandwidth / ranks,
            usable_bytes=device.usable_memory / ranks,
            grouped_gemm_efficiency=_grouped(kernels, precision, software),
            attention_forward=kernels.attention_forward * software.attention,
            attention_backward=kernels.attention_backward * software.attention,
            attention_softmax=kernels.attention_softmax,
            attention_idle_rows=kernels.attention_idle_rows / ranks,
            pointwise_bandwidth=kernels.pointwise_bandwidth,
            gradient_overlap=software.gradient_overlap,
            host_bytes_per_s=device.host_link / ranks,
            width=WIDTH.get(precision, 2.0),
            narrow=precision in NARROW,
        )

    @property
    def pointwise_bytes_per_s(self) -> Number:
        """What element-wise kernels reach. [B/s]"""
        return self.pointwise_bandwidth * self.memory_bytes_per_s


def _grouped(kernels: Kernels, precision: str, software: Software) -> float:
    """Rate of expert matmuls over that of a plain matmul of the same rows."""
    wide = kernels.grouped_gemm_efficiency
    return wide if software.joined_experts else kernels.grouped_narrow.get(precision, wide)


@dataclass(frozen=True)
class Network:
    """What joins the ranks, as one rank sees it, large messages.

    domain              ranks that the scale-up link joins
    link_bytes_per_s    one way, of a rank [B/s]; link_latency_s of a hop, link_start_s of a collective [s]
    topology            of the scale-up link (records.Link)
    dimensions          of a torus; wrapped: share of its axes that close to a ring
    fabric_bytes_per_s  one way, a rank's share of its machine's network cards [B/s]
    host_ranks          that share a host
    """

    domain: int
    link_bytes_per_s: float
    link_latency_s: float
    link_start_s: float
    topology: str
    dimensions: int
    edge: float
    wrapped: float
    fabric_bytes_per_s: float
    fabric_latency_s: float
    host_ranks: int

    @classmethod
    def of(cls, machine: Machine, ranks: int, link: Link, fabric: Link | None) -> Self:
        """ranks: software ranks of a device."""
        torus = machine.torus
        share = machine.fabric_share(fabric) if fabric else 0.0
        return cls(
            domain=machine.domain * ranks,
            link_bytes_per_s=link.bandwidth * link.efficiency / ranks,
            link_latency_s=link.latency,
            link_start_s=link.start,
            topology=link.topology,
            dimensions=max(len(torus), 1),
            edge=float(np.prod(torus)) ** (1 / len(torus)) if torus else 1.0,
            wrapped=sum(machine.wrapped) / len(machine.wrapped) if machine.wrapped else 0.0,
            fabric_bytes_per_s=share * fabric.efficiency / ranks if fabric else 0.0,
            fabric_latency_s=fabric.latency if fabric else 0.0,
            host_ranks=max(machine.devices * ranks // machine.hosts, 1),
        )


def side_by_side(ranks: list[Rank]) -> Rank:
    """C ranks of one width as one, each number (C, 1): against layouts (N,) it computes (C, N) at once."""
    first = ranks[0]
    columns: dict[str, Any] = {}
    for name in (f.name for f in fields(Rank)):
        values = [getattr(rank, name) for rank in ranks]
        if isinstance(values[0], Roofline):
            columns[name] = Roofline(*(_column(constants) for constants in zip(*values, strict=True)))
        else:
            columns[name] = getattr(first, name) if name in ("width", "narrow") else _column(values)
    return Rank(**columns)


def _column(values: Iterable[float]) -> Floats:
    return np.array(list(values), np.float64)[:, None]
