"""Files: where bytes come from, and where they go."""
