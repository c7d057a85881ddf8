"""``tok(...)``: texts and pairs -> model inputs, with truncation, padding, post-processing and offsets."""
