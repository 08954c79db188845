"""The command `kinetoscope`."""
