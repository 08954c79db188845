"""Modules that every other one may import."""
