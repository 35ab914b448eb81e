"""Predicted against published runs."""

from solver.validation.bands import Band, bands
from solver.validation.report import Report, validate

__all__ = ["Band", "Report", "bands", "validate"]
