"""Jobs whose ranks the workers of an executor read."""
