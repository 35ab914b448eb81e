"""How far an answer holds: what larger or smaller limits, other prices and other speeds would change."""

from collections.abc import Iterator

from solver import units
from solver.report import words
from solver.report.words import Fields

PLANS = 3  # whose prices and speeds are told
SMALL = 0.01  # a change of price that whole per cents would tell as none


def holds(answer: Fields) -> list[tuple[str, str]]:
    """Label and sentence: of each limit that decides something, of the others together, prices, speeds."""
    found = answer["sensitivity"]
    if found is None:
        return []
    objective = answer["objective"]
    rows = [(_name(r), _limit(r, objective)) for r in found["limits"] if r["looser"] or r["tighter"]]
    quiet = [_name(r) for r in found["limits"] if not r["looser"] and not r["tighter"]]
    if quiet:
        rows.append(("others", f"a quarter more of {words.joined(quiet, 'or')} brings no better plan"))
    if prices := list(_prices(found["prices"])):
        rows.append(("prices", "; ".join(prices)))
    if speeds := list(_speeds(found["speeds"])):
        rows.append(("speeds", "; ".join(speeds)))
    return rows


def _name(limit: Fields) -> str:
    return str(limit["field"]).removeprefix("limits.").replace("_", " ")


def _limit(limit: Fields, objective: str) -> str:
    least, most = limit["stands_from"], limit["stands_to"]
    ends = (
        f"from {least}" if most is None else f"from {least} to {most}" if least is not None else f"to {most}"
    )
    told = [f"plan 1 stays first {ends}"]
    told += [
        f"{step['to']} would save {_saved(step, objective)}: {_brief(step['plan'])}"
        for step in limit["looser"]
    ]
    if not limit["looser"] and limit["looked_to"] is not None:
        told[0] += f", and to {limit['looked_to']} nothing better is found"
    if limit["tighter"]:
        told.append(f"tighter, the best is {_brief(limit['tighter'])}")
    return "; ".join(told)


def _saved(step: Fields, objective: str) -> str:
    """In the unit of the objective."""
    saves = step["saves"]
    if objective == "cost":
        return words.usd(saves)
    if objective == "time":
        return words.days(saves / units.DAY_S)
    return words.energy(saves / 1e6) if objective == "energy" else words.carbon(saves)


def _brief(plan: Fields) -> str:
    tight = " (tight)" * plan["fragile"]
    return f"{words.hardware(plan)}{tight}, {words.days(plan['days'])}, {words.usd(plan['total_usd'])}"


def _prices(prices: list[Fields]) -> Iterator[str]:
    for price in prices[:PLANS]:
        now = price["usd_per_device_hour"]
        if price["stands_to"] is not None:
            yield f"plan 1 stays first up to {_turn(price['stands_to'], now)} a device-hour"
        if price["stands_from"] is not None:
            yield f"plan {price['rank']} is first below {_turn(price['stands_from'], now)}"


def _turn(usd: float, now: float) -> str:
    """A price, and how far it is from that of today: 3.92 USD (+0.5%)."""
    change = usd / now - 1
    return f"{usd:.2f} USD ({change:{'+.1%' if abs(change) < SMALL else '+.0%'}})"


def _speeds(speeds: list[Fields]) -> Iterator[str]:
    for speed in speeds[:PLANS]:
        now, plan = speed["step_s"], f"plan {speed['rank']}"
        if speed["stands_to_s"] is not None:
            yield f"{plan} stays first while its step takes up to {speed['stands_to_s'] / now - 1:+.1%}"
        if speed["stands_from_s"] is not None:
            yield f"{plan} is first once its step takes {speed['stands_from_s'] / now - 1:+.1%}"
