"""Predicted against published runs."""

from solver.validation.report import Report, validate

__all__ = ["Report", "validate"]
