"""Fit the constants of compute kernels and scale-up links to measured tables, and nothing else.

    python benchmarks/fit_kernels.py FOLDER [DEVICE...]                # constants as YAML, errors as tables
    python benchmarks/fit_kernels.py FOLDER --docs docs/kernels.md     # and writes the tables into the page

FOLDER holds microbench/{gemm,attention_forward,moe_ffn_forward}.csv (device, shape, measured ms) and
catalog/measured_busbw.csv (nccl-tests convention). Every time is predicted by the functions that the solver
itself uses. A quarter of the rows is held out of each fit; errors are of those rows. Needs scipy.
"""

import argparse
import csv
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fit_links import link_table
from scipy.optimize import least_squares  # type: ignore[import-untyped]

from solver import catalog as shipped
from solver.catalog.records import Device
from solver.physics import kernels
from solver.physics.hardware import Floats, Rank, Roofline
from solver.physics.kernels import Scores, Shape

PRECISIONS = {"bf16": "bf16", "fp8": "fp8", "fp8_block": "mxfp8", "nvfp4": "nvfp4"}  # of the tables -> ours
TABLE_WIDTH = {"fp8": 1.0, "mxfp8": 1.0, "nvfp4": 0.5625}  # bytes of an operand that a cast writes
SLOW_HEADS = {"Blackwell": (192.0,), "Blackwell Ultra": (192.0,)}
MARKS = ("<!-- fitted: -->", "<!-- :fitted -->")


@dataclass(frozen=True)
class Table:
    """Rows of one device: a column a name, and the measured time [s]. (R,)"""

    column: dict[str, Floats]
    seconds: Floats

    def where(self, mask: Any) -> "Table":
        return Table({name: values[mask] for name, values in self.column.items()}, self.seconds[mask])

    def __getitem__(self, name: str) -> Floats:
        return self.column[name]


class Fitted(NamedTuple):
    """Constants, and what they miss on rows held out: mean and median of |predicted / measured - 1|."""

    constants: Floats
    rows: int
    mean: float
    median: float


def read(path: Path, **same: str) -> Table:
    """The rows of a file in which the named columns have the named values."""
    with path.open() as file:
        rows = [row for row in csv.DictReader(file) if all(row[name] == v for name, v in same.items())]
    timed = "forward_ms" if rows and "forward_ms" in rows[0] else "latency_ms"
    numbers = [name for name in (rows[0] if rows else ()) if name not in (*same, timed, "distribution")]
    column = {name: np.array([float(row[name]) for row in rows]) for name in numbers}
    return Table(column, np.array([float(row[timed]) for row in rows]) / 1e3)


def fit(
    predict: Callable[[Floats, Table], Floats], table: Table, bounds: Sequence[tuple[float, float]], core: Any
) -> Fitted:
    """Constants within bounds that bring the logarithms of predicted and measured times together.

    core: rows of training shapes, whose errors are reported; the others weigh 0.3 in the fit.
    """
    held = np.random.default_rng(0).random(len(table.seconds)) < 0.25
    known, unseen, weight = table.where(~held), table.where(held & core), np.where(core, 1.0, 0.3)[~held]
    low, high = np.log(np.array(bounds).T)

    def missed(logarithms: Floats) -> Any:
        return weight * np.log(predict(np.exp(logarithms), known) / known.seconds)

    start = low + 0.6 * (high - low)
    best = least_squares(missed, start, loss="soft_l1", f_scale=0.05, bounds=(low, high))
    constants = np.exp(best.x)
    error = np.abs(predict(constants, unseen) / unseen.seconds - 1)
    return Fitted(constants, len(error), float(error.mean()), float(np.median(error)))


def cool(device: Device, precision: str) -> Rank:
    """The rank as tables see it: one kernel after a pause, at the clock of the data sheet."""
    own = Rank.of(device, precision)
    return replace(
        own, peak=device.peak[precision] / device.ranks, peak_16=device.peak["bf16"] / device.ranks
    )


def fit_gemm(device: Device, precision: str, table: Table) -> Fitted:
    """Of one precision: efficiency, k0, bandwidth efficiency, launch, idle; narrow ones with their cast.

    The tables of 8 and 4 bits hold the cast of the input, a pass over memory whose rate is fitted beside and
    left out of the record: the model charges casts as element-wise work.
    """
    rank = cool(device, precision)
    written = TABLE_WIDTH.get(precision)

    def predict(x: Floats, rows: Table) -> Floats:
        shape = Shape(rows["m"], rows["n"], rows["k"], 1.0)
        cast = 0.0 if written is None else rows["m"] * rows["k"] * (2 + written) / rank.memory_bytes_per_s
        own = replace(rank, gemm=Roofline(*x[:5]))
        return np.asarray(kernels.matmul_s(shape, own) + cast / x[5])

    core = (table["m"] >= 512) & (table["n"] >= 512) & (table["k"] >= 512)
    bounds = [(0.1, 1), (1, 3000), (0.1, 1), (5e-7, 5e-5), (1e3, 1e7), (0.1, 1)]
    return fit(predict, table, bounds, core)


