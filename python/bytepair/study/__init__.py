"""Explaining and comparing tokenizers: ``explain``, ``compare`` and ``report``, as plain data."""
