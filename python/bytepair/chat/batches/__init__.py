"""Encoded examples -> batches: padding and packing."""
