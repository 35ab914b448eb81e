"""The Ray engine on a real local cluster, one of whose nodes is lost. Slow: `pytest -m slow tests/batches`.

Needs Ray: `pip install 'trainplan[ray]'`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from solver.batches import Run, Seats, variants_of

SETS = {
    "training.tokens": [f"{n}00M" for n in range(1, 7)],
    "limits.deadline": [*(f"{n} days" for n in range(1, 5)), "soon"],
}

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Ray's own warnings are not ours


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head without cores and two nodes of one core, in processes of their own."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    yield cluster, nodes
    ray.shutdown()
    cluster.shutdown()


def told(line: str) -> dict[str, Any]:
    """A record without what may differ: times, and the counts of the search."""
    record: dict[str, Any] = json.loads(line)
    record.pop("seconds")
    record.get("answer", {}).pop("search", None)
    return record


def local(problem: Path, out: Path) -> list[dict[str, Any]]:
    run = Run(variants_of([problem], SETS).variants, out, resume=False)
    return sorted((told(line) for line in run.lines(Seats(2))), key=lambda record: str(record["id"]))


def test_a_cluster_that_loses_a_node_gives_the_records_of_this_machine(
    problem: Path, tmp_path: Path, cluster: Any
) -> None:
    cluster, nodes = cluster
    out = tmp_path / "ray.jsonl"
    run = Run(variants_of([problem], SETS).variants, out, resume=False)
    lines = []
    for line in run.lines(Seats(2, "ray", cluster.address)):
        lines.append(line)
        if len(lines) == 5:
            cluster.remove_node(nodes[0], allow_graceful=False)
        if len(lines) == 10:
            cluster.add_node(num_cpus=1)
    assert run.left == 0
    assert out.read_text("utf-8").splitlines() == lines
    records = sorted((told(line) for line in lines), key=lambda record: str(record["id"]))
    assert records == local(problem, tmp_path / "local.jsonl")
    assert len({record["id"] for record in records}) == 30


def test_a_batch_on_a_cluster_goes_on_where_it_was(problem: Path, tmp_path: Path, cluster: Any) -> None:
    out = tmp_path / "ray.jsonl"
    first = Run(variants_of([problem], SETS).variants, out, resume=False)
    for number, _ in enumerate(first.lines(Seats(2, "ray", cluster[0].address)), 1):
        if number == 7:
            first.stopped.set()
    before = out.read_bytes()
    assert first.left >= 30 - 9
    second = Run(variants_of([problem], SETS).variants, out, resume=True)
    assert len(second.todo) == first.left
    assert len(list(second.lines(Seats(None, "ray", cluster[0].address)))) == first.left
    assert out.read_bytes().startswith(before)
    assert len({json.loads(line)["id"] for line in out.read_text("utf-8").splitlines()}) == 30
