"""Runs the command `kinetoscope` as `python -m kinetoscope`."""

import sys

from kinetoscope._cli.main import main

sys.exit(main())
