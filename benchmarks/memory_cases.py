"""Cases that users told of, with their layout, against the predicted memory: a table of docs/memory.md.

python benchmarks/memory_cases.py

Cases: memory_cases.csv. stated: fits, or does not fit, the device; or gib, as an allocator or the device
counted it. Right: the same of the two (a plan that is fragile may do either), or within 10 % of the measured.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from solver.architecture import from_catalog, from_inline
from solver.architecture.blocks import Architecture
from solver.catalog import Catalog, load
from solver.catalog.records import Framework
from solver.estimate import Job, Space, setting_of
from solver.layout import RECOMPUTE, Layouts
from solver.validation.predict import trained

GIB = 2.0**30
WITHIN = 0.10
CASES = Path(__file__).parent / "memory_cases.csv"


class Told(NamedTuple):
    """A case, and what is predicted. gib: as the case counted it; usable_gib: of the device."""

    case: dict[str, str]
    gib: float
    peak_gib: float
    usable_gib: float
    error: float

    @property
    def off(self) -> float:
        """Of a measured case: prediction over measurement, less one."""
        return self.gib / float(self.case["gib"]) - 1

    @property
    def answer(self) -> str:
        """In words: fits, fragile, does not fit; or by how much it is off."""
        if self.case["gib"]:
            return f"{self.off:+.0%}"
        if self.peak_gib > self.usable_gib:
            return "does not fit"
        return "fragile" if self.peak_gib * (1 + self.error) > self.usable_gib else "fits"

    @property
    def right(self) -> bool:
        """Whether it came out as stated."""
        if self.case["gib"]:
            return abs(self.off) <= WITHIN
        return self.answer in ("fragile", self.case["stated"])


def main() -> None:
    found = list(told())
    print("| case | what | layout | stated | predicted | of | right |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for one in found:
        print(f"| {' | '.join(cells(one))} |")
    print(f"\n{sum(one.right for one in found)} of {len(found)} right.")


def cells(one: Told) -> Iterator[str]:
    case = one.case
    yield case["id"]
    what = (
        case["model"].partition(" ")[0],
        case["sequence"],
        case["precision"],
        case["device"],
        case["task"],
    )
    yield ", ".join(filter(None, what))
    told_layout = f"{case['framework'].partition(':')[0]} {case['layout']} recompute={case['recompute']}"
    yield told_layout.replace("  ", " ")
    yield f"{case['gib']} GiB" if case["gib"] else case["stated"]
    yield f"{one.gib:.1f} GiB, {one.answer}"
    yield f"{one.usable_gib:.1f}"
    yield "yes" if one.right else f"no: {case['note']}"


def told() -> Iterator[Told]:
    """Every case, in the order of the file."""
    catalog = load()
    with CASES.open(encoding="utf-8", newline="") as file:
        for case in csv.DictReader(file):
            yield predicted(case, catalog)


def predicted(case: dict[str, str], catalog: Catalog) -> Told:
    operations = catalog.operations["operations"]
    how = Job(
        architecture=trained(shape(case["model"], catalog), case["task"]),
        sequence=int(case["sequence"]),
        global_batch=1,
        steps=1,
        gradient_dtype=None,
        operations=operations,
        flash=case["attention"] == "flash",
        imbalance=1.0,
        optimizer=case["optimizer"],
    )
    setting = setting_of(how, framework(case["framework"], catalog), case["precision"])
    columns = pairs(case["layout"]) | {"recompute": RECOMPUTE.index(case["recompute"])}
    memory = Space.of(setting, Layouts.of({name: [value] for name, value in columns.items()})).memory
    peak, allocated = float(memory.peak[0]) / GIB, float(memory.allocated[0]) / GIB
    device = catalog.devices[case["device"]]
    usable = device.usable_memory / device.ranks / GIB
    counted = allocated if case["counted"] == "allocator" else peak
    return Told(case, counted, peak, usable, operations.memory_error)


def shape(text: str, catalog: Catalog) -> Architecture:
    """An id of the catalog, or sizes."""
    if "=" not in text:
        return from_catalog(catalog.models[text])
    flags = ("gated_mlp", "tied_embeddings")
    return from_inline({name: bool(n) if name in flags else n for name, n in pairs(text).items()})


def pairs(text: str) -> dict[str, int]:
    return {name: int(value) for name, _, value in (pair.partition("=") for pair in text.split())}


def framework(text: str, catalog: Catalog) -> Framework:
    """A record, or one of its eras behind a colon (commas of its name as semicolons)."""
    name, _, era = text.partition(":")
    record = catalog.frameworks[name]
    differences = [e.differences for e in record.eras if e.name == era.replace(";", ",")]
    return record.model_copy(update=differences[0]) if era else record


if __name__ == "__main__":
    main()
