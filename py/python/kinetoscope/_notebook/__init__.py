"""The timeline in a notebook, and the magics."""
