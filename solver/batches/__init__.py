"""Many problems in one call: variants, who answers them, and where the results stand."""

from solver.batches.answers import answers
from solver.batches.journal import records
from solver.batches.run import Run, Seats, variants_of
from solver.batches.table import write_table

__all__ = ["Run", "Seats", "answers", "records", "variants_of", "write_table"]