def fit_attention(device: Device, gemm_launch: float, table: Table) -> Fitted:
    """Rate at head size 128, exponential, idle rows; beside them a launch and the rate of a memory pass.

    The tables' kernel also rotates, splits and stores queries, keys and values, a pass over memory that is
    fitted beside and left out of the record: the model charges it as element-wise work.
    """
    rank = cool(device, "bf16")

    def predict(x: Floats, rows: Table) -> Floats:
        b, s, h, d = (rows[name] for name in ("batch_size", "seq_len", "heads", "head_dim"))
        window = np.where(rows["window"] > 0, np.minimum(rows["window"], s), s)
        keys = window * (2 * s - window + 1) / (2 * s)
        own = replace(rank, attention_forward=stated(x), attention_softmax=x[1], attention_idle_rows=x[2])
        scores = Scores(4 * b * h * s * keys * d, keys, 2 * d)  # type: ignore[arg-type]  # (R,), not one layer's
        moved = 2 * b * s * d * (2 * h + 4 * rows["kv_heads"])
        passed = moved / (x[4] * rank.memory_bytes_per_s)
        return np.asarray(kernels.attention_s(scores, own)[0] - gemm_launch + x[3] + passed)

    def stated(x: Floats) -> float:
        """The rate at head size 128, of that of the products where nothing else is in the way."""
        return float(x[0] / (1 + (x[1] / 512) ** 4) ** 0.25)

    several = len(set(table["head_dim"])) > 1
    softmax = (20.0, 2000.0) if several else (127.0, 129.0)  # A100: only head size 128 measured; see docs
    bounds = [(0.1, 0.95), softmax, (100, 2e5), (5e-7, 5e-5), (0.1, 1)]
    rows = table["batch_size"] * table["heads"] * table["seq_len"]
    fitted = fit(predict, table, bounds, (table["window"] == 0) & (rows >= 16384))
    return fitted._replace(constants=np.array([stated(fitted.constants), *fitted.constants[1:]]))


def fit_grouped(device: Device, precision: str, gemm: Roofline, table: Table) -> Fitted:
    """Efficiency of grouped products over plain ones; beside it a launch for routing. The permutation, the
    activation and the casts, which the model charges as element-wise work, pass memory at the record's rate.
    """
    rank = replace(cool(device, precision), gemm=gemm)
    cast = 2 + TABLE_WIDTH[precision] if precision in TABLE_WIDTH else 0.0

    def predict(x: Floats, rows: Table) -> Floats:
        tokens, hidden, inner = rows["num_tokens"] * rows["topk"], rows["hidden_size"], rows["inter_size"]
        experts, inner = rows["num_experts"], inner / rows["moe_tp_size"]
        own = replace(rank, grouped_gemm_efficiency=x[0])
        up = kernels.grouped_matmul_s(Shape(tokens / experts, 2 * inner, hidden, experts), own)
        down = kernels.grouped_matmul_s(Shape(tokens / experts, hidden, inner, experts), own)
        moved = 2 * (3 * hidden + 3 * inner) + cast * (hidden + inner)
        passed = tokens * moved / rank.pointwise_bytes_per_s
        return np.asarray(up + down + x[1] + passed)

    return fit(predict, table, [(0.3, 1), (5e-6, 3e-4)], table["num_experts"] > 0)


def common_heads(device: Device, table: Table) -> Table:
    """Without head size 512, and 192 where a fallback kernel, four times slower, takes it in the tables."""
    slow = SLOW_HEADS.get(device.architecture, ())
    return table.where((table["head_dim"] <= 256) & ~np.isin(table["head_dim"], slow))


def ungated_left_out(table: Table) -> Table:
    """One rank holds all experts, of gated models: the table also holds a family of two matmuls an expert."""
    gated = (table["topk"] != 22) & (table["hidden_size"] != 2688)
    wide = table["inter_size"] / table["moe_tp_size"] >= 256
    return table.where(gated & wide & (table["moe_ep_size"] == 1))


class Report(NamedTuple):
    """What is printed of a device: its record, and rows of the tables of errors."""

    record: str
    gemm: list[str]
    attention: str
    grouped: str


