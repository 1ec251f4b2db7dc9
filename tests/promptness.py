"""How late may be what is to come at a moment, such as the error at a deadline.

The machine of a test run does other work, and may be several times slower: the tests allow ten seconds, and see to it that
nothing else would have brought about what they wait for in that time. `WEFT_TEST_LATE_S=0.5` has them show on an idle machine
what the documentation promises.
"""

from __future__ import annotations

import os
from typing import Final

LATE_S: Final = float(os.environ.get("WEFT_TEST_LATE_S", "10"))
