"""By which rules a framework accepts or refuses a layout."""

from solver.rules.case import Case
from solver.rules.refusals import Violation, violations
from solver.rules.table import GENERAL, RULES, Rule

__all__ = ["GENERAL", "RULES", "Case", "Rule", "Violation", "violations"]
