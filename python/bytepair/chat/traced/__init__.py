"""Strings, numbers and containers that know which part of a chat they come from."""
