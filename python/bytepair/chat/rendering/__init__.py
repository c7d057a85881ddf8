"""Messages -> text with spans that record the origin of every character."""