def device_report(device: Device, folder: Path) -> Report:
    """All fits of one device."""
    gemms = {}
    for name, precision in PRECISIONS.items():
        table = read(folder / "gemm.csv", device=device.id, precision=name)
        if len(table.seconds) and precision in device.peak:
            gemms[precision] = fit_gemm(device, precision, table)
    wide = Roofline(*gemms["bf16"].constants[:5])
    launch = device.kernels.gemm["bf16"].launch
    heads = common_heads(device, read(folder / "attention_forward.csv", device=device.id))
    attention = fit_attention(device, launch, heads)
    table = read(folder / "moe_ffn_forward.csv", device=device.id, precision="bf16")
    grouped = fit_grouped(device, "bf16", wide, ungated_left_out(table))
    return Report(
        record(gemms, attention, grouped) + block_scaled(device, gemms, folder),
        [f"| {device.id} | {p} | {_gemm_cells(f)} | {_error_cells(f)} |" for p, f in gemms.items()],
        f"| {device.id} | {_attention_cells(attention)} | {_error_cells(attention)} |",
        f"| {device.id} | {grouped.constants[0]:.2f} | {_error_cells(grouped)} |",
    )


def block_scaled(device: Device, gemms: dict[str, Fitted], folder: Path) -> str:
    """The line of `grouped_narrow`: experts in 8 bits scaled by blocks; of Hopper its 8 bits."""
    precision = "mxfp8" if "mxfp8" in device.peak else "fp8"
    table = ungated_left_out(read(folder / "moe_ffn_forward.csv", device=device.id, precision="fp8_block"))
    if precision not in gemms or not len(table.seconds):
        return ""
    fitted = fit_grouped(device, precision, Roofline(*gemms[precision].constants[:5]), table)
    return f"\n  grouped_narrow: {{{precision}: {fitted.constants[0]:.2f}}}"


def record(gemms: dict[str, Fitted], attention: Fitted, grouped: Fitted) -> str:
    """The `kernels` section of a device's record, as far as tables say."""
    lines = ["  gemm:"]
    for precision, fitted in gemms.items():
        eff, k0, bandwidth, launch, idle = fitted.constants[:5]
        lines += [
            f"    {precision}: {{efficiency: {eff:.3f}, inner_overhead: {k0:.0f}, bandwidth_efficiency: "
            f"{bandwidth:.2f}, launch: {launch * 1e6:.1f} us, idle_outputs: {idle:.2g}}}".replace("e+0", "e")
        ]
    rate, softmax, idle = attention.constants[:3]
    return "\n".join(
        [
            *lines,
            f"  grouped_gemm_efficiency: {grouped.constants[0]:.2f}",
            f"  attention_forward: {rate:.3f}",
            f"  attention_softmax: {softmax:.0f}",
            f"  attention_idle_rows: {float(f'{idle:.2g}'):.0f}",
        ]
    )


def _gemm_cells(fitted: Fitted) -> str:
    eff, k0, bandwidth, launch, idle = fitted.constants[:5]
    return f"{eff:.3f} | {k0:.0f} | {bandwidth:.2f} | {launch * 1e6:.1f} | {idle / 1e6:.2f}"


def _attention_cells(fitted: Fitted) -> str:
    return f"{fitted.constants[0]:.3f} | {fitted.constants[1]:.0f} | {fitted.constants[2] / 1e3:.1f}"


def _error_cells(fitted: Fitted) -> str:
    return f"{fitted.rows} | {100 * fitted.mean:.1f} | {100 * fitted.median:.1f}"


def tables(reports: list[Report], links: str) -> str:
    """The tables of the page."""
    miss = "held out | mean % | median %"
    head = [
        f"| device | precision | efficiency | k0 | bandwidth | launch us | idle M | {miss} |",
        f"| device | attention forward | softmax FLOP | idle k rows | {miss} |",
        f"| device | grouped over plain | {miss} |",
    ]
    bodies = [
        [row for r in reports for row in r.gemm],
        [r.attention for r in reports],
        [r.grouped for r in reports],
    ]
    parts = [
        "\n".join([h, "|" + " --- |" * (h.count("|") - 1), *b]) for h, b in zip(head, bodies, strict=True)
    ]
    return "\n\n".join([*parts, links])


def main() -> None:
    """Fit, print, and write the tables into the page where asked."""
    parser = argparse.ArgumentParser(description="Fit the constants of kernels and links to measured tables.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("devices", nargs="*")
    parser.add_argument("--docs", type=Path)
    asked = parser.parse_args()
    with (asked.folder / "microbench/gemm.csv").open() as file:
        measured = dict.fromkeys(row["device"] for row in csv.DictReader(file))
    devices = shipped.load().devices
    reports = []
    for name in asked.devices or measured:
        reports.append(device_report(devices[name], asked.folder / "microbench"))
        sys.stdout.write(f"# {name}\n{reports[-1].record}\n")
        sys.stdout.flush()
    text = tables(reports, link_table(asked.folder / "catalog/measured_busbw.csv"))
    sys.stdout.write(text + "\n")
    if asked.docs:
        before, rest = asked.docs.read_text().split(MARKS[0])
        asked.docs.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}")


if __name__ == "__main__":
    main()
