"""Implements `ks.profile`."""
