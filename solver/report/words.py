"""Numbers and layouts in the words of the report."""

from collections.abc import Mapping, Sequence
from typing import Any

from solver import units

Fields = Mapping[str, Any]


def days(value: float) -> str:
    """31.5 days, 7.2 hours."""
    return units.format_duration(value * units.DAY_S, 3)


def band(time: Fields) -> str:
    """23.7 to 39.4 days: both ends in the unit in which `days` tells the time."""
    unit = days(time["days"]).split()[1]
    scale = units.DAY_S / units.seconds(f"1 {unit}")
    low, high = (_digits(time[end] * scale, 2) for end in ("low_days", "high_days"))
    return f"{low} to {high} {unit}"


def usd(value: float) -> str:
    """19.1M USD, 2,806 USD, 3.52 USD."""
    return f"{money(value)} USD"


def money(value: float) -> str:
    """19.1M, 2,806, 3.52."""
    scale, suffix = next((s for s in ((1e9, "B"), (1e6, "M")) if value >= s[0]), (1.0, ""))
    return f"{_digits(value / scale, 2 if suffix or value < 100 else 0)}{suffix}"


def carbon(kilograms: float) -> str:
    """2.41 t CO2e."""
    return f"{units.format_kilograms(kilograms, 3)} CO2e"


def energy(mwh: float) -> str:
    """5,061 MWh, 17.4 kWh."""
    return f"{units.format_number(mwh, 4)} MWh" if mwh >= 1 else f"{units.format_number(mwh * 1e3, 4)} kWh"


def power(kilowatts: float) -> str:
    """5,222 kW."""
    return f"{units.format_number(kilowatts, 4)} kW"


def _digits(value: float, most: int) -> str:
    """With three digits, the last ones kept where they are 0; at most so many behind the point."""
    places = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{min(places, most)}f}"


def seconds(value: float) -> str:
    """1.69 s, 124 s, 92.1 ms: never in minutes, so that steps can be compared."""
    return f"{_digits(value, 2)} s" if value >= 1 else units.format_duration(value, 3)


def gib(value: float) -> str:
    """72.8 GiB."""
    return f"{_digits(value, 2)} GiB"


def percent(value: float) -> str:
    return f"{value:.0f}%"


def joined(values: Any, word: str = "or") -> str:
    """A value, or the values of a list."""
    if not isinstance(values, list):
        return str(values)
    texts = [str(value) for value in values]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {word} {texts[-1]}"


def counted(number: int, thing: str) -> str:
    """4,096 x thing."""
    return f"{number:,} x {thing}"


def hardware(plan: Fields) -> str:
    """32 x device from a provider, bought, or of your own."""
    whose = {"owned": "of your own", "bought": "to buy"}.get(plan["provider"], f"from {plan['provider']}")
    return f"{counted(plan['devices'], plan['device'])} {whose}"


def layout_spelled(layout: Fields) -> str:
    """Spelled out: tensor 4, pipeline 4 x 5 virtual, data 64; 32 micro-batches of 1 sequences a step."""
    named = {"tensor": "tp", "context": "cp", "pipeline": "pp", "expert": "ep", "expert tensor": "etp"}
    virtual = {"pipeline": f" x {layout['vpp']} virtual" if layout["vpp"] > 1 else ""}
    degrees = [f"{w} {layout[k]}{virtual.get(w, '')}" for w, k in named.items() if layout[k] > 1]
    data = f"data {layout['dp']:,}"
    batch = (
        f"{plural(layout['grad_accum'], 'micro-batch', 'es')} of {plural(layout['micro_batch'], 'sequence')}"
    )
    return f"{', '.join([*degrees, data])}; {batch} a step"


def plural(number: int, thing: str, ending: str = "s") -> str:
    """1 sequence, 2 sequences."""
    return f"{number:,} {thing}{'' if number == 1 else ending}"


def layout_words(layout: Fields) -> str:
    """TP4 PP4x5 DP64 ZeRO-1 mb1x8, recompute selective."""
    words = [*_degrees(layout), f"DP{layout['dp']:,}", *_sharding(layout)]
    words.append(f"mb{layout['micro_batch']}x{layout['grad_accum']}")
    recompute = str(layout["recompute"]).replace("_", " ")
    words.append("no recompute" if recompute == "none" else f"recompute {recompute}")
    return " ".join([*words, *_beyond(layout)])


def _degrees(layout: Fields) -> list[str]:
    """Those dimensions that are used."""
    virtual = f"x{layout['vpp']}" if layout["vpp"] > 1 else ""
    named = {"TP": "tp", "CP": "cp", "PP": "pp", "EP": "ep", "ETP": "etp"}
    tails = {"TP": "+SP" if layout["sequence_parallel"] else "", "PP": virtual}
    return [f"{word}{layout[key]}{tails.get(word, '')}" for word, key in named.items() if layout[key] > 1]


def _sharding(layout: Fields) -> list[str]:
    if not layout["zero"]:
        return []
    return [f"ZeRO-{layout['zero']}" + (f" over {layout['shard']}" if layout["shard"] else "")]


def _beyond(layout: Fields) -> list[str]:
    """What most layouts do not have."""
    stages, offload = layout["stages"], layout["offload"]
    told = [] if isinstance(stages, str) else [f"stages {'-'.join(str(n) for n in stages)}"]
    return told if offload == "none" else [*told, f"offload {offload}"]


def grouped(warnings: Sequence[str]) -> list[str]:
    """Warnings of plans that say the same, told once: "plans 1, 3: ..."."""
    plans: dict[str, list[str]] = {}
    for warning in warnings:
        head, _, text = warning.partition(": ")
        number = head.removeprefix("plan ")
        plans.setdefault(text if number.isdigit() else warning, []).extend([number] * number.isdigit())
    return [f"{_plans(numbers)}{text}" for text, numbers in plans.items()]


def _plans(numbers: Sequence[str]) -> str:
    if not numbers:
        return ""
    return f"plan {numbers[0]}: " if len(numbers) == 1 else f"plans {', '.join(numbers)}: "
