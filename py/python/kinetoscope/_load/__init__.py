"""Reads files into traces, and folders into jobs."""
