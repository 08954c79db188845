"""Replays recorded communications: `ks.replay_comms` and `kinetoscope replay-comms`."""
