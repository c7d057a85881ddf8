"""Rendered text -> ids and labels: policies for reserved tokens, the trained spans, the cache of encodings."""
