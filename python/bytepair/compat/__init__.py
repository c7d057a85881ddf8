"""Tokenizers where other libraries ask for one: a module a library, which alone imports it."""
