"""Predicted over measured step times as a plot: both logarithmic, a colour a device; SVG or PNG."""

from collections.abc import Iterable, Iterator
from html import escape
from math import ceil, floor, log10
from pathlib import Path
from typing import NamedTuple

from solver.errors import Fault, InputError, writing
from solver.report.words import Fields

# Colours that stay apart on white, also for most who see red and green alike (after Paul Tol, 2021).
COLOURS = (
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#994f00", "#117733", "#ee7733",
    "#332288", "#88ccee", "#cc3311", "#44aa99", "#882255", "#999933", "#555555", "#0077bb", "#dd77bb",
)  # fmt: skip
LINES = ((1.0, ""), (1.1, "6 3"), (0.9, "6 3"), (1.25, "2 4"), (0.75, "2 4"))  # factor, dashes
SIZE, MARGIN, LEGEND = 560, 56, 170


class Series(NamedTuple):
    """The runs of a device: (measured s, predicted s, what they are)."""

    device: str
    colour: str
    points: list[tuple[float, float, str]]


def series_of(results: Iterable[Fields]) -> list[Series]:
    """Timed runs by device, the device with most runs first."""
    found: dict[str, list[tuple[float, float, str]]] = {}
    for r in results:
        if r["measured_step_time_s"]:
            told = f"{r['id']} {r['model']} {r['error_pct']:+.0f} %"
            found.setdefault(r["device"], []).append((r["measured_step_time_s"], r["step_time_s"], told))
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return [Series(name, COLOURS[i % len(COLOURS)], points) for i, (name, points) in enumerate(ordered)]


def write_scatter(found: Fields, file: Path) -> None:
    """Raises InputError: for an ending that is neither, nothing to draw, or a plotter that is not there."""
    series = series_of(found["results"])
    if file.suffix not in (".svg", ".png"):
        raise InputError("--plot", [Fault("", f'"{file}" must end in .svg or .png')])
    if not series:
        raise InputError("--plot", [Fault("", "no run was timed, so there is nothing to draw")])
    with writing(file):
        if file.suffix == ".svg":
            file.write_text(svg(series), "utf-8")
        else:
            png(series, file)


def ends_of(series: Iterable[Series]) -> tuple[float, float]:
    """The axes: decimal logarithms, in thirds of a decade."""
    values = [log10(value) for one in series for point in one.points for value in point[:2]]
    return floor(3 * min(values) - 0.2) / 3, ceil(3 * max(values) + 0.2) / 3


class Axes(NamedTuple):
    """From seconds to places on the page."""

    low: float
    high: float

    def x(self, seconds: float) -> float:
        return MARGIN + (log10(seconds) - self.low) / (self.high - self.low) * (SIZE - 2 * MARGIN)

    def y(self, seconds: float) -> float:
        return SIZE - self.x(seconds)

    def ticks(self) -> list[float]:
        """1, 2, 5, 10, ... inside the axes."""
        powers = range(floor(self.low), ceil(self.high) + 1)
        values = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
        return [value for value in values if self.low <= log10(value) <= self.high]


def svg(series: list[Series]) -> str:
    """The plot as a text."""
    axes = Axes(*ends_of(series))
    body = "\n".join([*_grid(axes), *_guides(axes), *_dots(axes, series), *_legend(series)])
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE + LEGEND} {SIZE}" font-size="12"'
    return (
        f'{head} font-family="sans-serif">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


def _grid(axes: Axes) -> Iterator[str]:
    inner, far = MARGIN, SIZE - MARGIN
    for value in axes.ticks():
        x, y = axes.x(value), axes.y(value)
        yield f'<path d="M{x:.1f} {inner}V{far}M{inner} {y:.1f}H{far}" stroke="#e4e4e4"/>'
        yield f'<text x="{x:.1f}" y="{far + 18}" text-anchor="middle">{value:g}</text>'
        yield f'<text x="{inner - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'
    yield f'<text x="{SIZE / 2}" y="{SIZE - 12}" text-anchor="middle">measured step time [s]</text>'
    turned = f'transform="rotate(-90 14 {SIZE / 2})"'
    yield f'<text x="14" y="{SIZE / 2}" text-anchor="middle" {turned}>predicted step time [s]</text>'


def _guides(axes: Axes) -> Iterator[str]:
    """Lines of equal times, of 10 % and of 25 % to either side, clipped to the axes."""
    side = SIZE - 2 * MARGIN
    frame = f'x="{MARGIN}" y="{MARGIN}" width="{side}" height="{side}"'
    yield f'<clipPath id="inside"><rect {frame}/></clipPath>'
    for factor, dashes in LINES:
        (x1, y1), (x2, y2) = ((axes.x(10**end), axes.y(factor * 10**end)) for end in axes)
        line = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        yield f'<line {line} stroke="#777" stroke-dasharray="{dashes}" clip-path="url(#inside)"/>'


def _dots(axes: Axes, series: list[Series]) -> Iterator[str]:
    for one in series:
        yield f'<g fill="{one.colour}" fill-opacity="0.55">'
        for measured, predicted, told in one.points:
            place = f'cx="{axes.x(measured):.1f}" cy="{axes.y(predicted):.1f}"'
            yield f'<circle {place} r="2.8"><title>{escape(told)}</title></circle>'
        yield "</g>"


def _legend(series: list[Series]) -> Iterator[str]:
    left = SIZE - MARGIN + 18
    for i, one in enumerate(series):
        y = MARGIN + 6 + 18 * i
        yield f'<circle cx="{left}" cy="{y}" r="4" fill="{one.colour}"/>'
        yield f'<text x="{left + 10}" y="{y + 4}">{escape(one.device)} ({len(one.points)})</text>'
    y = MARGIN + 18 * len(series) + 16
    for text, dashes in (("equal", ""), ("10 % off", "6 3"), ("25 % off", "2 4")):
        yield f'<path d="M{left - 6} {y}h26" stroke="#777" stroke-dasharray="{dashes}"/>'
        yield f'<text x="{left + 26}" y="{y + 4}">{text}</text>'
        y += 18


def png(series: list[Series], file: Path) -> None:
    """The same by matplotlib, where it is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        told = "a .png needs matplotlib: pip install 'trainplan[plot]', or name a file that ends in .svg"
        raise InputError("--plot", [Fault("", told)]) from None
    low, high = (10**end for end in ends_of(series))
    figure = Figure(figsize=(7.6, 5.6), dpi=150, layout="constrained")
    axes = figure.add_subplot(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
    axes.set(xlabel="measured step time [s]", ylabel="predicted step time [s]", aspect="equal")
    for factor, dashes in LINES:
        style = (0, tuple(float(n) for n in dashes.split())) if dashes else "-"
        axes.plot((low, high), (factor * low, factor * high), color="#777", linewidth=0.8, linestyle=style)
    for one in series:
        measured, predicted, _ = zip(*one.points, strict=True)
        label = f"{one.device} ({len(one.points)})"
        axes.scatter(measured, predicted, s=9, color=one.colour, alpha=0.6, label=label)
    axes.grid(color="#e4e4e4")
    figure.legend(loc="outside right upper", fontsize=8)
    figure.savefig(file)
