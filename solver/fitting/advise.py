"""What a colleague would say about how few devices hold a model."""

from collections.abc import Iterator, Sequence

from solver.fitting.record import FitOption, Shortfall

NAMES = {  # of memory.parts, in sentences
    "optimizer": "the optimizer's state",
    "optimizer_step": "what the optimizer's step needs",
    "gathered": "the gathered weights",
    "context": "the runtime's context",
    "fragmentation": "what the allocator loses",
}
TWICE = 100.0  # percent more
HARDLY = 400.0  # percent more device time, from which on a way is for a trial alone
WELL = 1.1  # times the speed of a device from which on a larger number of them is recommended
SLOW = 0.5  # of the best speed of a device: below, an option is told with its speed
NONE = "No number of devices holds it as it is."
DEGREES = ("tp", "cp", "pp", "vpp", "ep", "etp", "dp", "zero", "shard", "micro_batch")


def advice(options: Sequence[FitOption], short: Shortfall | None, as_is: int | None) -> list[str]:
    """The whole of it for one device, in sentences. options: the most devices first."""
    if not options:
        return [_hopeless(short)]
    plain = [option for option in options if not option.changes]
    told = [_cheapest(options)] if len(options) > 1 else []
    told += [_plain(plain, swiftest(same_training(options)))] if as_is else [NONE]
    alike: dict[tuple[str, ...], list[FitOption]] = {}
    for option in options:
        alike.setdefault(tuple(option.changes), []).append(option)
    told += [_changed(same, plain) for changes, same in alike.items() if changes]
    return told + ([_below(short)] if short else [])


def swiftest(options: Sequence[FitOption]) -> FitOption:
    """The option whose devices do most each, so that a token takes the least device time."""
    return max(options, key=lambda option: option.tokens_per_s_per_device)


def same_training(options: Sequence[FitOption]) -> list[FitOption]:
    """Those that recompute or offload at most, with room to spare where any has it."""
    asked = options[0]
    same = [
        option
        for option in options
        if (option.precision, option.optimizer, option.sequence_length)
        == (asked.precision, asked.optimizer, asked.sequence_length)
    ]
    return [option for option in same if not option.memory.fragile] or same


def _cheapest(options: Sequence[FitOption]) -> str:
    best = swiftest(same_training(options))
    way = f"with {listed(best.changes)}" if best.changes else "as it is"
    speed = best.tokens_per_s_per_device
    return f"Best use of each device: {cards(best)} {way}, {speed:,.0f} tokens a second each."


def _plain(options: Sequence[FitOption], swift: FitOption) -> str:
    """Without a change: the fewest devices, the fewest with room to spare, and where it runs well.

    swift: the fastest of all, with or without a change
    """
    fewest, best = options[-1], swiftest(options)
    ratio = best.tokens_per_s_per_device / fewest.tokens_per_s_per_device
    told = f"{cards(fewest)} hold{'s' * (fewest.devices == 1)} it as it is{_tight(fewest)}: {use(fewest)}."
    roomy = [o for o in options if not o.memory.fragile and (o is not best or ratio < WELL)]
    if fewest.memory.fragile and roomy:
        told += f" {cards(roomy[-1])} do with room to spare{_slow(roomy[-1], best)}: {use(roomy[-1])}."
    share = best.tokens_per_s_per_device / swift.tokens_per_s_per_device
    if ratio >= WELL and share >= 1 / WELL:
        told += f" It runs well from {cards(best)} on, where a device does {ratio:.1f} times as much."
    elif ratio >= WELL:
        told += f" {cards(best)} do {ratio:.1f} times as much each, and still {share:.0%} of the best below."
    return told


def _slow(option: FitOption, best: FitOption) -> str:
    share = option.tokens_per_s_per_device / best.tokens_per_s_per_device
    return f", but each does {share:.0%} of what it does on {best.devices:,}" if share < SLOW else ""


def _changed(options: Sequence[FitOption], plain: Sequence[FitOption]) -> str:
    """What a change saves, and what it costs: by itself, and against the fastest layout without one."""
    option, *fewer = options
    do = "does" if option.devices == 1 else "do"
    told = f"With {listed(option.changes)}, {cards(option)} {do}{_tight(option)}: {use(option)}"
    told += "".join(f"; {cards(less)} too{_tight(less)}: {use(less)}" for less in fewer)
    costs = [f"the change makes the step {option.price_pct:.0f}% longer"] if option.price_pct >= 1 else []
    if plain and abs(option.slower_pct) >= 1:
        count = max(plain, key=lambda one: one.tokens_per_s_per_device).devices
        costs.append(f"a token takes {_price(option.slower_pct)} on {count:,} as is")
    if plain and option.slower_pct >= HARDLY:
        costs.append("enough to see it run, not to train")
    cost = "; ".join(costs)
    return f"{told}. {cost[0].upper()}{cost[1:]}." if costs else f"{told}."


def _price(percent: float) -> str:
    """36% more device time than, 2.1 times the device time it takes."""
    if percent >= TWICE:
        return f"{1 + percent / 100:.1f} times the device time it takes"
    return f"{abs(percent):.0f}% {'more' if percent > 0 else 'less'} device time than"


def _tight(option: FitOption) -> str:
    return ", but only just" if option.memory.fragile else ""


def cards(option: FitOption) -> str:
    """16 devices (2 x machine), or 6 of the 8 devices of machine."""
    several = f"{option.machines:,} x " if option.machines > 1 else ""
    if option.devices < option.devices_paid:
        return f"{option.devices:,} of the {option.devices_paid:,} devices of {several}{option.machine}"
    return f"{option.devices:,} device{'s' * (option.devices != 1)} ({several}{option.machine})"


def use(option: FitOption) -> str:
    """71.2 of 79.1 GiB, and 135 of 238 GiB of the host."""
    memory = option.memory
    told = f"{memory.peak_gib:.1f} of {memory.usable_gib:.1f} GiB"
    if not memory.host_gib:
        return told
    whole = f" of {memory.host_usable_gib:,.0f}" if memory.host_usable_gib else ""
    return f"{told}, and {memory.host_gib:,.0f}{whole} GiB of a host"


def _below(short: Shortfall) -> str:
    fall = f"fall{'s' * (short.devices == 1)} short"
    return f"Fewer do not: {short.devices:,} {fall}, {_missing(short)}."


def _missing(short: Shortfall) -> str:
    memory = short.memory
    if short.short_of == "host":
        return (
            f"with {memory.host_gib:,.0f} GiB to keep in a host of {short.machine} that has "
            f"{memory.host_usable_gib:,.0f}"
        )
    return (
        f"with {memory.peak_gib:.1f} GiB on a device that has {memory.usable_gib:.1f}, "
        f"{memory.parts[short.biggest_part]:.1f} of them {part(short.biggest_part)}"
    )


def _hopeless(short: Shortfall | None) -> str:
    if short is None:
        return "No layout of this model is legal here."
    return (
        f"Nothing holds it, whatever is changed: the leanest layout, on {short.devices:,} devices, falls "
        f"short, {_missing(short)}, which nothing here can cut further."
    )


def part(name: str) -> str:
    """A component of the memory as a sentence calls it."""
    return NAMES.get(name, f"the {name}")


def listed(changes: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, [", ".join(changes[:-1]), changes[-1]]))


def differences(before: FitOption | None, layout: dict[str, object]) -> Iterator[str]:
    """How a layout differs from that of the option before it: "tp 4 -> 8"."""
    old = before.layout.model_dump() if before else layout
    for name in DEGREES:
        if old[name] != layout[name]:
            yield f"{name} {old[name]} -> {layout[name]}"
