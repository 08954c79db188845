"""From files to traces."""
