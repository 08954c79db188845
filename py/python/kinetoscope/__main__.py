"""`python -m kinetoscope` is the command `kinetoscope`."""

import sys

from kinetoscope._cli.main import main

sys.exit(main())
