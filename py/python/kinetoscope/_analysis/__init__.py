"""Questions to the core, and its answers."""
