"""One problem on every device, family or provider side by side: the best plan of each, and what it would take
to win.
"""

from solver.comparing.compare import compare_problem
from solver.comparing.record import Comparison

__all__ = ["Comparison", "compare_problem"]
