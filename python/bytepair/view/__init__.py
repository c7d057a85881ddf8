"""Views of tokenizers and texts: pages for a browser, HTML for notebooks, and text for a terminal."""
