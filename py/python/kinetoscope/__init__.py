"""Kinetoscope: collect, read, question and share PyTorch traces."""

from kinetoscope.profile import profile as profile
