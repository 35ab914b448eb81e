"""Quantities: every unit, every refusal, and formatters whose text is read back."""

from collections.abc import Callable

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from solver import units

DAY = 86400.0
READ = [
    (units.seconds, "30 days", 30 * DAY),
    (units.seconds, "1 day", DAY),
    (units.seconds, "2d", 2 * DAY),
    (units.seconds, "36 hours", 129600.0),
    (units.seconds, "36 Hours", 129600.0),
    (units.seconds, "1.5 hr", 5400.0),
    (units.seconds, "2h", 7200.0),
    (units.seconds, "90 minutes", 5400.0),
    (units.seconds, "5 min", 300.0),
    (units.seconds, "90 s", 90.0),
    (units.seconds, "90 secs", 90.0),
    (units.seconds, "1 second", 1.0),
    (units.seconds, "3 ms", 0.003),
    (units.seconds, "12 us", 12e-6),
    (units.seconds, "2 weeks", 14 * DAY),
    (units.seconds, "1w", 7 * DAY),
    (units.seconds, "1 month", 365.25 / 12 * DAY),
    (units.seconds, "1 year", 365.25 * DAY),
    (units.seconds, 90, 90.0),
    (units.bytes_, "80 GB", 80e9),
    (units.bytes_, "80 GiB", 80 * 2.0**30),
    (units.bytes_, "24gb", 24e9),
    (units.bytes_, "24 gib", 24 * 2.0**30),
    (units.bytes_, "46068 MiB", 46068 * 2.0**20),
    (units.bytes_, "512 KiB", 512 * 2.0**10),
    (units.bytes_, "1 kB", 1e3),
    (units.bytes_, "1 KB", 1e3),
    (units.bytes_, "2 TB", 2e12),
    (units.bytes_, "1 PiB", 2.0**50),
    (units.bytes_, "3 PB", 3e15),
    (units.bytes_, "7 B", 7.0),
    (units.bytes_, "7 bytes", 7.0),
    (units.bytes_, 1024, 1024.0),
    (units.watts, "2 MW", 2e6),
    (units.watts, "700 W", 700.0),
    (units.watts, "1.2 kW", 1200.0),
    (units.watts, "1.2 kw", 1200.0),
    (units.watts, "3 GW", 3e9),
    (units.watts, "5 watts", 5.0),
    (units.watt_hours, "500 MWh", 5e8),
    (units.watt_hours, "1.2 kwh", 1200.0),
    (units.kilograms, "20 t CO2e", 20e3),
    (units.kilograms, "300 kg", 300.0),
    (units.kilograms, "2 tonnes of CO2", 2000.0),
    (units.flops_per_s, "989.4 TFLOP/s", 989.4e12),
    (units.flops_per_s, "989.4 TFLOPS", 989.4e12),
    (units.flops_per_s, "2 PFLOP/s", 2e15),
    (units.flops_per_s, "1 EFLOP/s", 1e18),
    (units.bytes_per_s, "3350 GB/s", 3.35e12),
    (units.bytes_per_s, "400 Gb/s", 50e9),
    (units.bytes_per_s, "400 Gbit/s", 50e9),
    (units.bytes_per_s, "400 Gbps", 50e9),
    (units.bytes_per_s, "1 GiB/s", 2.0**30),
    (units.count, "15T", 15e12),
    (units.count, "7B", 7e9),
    (units.count, "7b", 7e9),
    (units.count, "4M", 4e6),
    (units.count, "4k", 4e3),
    (units.count, "4K", 4e3),
    (units.count, "1.5 billion", 1.5e9),
    (units.count, "2 Trillion", 2e12),
    (units.count, "3 million", 3e6),
    (units.count, "8 thousand", 8e3),
    (units.count, "4096", 4096.0),
    (units.count, "1e18", 1e18),
    (units.count, "1,000,000", 1e6),
    (units.count, "1_000_000", 1e6),
    (units.count, ".5", 0.5),
    (units.count, "+3", 3.0),
    (units.usd, "3M USD", 3e6),
    (units.usd, "$250k", 250e3),
    (units.usd, "US$ 250k", 250e3),
    (units.usd, "USD 3M", 3e6),
    (units.usd, "3 million dollars", 3e6),
    (units.usd, "1,000 $", 1e3),
    (units.usd, "0 USD", 0.0),
    (units.usd, 1000, 1e3),
    (units.usd_per_hour, "55.04 USD/hour", 55.04),
    (units.usd_per_hour, "$2/h", 2.0),
    (units.usd_per_hour, "2 USD per hour", 2.0),
    (units.usd_per_hour, "2 USD / hr", 2.0),
    (units.usd_per_hour, 0, 0.0),
]


@pytest.mark.parametrize(("parse", "text", "value"), READ, ids=lambda x: str(getattr(x, "__name__", x)))
def test_a_quantity_is_read_in_si(
    parse: Callable[[units.Value], float], text: units.Value, value: float
) -> None:
    assert parse(text) == pytest.approx(value, rel=1e-12)


