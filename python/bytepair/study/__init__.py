"""How tokenizers work and compare: ``explain``, ``compare`` and ``report``, as plain data."""
