"""Does it fit? How few devices hold a model, and what to change so that fewer do."""

from solver.fitting.fit import fit
from solver.fitting.record import Fit
from solver.fitting.request import Wanted

__all__ = ["Fit", "Wanted", "fit"]
