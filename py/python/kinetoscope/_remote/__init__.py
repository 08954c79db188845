"""Reads and analyses the ranks of a job in the workers of an executor."""
