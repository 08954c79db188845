"""Reports, charts and tables as HTML."""
