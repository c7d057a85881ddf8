"""A tokenizer as data: its spec, the steps of its stages, its split patterns, and the rules for valid data."""
