"""Layouts as columns: what is left out, how they are taken apart, how layers are dealt to stages."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from solver.layout import CUT, Cuts, Layouts, even_stages

degrees = st.sampled_from([1, 2, 3, 8])
rows = st.fixed_dictionaries(dict.fromkeys((*CUT, "pp", "dp"), degrees))


def test_what_is_left_out_is_one_and_nothing_is_sharded() -> None:
    row = Layouts.of({"tp": [2]}).row(0)
    assert {name: row[name] for name in ("tp", "cp", "pp", "vpp", "ep", "etp", "dp")} == {
        "tp": 2, "cp": 1, "pp": 1, "vpp": 1, "ep": 1, "etp": 1, "dp": 1,
    }  # fmt: skip
    assert (row["zero"], row["shard"], row["recompute"]) == (0, 0, 0)


def test_ranks_replicas_and_expert_replicas() -> None:
    """Of 32 ranks tp 2 x cp 2 x pp 2 x dp 4 leave 8 replicas; of 16 a stage, ep 8 leaves 2 of the experts."""
    layouts = Layouts.of({"tp": [2], "cp": [2], "pp": [2], "dp": [4], "ep": [8]})
    assert (layouts.ranks[0], layouts.replicas[0], layouts.edp[0]) == (32, 8, 2)


@given(st.lists(rows, min_size=1, max_size=20))
def test_a_layout_takes_the_way_to_cut_a_layer_that_is_its_own(given_rows: list[dict[str, int]]) -> None:
    layouts = Layouts.of({name: [row[name] for row in given_rows] for name in given_rows[0]})
    cuts = Cuts.among(layouts)
    for index, row in enumerate(given_rows):
        way = cuts.ways.row(int(cuts.of[index]))
        assert {name: way[name] for name in CUT} == {name: row[name] for name in CUT}
    assert len(cuts.ways) == len({tuple(row[name] for name in CUT) for row in given_rows})


@given(st.lists(rows, min_size=2, max_size=10))
def test_taken_rows_are_the_rows(given_rows: list[dict[str, int]]) -> None:
    layouts = Layouts.of({name: [row[name] for row in given_rows] for name in given_rows[0]})
    taken = layouts.take(np.array([len(given_rows) - 1, 0]))
    assert [taken.row(i) for i in range(2)] == [layouts.row(len(given_rows) - 1), layouts.row(0)]


@pytest.mark.parametrize(
    ("layers", "pp", "dealt"),
    [
        (80, 4, (20, 20, 20)),
        (126, 16, (8, 7, 7)),  # Llama-3.1-405B: the first and the last stage hold one layer less
        (61, 31, (2, 2, 1)),  # one short: the loss counts as a layer of the last stage
        (7, 1, (7, 7, 7)),
    ],
)
def test_layers_are_dealt_with_loss_and_embedding_in_their_place(
    layers: int, pp: int, dealt: tuple[int, int, int]
) -> None:
    assert tuple(int(column[0]) for column in even_stages(layers, np.array([pp]))) == dealt
