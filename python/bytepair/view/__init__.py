"""Pictures of what a tokenizer makes of text: pages for a browser, and text for a terminal."""
