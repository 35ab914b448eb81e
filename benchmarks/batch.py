"""Rate, memory and exactness of a batch of 500 variants over the whole catalog.

    python benchmarks/batch.py [--jobs 2] [--samples 20]

5 models x 5 numbers of tokens x 5 deadlines x 4 limits. The steady state leaves out the start of the workers
and the first variant of each model. Memory is that of all processes together, read from /proc; samples are
answered alone too, and must be the same but for the counts of their search.
"""

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import solver
from solver.batches import Run, Seats, variants_of

PROBLEM = {
    "model": "llama-3-8b",
    "training": {"tokens": "1T", "sequence_length": 8192, "global_batch": "512 sequences"},
}
GRID = {
    "model": ["llama-3-8b", "llama-2-13b", "qwen3-32b", "llama-3-70b", "mixtral-8x7b"],
    "training.tokens": ["100B", "300B", "1T", "3T", "10T"],
    "limits.deadline": ["10 days", "20 days", "40 days", "80 days", "160 days"],
    "limits.budget": ["100k USD", "1M USD", "10M USD", None],
}


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Memory:
    """The most that this process and its children ever held together."""

    def __init__(self) -> None:
        self.most_bytes = 0
        self.stopped = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self.stopped.wait(0.1):
            self.most_bytes = max(self.most_bytes, sum(map(_held, [os.getpid(), *_children()])))


def _children() -> list[int]:
    tasks = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text("utf-8").split()]


def _held(process: int) -> int:
    try:
        pages = Path(f"/proc/{process}/statm").read_text("utf-8").split()[1]
    except FileNotFoundError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def measured(jobs: int, out: Path) -> list[dict[str, Any]]:
    """Runs the batch, tells its rate and memory."""
    memory = Memory()
    started = time.perf_counter()
    run = Run(variants_of([PROBLEM], GRID).variants, out, resume=False)
    records, moments = [], []
    for line in run.lines(Seats(jobs)):
        records.append(json.loads(line))
        moments.append(time.perf_counter() - started)
    memory.stopped.set()
    statuses = sorted({record["status"] for record in records})
    told = {status: sum(record["status"] == status for record in records) for status in statuses}
    tell(f"{len(records)} variants in {moments[-1]:.1f} s: {told}")
    tell(f"the first after {moments[0]:.1f} s; {len(records) / moments[-1]:.1f} variants/s in all")
    tell(f"steady state: {_steady(records, jobs):.1f} variants/s")
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    each = (spent.ru_utime + spent.ru_stime) / len(records)
    tell(f"{each:.3f} processor seconds a variant, start and looks included")
    tell(f"longest: {max(record['seconds'] for record in records):.1f} s")
    tell(f"peak memory of all processes: {memory.most_bytes / 2**30:.2f} GiB")
    return records


def _steady(records: list[dict[str, Any]], jobs: int) -> float:
    """Variants a second of `jobs` workers, the looks that a model's variants share left out: these take the
    few variants of more than a second.
    """
    quick = [record["seconds"] for record in records if record["seconds"] < 1.0]
    return jobs * len(quick) / float(sum(quick))


def compared(records: list[dict[str, Any]], samples: int) -> int:
    """Answers samples alone; how many differ."""
    different = 0
    took = 0.0
    for record in random.Random(0).sample(records, samples):
        fields: dict[str, Any] = json.loads(json.dumps(PROBLEM))
        for field, text in record["set"].items():
            section, _, name = field.rpartition(".")
            value = None if text == "null" else text
            (fields.setdefault(section, {}) if section else fields)[name] = value
        started = time.perf_counter()
        alone = solver.solve(fields).model_dump(mode="json")
        took += time.perf_counter() - started
        alone.pop("search")
        shared = {key: value for key, value in record["answer"].items() if key != "search"}
        if alone != shared:
            different += 1
            sys.stderr.write(f"differs: {record['set']}\n")
    tell(f"{samples} samples alone: {samples - different} the same; {took:.0f} s in all")
    return different


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--samples", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        records = measured(options.jobs, Path(folder) / "results.jsonl")
    sys.exit(1 if compared(records, options.samples) else 0)


if __name__ == "__main__":
    main()
