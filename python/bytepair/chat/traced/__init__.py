"""Traced values: strings, numbers and containers that record their origin, and the operations on them."""
