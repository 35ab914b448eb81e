"""Families of models: how the keys of a config become blocks."""
