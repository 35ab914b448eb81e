"""The search: every layout on every pool of machines, priced, ranked, proved; or why nothing fits."""

from solver.search.solve import solve_problem

__all__ = ["solve_problem"]
