"""Which of the ways to hold a model are worth telling: each with fewer devices, more room or more speed."""

from collections.abc import Sequence

from solver.catalog.records import Device
from solver.fitting.fewest import COUNTS, Bench, Found, Trial, fewest, quickest

FASTER = 1.05  # a way that holds the model on as many devices is told from this ratio of speed on
AT_EASE = 4  # times the fewest devices: up to there a layout without a change is sought that runs well


def choices(bench: Bench, device: Device, tried: Sequence[Trial]) -> list[Found]:
    """Of each trial the fewest devices, and the fewest with room to spare, where no earlier one is as good.

    Of the first trial also a count on which it runs well: what the price of changes is held against.
    """
    kept: list[Found] = []
    most = [COUNTS[-1], COUNTS[-1]]  # devices that are still looked at: at all, and with room to spare
    for trial in tried:
        if trial.saving:
            found = [fewest(bench, trial, device, most[0])]
        else:
            found = [
                fewest(bench, trial, device, most[0] + 1),
                fewest(bench, trial, device, most[1] + 1, trial.sound_share),
            ]
        if trial is tried[0] and found[0]:
            found.append(quickest(bench, trial, device, min(AT_EASE * found[0].devices, COUNTS[-1])))
        for one in filter(None, found):
            most = [min(most[0], one.devices), min(most[1], one.devices) if one.sound else most[1]]
            kept += [one] * (not any(beats(other, one) for other in kept))
    return kept


def beats(one: Found, other: Found) -> bool:
    """Whether the other has nothing over the one."""
    return (
        one.devices <= other.devices
        and (one.sound or not other.sound)
        and FASTER * one.tokens_per_s_per_device >= other.tokens_per_s_per_device
    )
