"""Tokenizers where other libraries ask for one: a module a library, which imports that library and nothing else does."""
