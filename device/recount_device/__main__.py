"""`python -m recount_device`: the same as the command `recount-device`."""

import sys

from recount_device.cli import main

sys.exit(main())
