"""Tables, SQL and traces that leave for other tools."""
