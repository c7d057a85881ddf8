"""Benchmarks against the peers: results are checked before a time is printed."""
