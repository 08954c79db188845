"""Collection: what `ks.profile` records, and how it gets to its files without getting in the way of the training."""
