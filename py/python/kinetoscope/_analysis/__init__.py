"""Requests to the core, and results."""
