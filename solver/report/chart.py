"""A frontier as a drawing: cost over days, both logarithmic, a colour a device, limits and knee marked."""

from collections.abc import Iterator, Sequence
from html import escape
from math import floor, log10
from pathlib import Path
from typing import NamedTuple

from solver import units
from solver.errors import Fault, InputError, writing
from solver.report import words
from solver.report.scatter import COLOURS
from solver.report.words import Fields

WIDTH, HEIGHT = 900, 540
LEFT, RIGHT, TOP, BOTTOM = 84, 190, 46, 58
NEAR = 4.0  # a limit farther off the plans than this factor is told at the edge instead of drawn
ROOM = 1.12  # the axes go beyond what they hold by this factor
DIGITS = ((1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0), tuple(n / 10 for n in range(10, 100)))
FEWEST_TICKS = 4


class Axis(NamedTuple):
    """From a value to its place on the page."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = log10(value / self.low) / log10(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round values inside, a handful."""
        powers = range(floor(log10(self.low)), floor(log10(self.high)) + 1)
        for digits in DIGITS:
            values = [digit * 10.0**power for power in powers for digit in digits]
            inside = [value for value in values if self.low <= value <= self.high]
            if len(inside) >= FEWEST_TICKS:
                break
        return inside[:: max(1, len(inside) // 8)]


class Chart(NamedTuple):
    """What is drawn. limits: (deadline in days, budget in USD), None where there is none."""

    plans: Sequence[Fields]
    knee: int
    deadline: float | None
    budget: float | None
    x: Axis
    y: Axis

    @property
    def devices(self) -> list[str]:
        """In the order in which they come."""
        return list(dict.fromkeys(plan["device"] for plan in self.plans))

    def colour(self, plan: Fields) -> str:
        return COLOURS[self.devices.index(plan["device"]) % len(COLOURS)]


def days_of(plan: Fields) -> float:
    return float(plan["time"]["days"])


def usd_of(plan: Fields) -> float:
    """At least a cent: a logarithmic axis has no place for nothing."""
    return max(float(plan["cost"]["total_usd"]), 0.01)


def chart_of(found: Fields) -> Chart:
    """Raises InputError where there is nothing to draw."""
    plans, limits = found["plans"], found["question"]["limits"]
    if not plans:
        raise InputError("--plot", [Fault("", "no plan keeps the limits, so there is nothing to draw")])
    deadline = units.seconds(limits["deadline"]) / units.DAY_S if "deadline" in limits else None
    budget = units.usd(limits["budget"]) if "budget" in limits else None
    x = _axis([days_of(plan) for plan in plans], deadline, (LEFT, WIDTH - RIGHT))
    y = _axis([usd_of(plan) for plan in plans], budget, (HEIGHT - BOTTOM, TOP))
    return Chart(plans, found["knee"], deadline, budget, x, y)


def _axis(values: Sequence[float], limit: float | None, place: tuple[float, float]) -> Axis:
    near = [limit] if limit and max(values) <= limit <= NEAR * max(values) else []
    return Axis(min(values) / ROOM, max([*values, *near]) * ROOM, *place)


def write_frontier(found: Fields, file: Path) -> None:
    """Raises InputError: an ending that is none of three, nothing to draw, a plotter that is not there."""
    from solver.report.frontier_page import frontier_page

    writers = {".svg": lambda: svg(chart_of(found)), ".html": lambda: frontier_page(found, chart_of(found))}
    if file.suffix not in (*writers, ".png"):
        raise InputError("--plot", [Fault("", f'"{file}" must end in .svg, .html or .png')])
    with writing(file):
        if file.suffix == ".png":
            png(chart_of(found), file)
        else:
            file.write_text(writers[file.suffix](), "utf-8")


def svg(chart: Chart) -> str:
    """The drawing as a text."""
    parts = (_grid(chart), _limits(chart), _stairs(chart), _dots(chart), _legend(chart))
    body = "\n".join(line for part in parts for line in part)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-size="13" '
        f'font-family="system-ui, sans-serif" fill="#222">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


def _days(value: float) -> str:
    return units.format_number(value, 3)


def _grid(chart: Chart) -> Iterator[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    yield f'<text x="{LEFT}" y="24" font-size="15" font-weight="600">Cost of the run over its duration</text>'
    for value in chart.x.ticks():
        x = chart.x.at(value)
        yield f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#e8e8e8"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{_days(value)}</text>'
    for value in chart.y.ticks():
        y = chart.y.at(value)
        yield f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#e8e8e8"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{words.money(value)}</text>'
    yield f'<path d="M{LEFT} {TOP}V{bottom}H{right}" stroke="#888" fill="none"/>'
    yield f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 14}" text-anchor="middle">days</text>'
    middle = (TOP + bottom) / 2
    yield f'<text x="18" y="{middle}" text-anchor="middle" transform="rotate(-90 18 {middle})">USD</text>'


def _limits(chart: Chart) -> Iterator[str]:
    """Deadline and budget as dashed lines; told at the edge where they are far off."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    style = 'stroke="#cc3311" stroke-dasharray="6 4"'
    if chart.deadline is not None:
        told = f"deadline {words.days(chart.deadline)}"
        x = chart.x.at(chart.deadline) if chart.deadline <= chart.x.high else None
        if x is not None:
            yield f'<path d="M{x:.1f} {TOP}V{bottom}" {style}/>'
        text = told if x is not None else f"{told} \N{RIGHTWARDS ARROW}"
        yield f'<text x="{x or right:.1f}" y="{TOP - 6}" text-anchor="end" fill="#cc3311">{text}</text>'
    if chart.budget is not None:
        told = f"budget {words.usd(chart.budget)}"
        y = chart.y.at(chart.budget) if chart.budget <= chart.y.high else None
        if y is not None:
            yield f'<path d="M{LEFT} {y:.1f}H{right}" {style}/>'
        text = told if y is not None else f"{told} \N{UPWARDS ARROW}"
        place = f'x="{right - 6}" y="{y - 6 if y is not None else TOP + 16:.1f}" text-anchor="end"'
        yield f'<text {place} fill="#cc3311">{text}</text>'


def _stairs(chart: Chart) -> Iterator[str]:
    """What can be had with so many days: level from each plan to the next that is cheaper."""
    usd, steps = float("inf"), ""
    for plan in chart.plans:
        if usd_of(plan) < usd:
            usd = usd_of(plan)
            move = f"H{chart.x.at(days_of(plan)):.1f}V{chart.y.at(usd):.1f}"
            steps += move if steps else f"M{chart.x.at(days_of(plan)):.1f} {chart.y.at(usd):.1f}"
    yield f'<path d="{steps}H{WIDTH - RIGHT}" stroke="#999" fill="none"/>'


def told(plan: Fields) -> str:
    """A plan in a line."""
    return f"{words.days(days_of(plan))}, {words.usd(plan['cost']['total_usd'])}: {words.hardware(plan)}"


def _dots(chart: Chart) -> Iterator[str]:
    for number, plan in enumerate(chart.plans):
        x, y = chart.x.at(days_of(plan)), chart.y.at(usd_of(plan))
        if number == chart.knee:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="10" fill="none" stroke="#222"/>'
            yield f'<text x="{x + 13:.1f}" y="{y - 9:.1f}" font-weight="600">knee</text>'
        yield (
            f'<circle class="plan" data-plan="{number}" cx="{x:.1f}" cy="{y:.1f}" r="5.5" '
            f'fill="{chart.colour(plan)}" stroke="white"><title>{escape(told(plan))}</title></circle>'
        )


def _legend(chart: Chart) -> Iterator[str]:
    left = WIDTH - RIGHT + 22
    for row, device in enumerate(chart.devices):
        y, colour = TOP + 8 + 20 * row, COLOURS[row % len(COLOURS)]
        yield f'<circle cx="{left}" cy="{y}" r="5.5" fill="{colour}"/>'
        yield f'<text x="{left + 12}" y="{y + 4}">{escape(device)}</text>'


def png(chart: Chart, file: Path) -> None:
    """The same by matplotlib, where it is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        missing = "a .png needs matplotlib: pip install 'trainplan[plot]'; .svg and .html need nothing"
        raise InputError("--plot", [Fault("", missing)]) from None
    figure = Figure(figsize=(9, 5.4), dpi=150, layout="constrained")
    axes = figure.add_subplot(xscale="log", yscale="log", xlabel="days", ylabel="USD")
    axes.set(xlim=(chart.x.low, chart.x.high), ylim=(chart.y.low, chart.y.high))
    days, usd = [days_of(plan) for plan in chart.plans], [usd_of(plan) for plan in chart.plans]
    for axis, scale, tell in ((axes.xaxis, chart.x, _days), (axes.yaxis, chart.y, words.money)):
        axis.set_ticks(scale.ticks(), [tell(value) for value in scale.ticks()])
        axis.set_ticks([], minor=True)
    for device in chart.devices:
        own = [number for number, plan in enumerate(chart.plans) if plan["device"] == device]
        colour = COLOURS[chart.devices.index(device) % len(COLOURS)]
        axes.scatter([days[n] for n in own], [usd[n] for n in own], color=colour, label=device, zorder=3)
    axes.annotate("knee", (days[chart.knee], usd[chart.knee]), (8, 8), textcoords="offset points")
    if chart.deadline is not None:
        axes.axvline(chart.deadline, color="#cc3311", linestyle="--", label="deadline")
    if chart.budget is not None:
        axes.axhline(chart.budget, color="#cc3311", linestyle=":", label="budget")
    axes.grid(color="#e8e8e8")
    figure.legend(loc="outside right upper", fontsize=8)
    figure.savefig(file)
