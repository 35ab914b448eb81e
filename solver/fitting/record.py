"""What `fit` answers, as JSON has it: keys are a promise, numbers carry 9 significant digits."""

from typing import Literal

from solver.plan import CatalogStamp, Layout, MemoryUse, Number, Part


class FitOption(Part):
    """The fewest devices that hold the model with some changes, and the fastest layout on them.

    changes          what is done that was not asked for: recompute, offload, a shorter sequence, ...
    layout_changes   how the layout differs from that of the option before
    devices          those used; devices_paid: those of the whole machines
    biggest_part     of memory.parts
    price_pct        by how much recomputation and offload lengthen the step of this very layout
    slower_pct       device time of a token over that of the fastest option without a change; of the first
                     option where all have some
    """

    changes: list[str]
    layout_changes: list[str]
    devices: int
    machine: str
    machines: int
    devices_paid: int
    fabric: str | None
    framework: str
    precision: str
    optimizer: str
    sequence_length: int
    layout: Layout
    memory: MemoryUse
    biggest_part: str
    step_s: Number
    tokens_per_s_per_device: Number
    price_pct: Number
    slower_pct: Number


class Shortfall(Part):
    """What is missing on `devices`: of the layout that comes closest, the fullest device and its host.

    short_of   device or host: whose memory is missed by more
    """

    devices: int
    machine: str
    framework: str
    layout: Layout
    memory: MemoryUse
    biggest_part: str
    short_of: Literal["device", "host"]


class DeviceFit(Part):
    """One device: the options, each with fewer devices, more room or more speed than those before it.

    as_is       fewest devices that hold the model without a change; None: no number does
    smallest    fewest devices that hold it with any change
    too_few     the largest number below the smallest, or the largest of all where nothing fits
    refused     why the device cannot train this at all
    advice      all of it in sentences
    """

    device: str
    usable_gib: Number
    as_is: int | None
    smallest: int | None
    options: list[FitOption]
    too_few: Shortfall | None
    refused: str | None
    advice: list[str]


class Fit(Part):
    """A model, and how few of each device hold it."""

    model: str
    total_parameters: int
    sequence_length: int
    global_batch: int
    precision: list[str]
    optimizer: str
    devices: list[DeviceFit]
    assumptions: list[str]
    catalog: CatalogStamp
    version: str
