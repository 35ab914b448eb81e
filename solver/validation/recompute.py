"""What the recompute words of published runs recompute: of the framework, or a list of modules."""

from fnmatch import fnmatchcase
from typing import NamedTuple

from solver.architecture.blocks import Architecture, Block
from solver.catalog.records import Framework
from solver.physics.recompute import KINDS, Recompute
from solver.validation.rows import Row


class Module(NamedTuple):
    """What a name in a module list runs again: globs on the names of matmuls and element-wise passes."""

    matmuls: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    attention: float = 0.0
    communication: float = 0.0


# Source: Megatron-Core, --recompute-modules; MaxText, remat_policy (what it does not save).
MODULES = {
    "core_attn": Module(attention=1.0),
    "layernorm": Module(passes=("*norm",)),
    "mla_up_proj": Module(("q_up", "kv_up"), ("rope", "latent_norm")),
    "mlp": Module(("gate", "up", "down"), ("activation",)),
    "moe": Module(
        ("expert_*", "shared_*", "router"),
        ("dispatch", "combine", "expert_*", "shared_*", "router_*"),
        communication=1.0,
    ),
    "moe_act": Module(passes=("expert_activation",)),
    "save_qkv_proj": Module(("o", "gate", "up", "expert_*"), ("*",), attention=1.0),
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
    """Shares of the mean layer that the modules make up; what they recompute is not kept."""
    flops, moved = [0.0, 0.0], [0.0, 0.0]
    for block, count in architecture.blocks:
        for total, (again, whole) in ((flops, _flops(block, modules)), (moved, _moved(block, modules))):
            total[0] += count * again
            total[1] += count * whole
    matmul, elementwise = flops[0] / flops[1], moved[0] / moved[1]
    attention = max(m.attention for m in modules)
    return Recompute(
        matmul=matmul,
        attention=attention,
        elementwise=elementwise,
        communication=max(m.communication for m in modules),
        inputs=1 - elementwise,
        outputs=1 - matmul,
        scores=1 - attention,
    )


def _matches(name: str, globs: list[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _flops(block: Block, modules: list[Module]) -> tuple[float, float]:
    """FLOPs of a block's matmuls: of those in the modules, and of all."""
    globs = [glob for module in modules for glob in module.matmuls]
    return sum(m.flops for m in block.matmuls if _matches(m.name, globs)), sum(m.flops for m in block.matmuls)


def _moved(block: Block, modules: list[Module]) -> tuple[float, float]:
    """Elements that a block's element-wise passes move: of those in the modules, and of all."""
    globs = [glob for module in modules for glob in module.passes]
    moved = [(p.name, (p.reads + p.writes) * p.per_token) for p in block.pointwise]
    return sum(n for name, n in moved if _matches(name, globs)), sum(n for _, n in moved)
