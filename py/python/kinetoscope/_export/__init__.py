"""Export of tables and traces to other tools, and SQL."""
