"""`python -m weft`, for environments without the `weft` script."""

from __future__ import annotations

import sys

from weft.cli.command_line import main

sys.exit(main())
