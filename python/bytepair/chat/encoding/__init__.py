"""Text with spans -> ids and labels."""
