"""Write docs/constants.md, every constant of the time of a step and where it comes from, and its summary in
docs/accuracy.md: `python benchmarks/constants.py [--check]`.

Read from the catalogs and the modules of solver/physics; which runs speak of a constant, from catalogs/runs.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from software import RANGES, RECORD, Constant, constants_of, places_of

from solver.catalog import Catalog, load
from solver.record_files import parse, shipped_folder, texts
from solver.report.accuracy import table
from solver.validation.rows import read

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "catalogs" / "runs"
PAGE = ROOT / "docs" / "constants.md"
SUMMARY = ROOT / "docs" / "accuracy.md"
TABLES = {"aiconfigurator"}  # sources that are tables of measured kernels and collectives
FACTS = {"scope", "technology", "topology", "bandwidth", "nics"}  # of links: the data sheet's
KERNEL = ("grouped_gemm_efficiency", "attention_forward", "attention_backward", "attention_softmax",
          "attention_idle_rows", "pointwise_bandwidth")  # fmt: skip
GEMM = ("efficiency", "inner_overhead", "bandwidth_efficiency", "launch", "idle_outputs")
LINK = ("efficiency", "latency", "start")
WORDS = {
    "sustained": "share of a kernel's rate that remains in a step",
    "fused": "element-wise traffic over that of a kernel each",
    "layer_launch": "host time to launch a layer's forward kernels",
    "expert_launch": "the same for each expert held",
    "step_overhead": "data, logging, optimizer launch, a step",
    "send_pause": "host's hold-up at a hand-off between stages",
    "gradient_overlap": "share of the communication with replicas that may hide",
    "gradient_overlaps": "the same, where it differs by architecture",
    "tensor_overlap": "share of the tensor-parallel communication that may hide",
    "expert_overlap": "share of the expert-parallel communication that may hide",
    "attention": "attention kernels over those of the kernel table",
    "matmul": "matmul kernels over those of the kernel table",
    "cast_bytes": "moved to cast an element to 8 bits",
    "accumulation_bytes": "moved to add a gradient element to its sum",
}


class Spoken(NamedTuple):
    """A constant with the runs and sources that speak of it."""

    constant: Constant
    runs: int
    sources: frozenset[str]

    @property
    def mark(self) -> str:
        """What a reader should know of it."""
        limits = RANGES[self.constant.field]
        bound = self.constant.value in (limits.least, limits.most)
        alone = "" if len(self.sources) > 1 else "one source" if self.sources else "estimate"
        return ", ".join(word for word in (alone, "at its bound" if bound else "") if word)


def spoken(catalog: Catalog) -> list[Spoken]:
    """Every constant of devices' clocks and of frameworks."""
    rows = [*read(RUNS / "published.csv"), *read(RUNS / "published_small.csv")]
    timed = [(row.source, places_of(row, catalog)) for row in rows if row.number("step_time_s")]
    found = []
    for constant in constants_of(catalog):
        mine = [source for source, places in timed if places & set(constant.places)]
        found.append(Spoken(constant, len(mine), frozenset(mine)))
    return found


class Stated(NamedTuple):
    """A number of a device's kernels or of a link, as its record states it."""

    owner: str
    name: str
    value: Any
    source: str

    @property
    def measured(self) -> bool:
        return bool(TABLES & set(self.source.split(", ")))


def stated() -> Iterator[Stated]:
    """Of every record; what is `like` another's is not stated again."""
    folder = parse(texts(shipped_folder(), ["devices", "fabrics"])).records
    for name, fields in sorted(folder["devices"].items()):
        kernels = (fields or {}).get("kernels") or {}
        source = ", ".join(kernels.get("source", ["estimate"]))
        for precision, gemm in (kernels.get("gemm") or {}).items():
            yield from (Stated(name, f"{precision} {key}", gemm[key], source) for key in GEMM if key in gemm)
        yield from (Stated(name, key, kernels[key], source) for key in KERNEL if key in kernels)
        narrow = (kernels.get("grouped_narrow") or {}).items()
        yield from (Stated(name, f"{precision} grouped_narrow", value, source) for precision, value in narrow)
    for name, fields in sorted(folder["fabrics"].items()):
        for key in LINK:
            if fields and key in fields:
                value, source = fields[key], fields.get("source", [])
                if isinstance(value, dict):
                    value, source = value["value"], value.get("source", source)
                yield Stated(name, key, value, ", ".join(source))


