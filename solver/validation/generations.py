"""Which generation of a framework a run used: that of the constants of time that hold for it."""

from solver.catalog import Catalog
from solver.catalog.records import Era, Framework
from solver.validation.rows import Row
from solver.validation.words import era_of, framework_of

# Fields of a framework's record that the time of a step depends on. Folded, interleaved, weighed, and what
# unstated sharding means are not among them: habits of published runs, which a plan states.
TIME = (
    "fused", "cast_bytes", "accumulation_bytes", "attention", "matmul", "joined_experts", "layer_launch",
    "expert_launch", "send_pause", "scattered", "deduplicated", "gradient_overlap", "gradient_overlaps",
    "tensor_overlap", "expert_overlap", "step_overhead", "joined", "owned_tensors", "layer_calls",
    "reduced_bytes",
)  # fmt: skip
CURRENT = "current"  # the record itself: what is planned


def generation_of(row: Row, catalog: Catalog) -> str:
    """The first era with the run's constants of time; CURRENT where they are the record's."""
    dated = framework_of(catalog, row)
    if dated is None:
        return ""
    framework = catalog.frameworks[dated.id]
    era = era_of(framework, row)
    if era is None or _constants(framework, era) == _constants(framework, None):
        return CURRENT
    return next(e.name for e in framework.eras if _constants(framework, e) == _constants(framework, era))


def _constants(framework: Framework, era: Era | None) -> list[object]:
    differing = era.differences if era else {}
    return [differing.get(name, getattr(framework, name)) for name in TIME]
