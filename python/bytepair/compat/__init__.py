"""Compatibility with other libraries: one module or folder for each, the only place that imports it."""
