"""`python -m weft.cli`: what `python -m weft` is."""

from __future__ import annotations

import sys

from weft.cli.command_line import main

sys.exit(main())
