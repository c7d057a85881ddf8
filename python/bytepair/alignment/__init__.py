"""Two tokenizers on one text: which tokens cover the same text, and which tokens of the vocabularies mean the same."""
