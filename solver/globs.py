"""Globs of the limits: which ids of the catalog they mean, and which offerings they leave."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from solver.catalog import Catalog
from solver.catalog.records import Offering
from solver.errors import Fault
from solver.models import nearest
from solver.problem import Limits, Problem

LISTS = tuple(
    f"{sign}{kind}"
    for kind in ("devices", "machines", "providers", "regions", "fabrics", "frameworks")
    for sign in ("", "exclude_")
)  # fields of the limits that hold globs of ids


def known_ids(catalog: Catalog, kind: str) -> list[str]:
    """The ids that a list of the limits can name, sorted."""
    if kind in ("providers", "regions"):
        return sorted({getattr(offering, kind.removesuffix("s")) for offering in catalog.offerings})
    if kind == "fabrics":
        return sorted(catalog.scale_out)
    return sorted(getattr(catalog, kind))


def matches(catalog: Catalog, kind: str, glob: str) -> set[str]:
    """The ids that a glob means; a fabric or a machine may be called by an alias."""
    called = {"fabrics": catalog.fabric, "machines": catalog.machine}.get(kind)
    record = called(glob) if called else None
    pattern = record.id if record else glob
    return {name for name in known_ids(catalog, kind) if fnmatchcase(name, pattern)}


def alias_notes(catalog: Catalog, problem: Problem) -> list[str]:
    """How the names of machines in a problem are read that are not ids."""
    limits = problem.limits
    listed = [("limits.machines", name) for name in (*limits.machines, *limits.exclude_machines)]
    owned = [("hardware", item.machine) for item in problem.hardware]
    notes = [(field, catalog.alias_note(name)) for field, name in (*listed, *owned)]
    return [f"{field}: {note}" for field, note in notes if note]


def admitted(catalog: Catalog, limits: Limits, field: str) -> set[str]:
    """The ids that one list of the limits leaves: those it names, or those that an exclude list does not."""
    kind = field.removeprefix("exclude_")
    globs = getattr(limits, field)
    named = set().union(*(matches(catalog, kind, glob) for glob in globs))
    if field != kind:
        return set(known_ids(catalog, kind)) - named
    return named if globs else {*known_ids(catalog, kind), *(("",) if kind == "fabrics" else ())}


def unmatched(catalog: Catalog, lists: Mapping[str, Iterable[str]]) -> Iterable[Fault]:
    """Globs that match nothing, in the lists of the limits by field."""
    for field, globs in lists.items():
        kind = field.removeprefix("exclude_")
        for position, glob in enumerate(globs):
            if not matches(catalog, kind, glob):
                yield Fault(f"limits.{field}[{position}]", _no_match(catalog, kind, glob))


def _no_match(catalog: Catalog, kind: str, glob: str) -> str:
    """A glob that means nothing, with the nearest id, the glob of those that begin so, or where to look."""
    known = known_ids(catalog, kind)
    hint = nearest(glob, known)
    if not hint and any(name.startswith(glob) for name in known):
        hint = f'; write "{glob}*" for those that begin so'
    listed = "offerings" if kind == "regions" else kind
    return f'"{glob}" matches none of the {kind}{hint or f"; see trainplan catalog {listed}"}'


def unmatched_quotas(catalog: Catalog, limits: Limits) -> Iterable[Fault]:
    """Quotas of what the catalog does not have."""
    for index, quota in enumerate(limits.quotas):
        for field in ("provider", "region", "device", "machine"):
            glob, kind = getattr(quota, field), f"{field}s"
            if not matches(catalog, kind, glob):
                yield Fault(f"limits.quotas[{index}].{field}", _no_match(catalog, kind, glob))


def allowed_ids(catalog: Catalog, limits: Limits) -> dict[str, set[str]]:
    """The ids that the limits leave, by kind. A fabric that is not known is "" and passes where none is asked
    for.
    """
    kinds = [field for field in LISTS if not field.startswith("exclude_")]
    left = {kind: admitted(catalog, limits, kind) for kind in kinds}
    return {kind: ids - _excluded(catalog, limits, kind) for kind, ids in left.items()}


def _excluded(catalog: Catalog, limits: Limits, kind: str) -> set[str]:
    return set().union(*(matches(catalog, kind, glob) for glob in getattr(limits, f"exclude_{kind}")))


def offers(catalog: Catalog, allowed: Mapping[str, set[str]], offering: Offering) -> bool:
    """Whether an offering is among what the limits leave."""
    return (
        catalog.machines[offering.machine].device in allowed["devices"]
        and offering.machine in allowed["machines"]
        and offering.provider in allowed["providers"]
        and offering.region in allowed["regions"]
        and (offering.fabric or "") in allowed["fabrics"]
    )
