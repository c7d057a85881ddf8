"""Text -> chunks within a token budget."""