def in_code() -> Iterator[tuple[str, str, str, str]]:
    """Numbers of the physics' modules: name, value, what they say of themselves, file."""
    for path in sorted((ROOT / "solver" / "physics").glob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                said = ast.get_source_segment(text, node.value) or ""
                if re.fullmatch(r"\(?\s*[\d. /e-]+(#.*)?\s*\)?", said):
                    lines = "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno])
                    comment = lines.partition("#")[2].partition("\n")[0].strip()
                    value = re.sub(r"#.*", "", said).strip("() \n")
                    yield node.targets[0].id, value, comment, path.name


def number(value: float, unit: str) -> str:
    if unit != "s":
        return f"{value:.4g}{' ' * bool(unit)}{unit}"
    return f"{1e3 * value:.4g} ms" if value >= 2e-3 else f"{1e6 * value:.4g} us"


def where(constant: Constant, catalog: Catalog) -> str:
    """The generations or devices that a value stands for."""
    if constant.field == "sustained":
        return ", ".join(sorted(place.record for place in constant.places))
    records = [(catalog.frameworks[place.record], place.era) for place in constant.places]
    names = [f"{f.id} today" if era == RECORD else f.eras[era].name for f, era in records]
    keys = sorted({place.key for place in constant.places if place.key})
    return "; ".join(dict.fromkeys(names)) + (f" ({', '.join(keys)})" if keys else "")


def summary(fitted: list[Spoken], records: list[Stated]) -> str:
    """The count in a line, and a table by kind."""
    code = len(list(in_code()))
    tables = sum(one.measured for one in records)
    heard = [one for one in fitted if one.runs]
    alone = sum(len(one.sources) == 1 for one in heard)
    bound = sum("bound" in one.mark for one in heard)
    guessed = len(fitted) - len(heard) + len(records) - tables
    line = (
        f"{len(fitted) + len(records) + code:,} numbers: {tables} from tables of kernels and collectives, "
        f"{len(heard)} fitted on published runs ({alone} of them on one source alone, {bound} at a bound), "
        f"{guessed} carried over or estimated, {code} in the code of the physics.\n\n"
    )
    rows = []
    for field, words in WORDS.items():
        mine = [one for one in fitted if one.constant.field == field]
        if mine:
            rows.append((f"`{field}`: {words}", len(mine), *_extent(mine), _from(mine)))
    kinds = Counter((one.name.split()[-1], one.owner in load().fabrics) for one in records)
    for (name, link), count in kinds.items():
        own = [o for o in records if o.name.split()[-1] == name and (o.owner in load().fabrics) is link]
        tabled = sum(one.measured for one in own)
        origin = f"tables {tabled}, others {count - tabled}"
        rows.append((f"{'link' if link else 'kernel'} `{name}`", count, "docs/constants.md", origin))
    return line + table(("constant", "numbers", "values", "from"), rows)


def _extent(mine: list[Spoken]) -> tuple[str]:
    values = sorted({one.constant.value for one in mine})
    unit = RANGES[mine[0].constant.field].unit
    ends = [number(value, unit) for value in (values[0], values[-1])]
    return (" to ".join(dict.fromkeys(ends)),)


def _from(mine: list[Spoken]) -> str:
    marks = Counter(one.mark.split(",")[0] if one.sources else "estimate" for one in mine)
    several = sum(len(one.sources) > 1 for one in mine)
    alone, guessed = sum(len(one.sources) == 1 for one in mine), marks["estimate"]
    told = ((several, "runs of several sources"), (alone, "runs of one source"), (guessed, "estimates"))
    return ", ".join(f"{words} {count}" for count, words in told if count)


def page(fitted: list[Spoken], records: list[Stated], catalog: Catalog) -> str:
    """The whole document."""
    order = list(RANGES)
    runs = [
        (", ".join(one.constant.owners), f"`{one.constant.field}`", where(one.constant, catalog),
         number(one.constant.value, RANGES[one.constant.field].unit), one.runs, len(one.sources), one.mark)
        for one in sorted(fitted, key=lambda one: (order.index(one.constant.field), one.constant.owners))
    ]  # fmt: skip
    facts = [(one.owner, one.name, one.value, one.source) for one in records]
    code = [(name, value, words, file) for name, value, words, file in in_code()]
    return "\n".join(
        (
            HEAD,
            "## Of devices' clocks and of frameworks: published runs\n",
            table(("of", "constant", "where", "value", "runs", "sources", "mark"), runs),
            "## Of kernels and links\n",
            table(("of", "constant", "value", "source"), facts),
            "## In the code of the physics\n",
            table(("constant", "value", "what it is", "file"), code),
        )
    )


HEAD = """# Every constant of the time of a step

Written by `python benchmarks/constants.py`; docs/physics.md says what each does. A value is one constant
wherever frameworks and their generations state it for the same field. Marks: *one source*, all runs that
speak of it are of one source; *estimate*, no run speaks of it; *at its bound*, it can go no further (`RANGES`
in benchmarks/software.py).
"""


def filled(document: str, name: str, content: str) -> str:
    """A document with other content between its markers of that name."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
    return re.sub(pattern, lambda found: f"{found[1]}{content}{found[2]}", document, flags=re.DOTALL)


def write(pages: Iterable[tuple[Path, str]]) -> None:
    """Writes what has changed; with --check it only says so, by the exit code."""
    changed = [(path, text) for path, text in pages if not path.exists() or path.read_text("utf-8") != text]
    if "--check" in sys.argv:
        sys.exit(f"out of date: {', '.join(path.name for path, _ in changed)}" if changed else 0)
    for path, text in changed:
        path.write_text(text, "utf-8")


def main() -> None:
    catalog = load()
    fitted, records = spoken(catalog), list(stated())
    told = filled(SUMMARY.read_text("utf-8"), "constants", summary(fitted, records))
    write([(PAGE, page(fitted, records, catalog)), (SUMMARY, told)])


if __name__ == "__main__":
    main()
