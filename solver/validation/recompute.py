"""What the recompute words of published runs recompute: of the framework, or a list of modules."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import NamedTuple

from solver.architecture.blocks import Architecture, Block
from solver.catalog.records import Framework
from solver.physics.recompute import KINDS, Recompute
from solver.validation.rows import Row

Sizes = list[tuple[str, float]]  # of the parts of a layer, by name


class Module(NamedTuple):
    """What a name in a module list runs again: globs on the names of matmuls and element-wise passes.

    dropped   globs on what matmuls read, and on passes whose input is kept otherwise: not in memory meanwhile
    """

    matmuls: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    attention: float = 0.0
    communication: float = 0.0


# Source: Megatron-Core, --recompute-modules; MaxText, remat_policy (what it does not save).
MODULES = {
    "core_attn": Module(attention=1.0),
    "layernorm": Module(passes=("*norm",), dropped=("*_input",)),
    "mla_up_proj": Module(("q_up", "kv_up"), ("rope", "latent_norm"), ("*_latent", "rope")),
    "mlp": Module(("gate", "up", "down"), ("activation",), ("activated",)),
    "moe": Module(
        ("expert_*", "shared_*", "router"),
        ("dispatch", "combine", "expert_*", "shared_*", "router_*"),
        ("dispatched", "expert_*", "shared_*"),
        communication=1.0,
    ),
    "moe_act": Module(passes=("expert_activation",), dropped=("expert_activated",)),
    "save_qkv_proj": Module(("o", "gate", "up", "expert_*"), ("*",), ("*",), attention=1.0),
}


def recompute_of(row: Row, architecture: Architecture, framework: Framework) -> tuple[str, Recompute]:
    """The word of layout.RECOMPUTE, and what it recomputes in this run.

    full:N is the first N layers of every stage: that share of every layer.
    """
    word, _, detail = row.text("recompute").partition(":")
    if word == "full" and detail:
        stage = -(-architecture.layers // row.integer("pp"))
        return "full", blended(KINDS["full"], min(int(detail) / stage, 1.0))
    if word == "selective" and detail:
        return "selective", of_modules(architecture, [MODULES[name] for name in detail.split("+")])
    word = word or "none"
    return word, KINDS[framework.recompute.get(word, "none")]


def blended(kind: Recompute, share: float) -> Recompute:
    """`share` of the layers recompute so, the others nothing."""
    return Recompute(*(share * a + (1 - share) * b for a, b in zip(kind, KINDS["none"], strict=True)))


def of_modules(architecture: Architecture, modules: list[Module]) -> Recompute:
    """Shares of the mean layer that the modules make up: of the work that runs again, of what is not kept.

    A layer's input is that of its first norm, which most lists keep.
    """
    matmul, elementwise, outputs, inputs = (
        _share(architecture, items, [glob for module in modules for glob in getattr(module, globs)])
        for items, globs in (
            (_flops, "matmuls"),
            (_moved, "passes"),
            (_put_out, "matmuls"),
            (_read, "dropped"),
        )
    )
    attention = max(m.attention for m in modules)
    return Recompute(
        matmul=matmul,
        attention=attention,
        elementwise=elementwise,
        communication=max(m.communication for m in modules),
        inputs=1 - inputs,
        outputs=1 - outputs,
        scores=1 - attention,
        entry=float(any("*" in m.dropped for m in modules)),
    )


def _share(architecture: Architecture, items: Callable[[Block], Sizes], globs: list[str]) -> float:
    """Of the sum of the items of all layers, those whose name is among the globs."""
    sizes = [(name, count * size) for block, count in architecture.blocks for name, size in items(block)]
    some = sum(size for name, size in sizes if any(fnmatchcase(name, glob) for glob in globs))
    return some / sum(size for _, size in sizes)


def _flops(block: Block) -> Sizes:
    return [(m.name, m.flops) for m in block.matmuls]


def _moved(block: Block) -> Sizes:
    """Elements that element-wise passes move."""
    return [(p.name, (p.reads + p.writes) * p.per_token) for p in block.pointwise]


def _put_out(block: Block) -> Sizes:
    """Elements that matmuls put out and that are kept."""
    return [(m.name, m.outer * m.per_token) for m in block.matmuls if m.saves]


def _read(block: Block) -> Sizes:
    """Elements that matmuls and passes read and that are kept, each once."""
    read = {m.reads: m.inner * m.per_token for m in block.matmuls}
    return [*read.items(), *((p.name, p.saves * p.per_token) for p in block.pointwise)]
