"""Counts of text -> vocabularies: byte pairs, WordPiece, Unigram; and vocabularies extended or pruned."""
