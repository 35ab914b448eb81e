"""Predicted against published runs."""

from solver.validation.bands import bands_of, bands_text
from solver.validation.report import Report, validate

__all__ = ["Report", "bands_of", "bands_text", "validate"]
