"""Recorded operators: their calls, a plan to run them again, and benchmarks of one of them."""
