"""Limits of devices and of valid traces."""

CUDA_MAX_LAUNCH_QUEUE_PER_STREAM: int = 1024
"""Launches that a CUDA stream queues before the next launch blocks, in kernels."""

MAX_EVENT_DURATION_US: int = 7 * 24 * 60 * 60 * 1_000_000
"""Longest valid duration of an event, in µs: 7 days.

Overflowing device timestamps exceed this limit.
"""
