"""Messages -> text with spans."""
