"""By which rules a framework accepts or refuses a layout."""

from solver.rules.case import GRAIN, GRAINS, Case
from solver.rules.refusals import Violation, older_rules, violations
from solver.rules.rule import Rule
from solver.rules.table import GENERAL, RULES, SEARCHED

__all__ = [
    "GENERAL",
    "GRAIN",
    "GRAINS",
    "RULES",
    "SEARCHED",
    "Case",
    "Rule",
    "Violation",
    "older_rules",
    "violations",
]
