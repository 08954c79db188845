"""Modules that have the paths of HTA's."""
