"""Reports for people, rendered from the JSON of an answer alone: a list of tables and lines each."""

from solver.report.answer import answer_report
from solver.report.catalog import catalog_report, check_report
from solver.report.evaluation import evaluation_report
from solver.report.page import show
from solver.report.size import size_report
from solver.report.validation import validation_report

__all__ = [
    "answer_report",
    "catalog_report",
    "check_report",
    "evaluation_report",
    "show",
    "size_report",
    "validation_report",
]
