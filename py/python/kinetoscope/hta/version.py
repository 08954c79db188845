"""Version of HTA with the same interface."""

__version_tuple__ = (0, 6, 1)
__version__ = ".".join(str(number) for number in __version_tuple__)
