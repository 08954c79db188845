"""Recording inside training frameworks. Each module imports its framework.

::

    from kinetoscope.callbacks.lightning import Profile

    Trainer(callbacks=[Profile("traces", wait=1, warmup=1, active=3)])
"""
