"""Slow sweeps of random cases against the oracles."""
