"""Reports for people, rendered from the JSON of an answer alone: a list of tables and lines each."""

from solver.report.accuracy import accuracy_page
from solver.report.answer import answer_report
from solver.report.batch import batch_report, row_of
from solver.report.batch_page import batch_page
from solver.report.catalog import catalog_report, check_report, difference_report, record_report
from solver.report.chart import write_frontier
from solver.report.compare import comparison_report
from solver.report.evaluation import evaluation_report
from solver.report.fit import fit_report
from solver.report.frontier import frontier_report
from solver.report.page import show
from solver.report.progress import progress
from solver.report.scatter import write_scatter
from solver.report.size import size_report
from solver.report.validation import validation_report

__all__ = [
    "accuracy_page",
    "answer_report",
    "batch_page",
    "batch_report",
    "catalog_report",
    "check_report",
    "comparison_report",
    "difference_report",
    "evaluation_report",
    "fit_report",
    "frontier_report",
    "progress",
    "record_report",
    "row_of",
    "show",
    "size_report",
    "validation_report",
    "write_frontier",
    "write_scatter",
]
