"""Text that a user names -> documents in batches: paths, URLs, archives, tables, iterators."""
