"""Prompts cut anywhere: the trie of the tokens, the covers of texts, and healing."""
