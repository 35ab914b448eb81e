"""Types of the fields: text as people write it becomes a value to trust, or a sentence that shows how."""

import difflib
import math
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic import WithJsonSchema as Json
from pydantic_core import CoreSchema, core_schema

from solver import units
from solver.problem.ranges import Ways
from solver.units import shown


class Model(BaseModel):
    """A mapping of a file: unknown fields are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def _above_zero(
    parse: Callable[[units.Value], float], example: str, most: float, said: str
) -> BeforeValidator:
    """A quantity above zero and within what can be believed; `said`: how a message calls `most`."""

    def read(value: units.Value) -> float:
        quantity = parse(value)
        if quantity == 0:
            raise ValueError(
                f'{shown(value)} is not above zero; write e.g. "{example}", or leave the field out'
            )
        if quantity > most:
            raise ValueError(f'{shown(value)} is above {said}; write e.g. "{example}"')
        return quantity

    return BeforeValidator(read)


def _with_unit(example: str) -> BeforeValidator:
    """A number by itself is refused: 30 of a deadline could be seconds, hours or days."""
    bare = re.compile(r"\s*\d[\d_,.]*(?:[eE][+-]?\d+)?\s*")

    def read(value: units.Value) -> units.Value:
        number = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
        if number or (isinstance(value, str) and len(value) < 200 and bare.fullmatch(value)):
            raise ValueError(f'{shown(value)} has no unit; write e.g. "{example}"')
        return value

    return BeforeValidator(read)


def _wrong(error: ValueError, noun: str) -> str:
    """What a count that cannot be read is."""
    return "is negative" if "negative" in str(error) else f"is not a number of {noun}"


def _mean(noun: str, example: float) -> Callable[[units.Value], float]:
    """A number of things that need not be whole."""

    def parse(value: units.Value) -> float:
        try:
            return units.count(value)
        except ValueError as error:
            raise ValueError(f"{shown(value)} {_wrong(error, noun)}; write e.g. {example:g}") from None

    return parse


def _whole(noun: str, example: object, most: float, least: int = 1) -> BeforeValidator:
    """A whole number of things, the noun behind it allowed: 15T, "2T tokens"."""
    behind = re.compile(rf"\s*{noun.removesuffix('s')}s?\s*$", re.IGNORECASE)
    hint = f"write e.g. {example if isinstance(example, int) else shown(example)}"

    def read(value: units.Value) -> int:
        short = isinstance(value, str) and len(value) < 200
        try:
            number = units.count(behind.sub("", str(value)) if short else value)
        except ValueError as error:
            raise ValueError(f"{shown(value)} {_wrong(error, noun)}; {hint}") from None
        if number < least:
            raise ValueError(f"{shown(value)} is below {least}; {hint}")
        if number > most:
            bound = f"{most:.0f}" if most < 1e4 else f"{most:.0e}, more than can be believed"
            raise ValueError(f"{shown(value)} is above {bound}; {hint}")
        if number != int(number):
            raise ValueError(f"{shown(value)} is not a whole number of {noun}; {hint}")
        # why: a float holds whole numbers to 2^53 only, and an int needs no reading
        return value if isinstance(value, int) else round(number)

    return BeforeValidator(read)


def _one_of(names: Sequence[str]) -> BeforeValidator:
    def read(value: object) -> str:
        name = value.strip().lower() if isinstance(value, str) else ""
        if name in names:
            return name
        near = difflib.get_close_matches(name[:50], names, n=1)
        hint = f'; did you mean "{near[0]}"?' if near else ""
        raise ValueError(f"{shown(value)} is not one of {', '.join(names)}{hint}")

    return BeforeValidator(read)


def name_of(value: object) -> str:
    """Text in one line, e.g. an id or a glob."""
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is not text; put it in quotes if it is a name")
    if not value.strip():
        raise ValueError("the text is empty; write a name, or leave the field out")
    if len(value) > 200 or not value.isprintable():
        raise ValueError(f"{shown(value)} is not a name; write at most 200 printable characters in one line")
    return value.strip()


def _truth(value: object) -> bool:
    words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in words:
        return words[value.strip().lower()]
    raise ValueError(f"{shown(value)} is not true or false; write true or false")


class OneOrMany:
    """One value stands for a list of one; an empty list is refused, what is listed twice counts once."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        listed = core_schema.no_info_before_validator_function(self._list, handler(source))
        return core_schema.no_info_after_validator_function(
            lambda values: tuple(dict.fromkeys(values)), listed
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        many = handler(schema)
        item = many.get("items", {})
        return {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}

    @staticmethod
    def _list(value: object) -> list[object]:
        if isinstance(value, list | tuple) and not value:
            raise ValueError("the list is empty; name at least one, or leave the field out")
        return list(value) if isinstance(value, list | tuple) else [value]


def _quantity_json(*examples: object) -> Json:
    return Json({"type": ["string", "number"], "examples": list(examples)})


def _unit_json(*examples: str) -> Json:
    return Json({"type": "string", "examples": list(examples)})


Duration = Annotated[
    float,
    _above_zero(units.seconds, '30 days", "36 hours", "90 s', 1000 * 31557600.0, "1000 years"),
    _with_unit("30 days"),
    _unit_json("30 days", "36 hours"),
]
Usd = Annotated[
    float, _above_zero(units.usd, "3M USD", 1e15, "1e15 USD"), _quantity_json("3M USD", "$250k", 100000)
]
UsdPerHour = Annotated[float, BeforeValidator(units.usd_per_hour), _quantity_json("55.04 USD/hour", 0)]
Watts = Annotated[
    float,
    _above_zero(units.watts, "2 MW", 1e15, "1e15 W"),
    _with_unit("2 MW"),
    _unit_json("2 MW", "700 kW"),
]
WattHours = Annotated[
    float,
    _above_zero(units.watt_hours, "500 MWh", 1e18, "1e18 Wh"),
    _with_unit("500 MWh"),
    _unit_json("500 MWh", "20 GWh"),
]
Kilograms = Annotated[
    float,
    _above_zero(units.kilograms, "20 t CO2e", 1e15, "1e15 kg"),
    _with_unit("20 t CO2e"),
    _unit_json("20 t CO2e", "500 kg"),
]
Bytes = Annotated[
    float,
    _above_zero(units.bytes_, "54 GB", 1e18, "1e18 bytes"),
    _with_unit("54 GB"),
    _unit_json("54 GB", "15 TB"),
]
BytesPerToken = Annotated[
    float,
    _above_zero(_mean("bytes", 4.2), "4.2", 1e3, "1,000 bytes a token"),
    Json({"type": "number", "examples": [4.2]}),
]

Workers = Annotated[int, _whole("workers", 4, 1e6, least=2), Json({"type": "integer", "minimum": 2})]
Bandwidth = Annotated[
    float,
    _above_zero(units.bytes_per_s, "10 Gb/s", 1e15, "1e15 bytes a second"),
    _with_unit("10 Gb/s"),
    _unit_json("10 Gb/s", "1.25 GB/s"),
]
ImagesEach = Annotated[
    float,
    _above_zero(_mean("images", 1), "1", 1e6, "a million images a sequence"),
    Json({"type": "number", "examples": [1]}),
]
Patches = Annotated[int, _whole("patches", 1024, 1e7), _quantity_json(1024)]
Tokens = Annotated[int, _whole("tokens", "15T", 1e18), _quantity_json("15T", "300B", "2T tokens")]
Steps = Annotated[int, _whole("steps", 500000, 1e15), _quantity_json(500000, "500k")]
Samples = Annotated[int, _whole("samples", "10M", 1e15), _quantity_json("10M", 52002)]
Epochs = Annotated[int, _whole("epochs", 3, 1e6), _quantity_json(3)]
SequenceLength = Annotated[int, _whole("tokens", 8192, 1e9), _quantity_json(8192, 131072)]
Parameters = Annotated[int, _whole("parameters", "7B", 1e16), _quantity_json("7B", "1.3B")]
Devices = Annotated[int, _whole("devices", 64, 1e7), _quantity_json(64, "4k")]
Machines = Annotated[int, _whole("machines", 8, 1e7), _quantity_json(8)]
Nodes = Annotated[int, _whole("nodes", 2, 1e4, least=0), Json({"type": "integer", "minimum": 0})]
Degree = Annotated[int, _whole("ways", 8, 1e7), Json({"type": "integer", "minimum": 1})]
Stage = Annotated[int, _whole("stages", 1, 3, least=0), Json({"type": "integer", "minimum": 0, "maximum": 3})]
Size = Annotated[int, _whole("units", 4096, 1e8), Json({"type": "integer", "minimum": 1})]
SizeOrNone = Annotated[int, _whole("units", 1, 1e8, least=0), Json({"type": "integer", "minimum": 0})]
Layers = Annotated[int, _whole("layers", 32, 1e5), Json({"type": "integer", "minimum": 1})]

Name = Annotated[str, BeforeValidator(name_of)]
Truth = Annotated[bool, BeforeValidator(_truth)]

PrecisionName = Literal["fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8"]
PricingName = Literal[
    "on-demand", "spot", "committed-1y", "committed-3y", "capacity-block", "flex-start", "community", "owned"
]
Precision = Annotated[PrecisionName, _one_of(get_args(PrecisionName))]
Pricing = Annotated[PricingName, _one_of(get_args(PricingName))]
ObjectiveName = Literal["cost", "time", "energy", "carbon"]
Objective = Annotated[ObjectiveName, _one_of(get_args(ObjectiveName))]
OptimizerName = Literal[
    "adamw", "adam", "adamw-bf16", "adamw-8bit", "adafactor", "muon", "sgd", "sgd-momentum"
]  # what each keeps: physics.optimizers
Optimizer = Annotated[OptimizerName, _one_of(get_args(OptimizerName))]
GradientDtype = Annotated[Literal["fp32", "bf16", "fp16"], _one_of(["fp32", "bf16", "fp16"])]
Packing = Annotated[Literal["packed", "padded"], _one_of(["packed", "padded"])]
Task = Annotated[Literal["pretrain", "sft"], _one_of(["pretrain", "sft"])]
Recompute = Annotated[Literal["none", "selective", "full"], _one_of(["none", "selective", "full"])]
Offload = Annotated[Literal["none", "optimizer", "parameters"], _one_of(["none", "optimizer", "parameters"])]
Schedule = Annotated[Literal["1f1b", "zero-bubble", "dualpipe"], _one_of(["1f1b", "zero-bubble", "dualpipe"])]
Positions = Annotated[Literal["rope", "learned", "none"], _one_of(["rope", "learned", "none"])]
Kernel = Annotated[Literal["flash", "unfused"], _one_of(["flash", "unfused"])]

Names = Annotated[tuple[Name, ...], OneOrMany()]
Precisions = Annotated[tuple[Precision, ...], OneOrMany()]
Pricings = Annotated[tuple[Pricing, ...], OneOrMany()]
Degrees = Annotated[tuple[Ways, ...], OneOrMany()]
Stages = Annotated[tuple[Stage, ...], OneOrMany()]
Recomputes = Annotated[tuple[Recompute, ...], OneOrMany()]
Offloads = Annotated[tuple[Offload, ...], OneOrMany()]
Truths = Annotated[tuple[Truth, ...], OneOrMany()]
