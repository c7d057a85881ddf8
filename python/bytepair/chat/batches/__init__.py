"""Examples -> batches: padding and packing."""
