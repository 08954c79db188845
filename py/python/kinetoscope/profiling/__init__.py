"""Recording: `ks.profile`, from the loop to finished files."""
