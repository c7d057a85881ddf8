"""Drawing primitives: visible characters, counts in words, terminal columns, SVG charts."""
