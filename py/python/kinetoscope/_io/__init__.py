"""Files, archives and addresses that traces are read from and written to."""
