"""Recordings for training frameworks: a module for each, which imports it.

::

    from kinetoscope.callbacks.lightning import Profile

    Trainer(callbacks=[Profile("traces", wait=1, warmup=1, active=3)])
"""