REFUSED = [
    (units.seconds, "soon", '"soon" is not a duration; write e.g. "30 days", "36 hours", "90 s"'),
    (units.seconds, "1:30", '"1:30" is not a duration'),
    (units.seconds, "1,5 days", '"1,5 days" is not a duration'),
    (units.seconds, "5 M", '"5 M" is not a duration'),
    (units.seconds, "-3 days", '"-3 days" is negative'),
    (units.seconds, "", '"" is not a duration'),
    (units.seconds, "days", '"days" is not a duration'),
    (units.seconds, float("nan"), "nan is not a duration"),
    (units.seconds, float("inf"), "inf is not a duration"),
    (units.seconds, True, "true is not a duration"),
    (units.bytes_, "80 Gb", '"80 Gb" is not an amount of memory; write e.g. "80 GB"'),
    (units.bytes_, "80 GHz", '"80 GHz" is not an amount of memory'),
    (units.watts, "2 mW", '"2 mW" is not a power; write e.g. "2 MW"'),
    (units.watts, "5 horses", '"5 horses" is not a power'),
    (units.flops_per_s, "5 TOPS", '"5 TOPS" is not a compute rate'),
    (units.bytes_per_s, "5 GB", '"5 GB" is not a bandwidth'),
    (units.bytes_per_s, "5 gb/s", '"5 gb/s" is not a bandwidth'),  # bits or bytes?
    (units.count, "5 s", '"5 s" is not a number'),
    (units.count, "1.2.3", '"1.2.3" is not a number'),
    (units.count, "1,00", '"1,00" is not a number'),
    (units.count, "1,000,00", '"1,000,00" is not a number'),
    (units.count, "0x10", '"0x10" is not a number'),
    (units.count, "9" * 400, "..."),
    (units.count, "1e999", '"1e999" is not a number'),
    (units.count, 10**400, "a number of more than 40 digits is not a number"),
    (units.usd, "3M EUR", '"3M EUR" is not in USD; convert it and write e.g. "3M USD"'),
    (units.usd, "3M€", '"3M€" is not in USD'),
    (units.usd, "3MGBP", '"3MGBP" is not in USD'),
    (units.usd, "3.000.000 USD", '"3.000.000 USD" is not an amount of money'),
    (units.usd, "-5 USD", '"-5 USD" is negative; write e.g. "3M USD"'),
    (units.usd_per_hour, "5 USD/day", '"5 USD/day" is not a price per hour; write e.g. "55.04 USD/hour"'),
    (units.usd_per_hour, "5 EUR/hour", '"5 EUR/hour" is not in USD'),
    (units.usd_per_hour, "-5 USD/hour", '"-5 USD/hour" is negative'),
]


@pytest.mark.parametrize(
    ("parse", "text", "sentence"), REFUSED, ids=lambda x: str(getattr(x, "__name__", x))[:40]
)
def test_what_is_no_quantity_is_refused_with_the_value_and_the_fix(
    parse: Callable[[units.Value], float], text: units.Value, sentence: str
) -> None:
    with pytest.raises(ValueError, match=r"write e\.g\.") as refusal:
        parse(text)
    assert sentence in str(refusal.value)
    assert len(str(refusal.value)) < 250


FORMATTED: list[tuple[Callable[[float], str], Callable[[units.Value], float]]] = [
    (units.format_duration, units.seconds),
    (units.format_count, units.count),
    (units.format_usd, units.usd),
    (units.format_usd_per_hour, units.usd_per_hour),
    (units.format_bytes, units.bytes_),
    (units.format_watts, units.watts),
    (units.format_watt_hours, units.watt_hours),
    (units.format_kilograms, units.kilograms),
    (units.format_flops_per_s, units.flops_per_s),
    (units.format_bytes_per_s, units.bytes_per_s),
]
AMOUNTS = st.floats(1e-9, 1e25, allow_nan=False) | st.just(0.0)


@pytest.mark.parametrize(("form", "parse"), FORMATTED, ids=lambda x: x.__name__)
@given(value=AMOUNTS)
@example(value=0.0)
@example(value=999.96)
@example(value=999_999.6)
@example(value=9_999_960.0)
def test_what_a_formatter_writes_its_parser_reads(
    form: Callable[[float], str], parse: Callable[[units.Value], float], value: float
) -> None:
    assert parse(form(value)) == pytest.approx(value, rel=6e-4)


def test_formatters_write_as_people_do() -> None:
    assert units.format_duration(3e6) == "34.72 days"
    assert units.format_duration(5400) == "90 min"
    assert units.format_count(15e12) == "15T"
    assert units.format_count(4096) == "4,096"
    assert units.format_usd(2_345_678) == "2.346M USD"
    assert units.format_usd(1234.5) == "1,234 USD"
    assert units.format_usd_per_hour(55.04) == "55.04 USD/hour"
    assert units.format_bytes(80e9) == "74.51 GiB"
    assert units.format_watts(2e6) == "2 MW"
    assert units.format_flops_per_s(989.4e12) == "989.4 TFLOP/s"
    assert units.format_bytes_per_s(50e9) == "50 GB/s"


def outcome(parse: Callable[[units.Value], float], value: units.Value) -> float | str:
    try:
        return parse(value)
    except ValueError as refusal:
        return str(refusal)


@given(st.text(max_size=30) | st.integers() | st.floats() | st.booleans())
def test_a_parser_gives_a_finite_number_or_a_sentence(value: units.Value) -> None:
    for _, parse in FORMATTED:
        result = outcome(parse, value)
        if isinstance(result, str):
            assert "write e.g." in result
            assert result.isprintable()
        else:
            assert 0 <= result < float("inf")


@given(st.floats(1e-3, 1e9), st.sampled_from(["GB", "GiB", "MB"]))
def test_blanks_do_not_matter(number: float, unit: str) -> None:
    assume("e" not in repr(number))
    assert units.bytes_(f"{number}{unit}") == units.bytes_(f"  {number}  {unit} ")
