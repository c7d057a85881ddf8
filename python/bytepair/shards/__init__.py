"""Corpora -> token shards, in runs that can be killed and resumed."""
