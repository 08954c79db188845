"""`python -m kinetoscope` is the command `kinetoscope`."""

import sys

from kinetoscope.cli import main

sys.exit(main())
