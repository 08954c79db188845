"""What ranks said to each other, said again: `ks.replay_comms` and `kinetoscope replay-comms`."""
