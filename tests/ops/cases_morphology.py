"""Grey-scale dilation, compared with windows that are looked at one by one."""

from __future__ import annotations

import numpy as np

from weft.testing.op_checks import Case

_RANDOM = np.random.RandomState(0)
# Sums that are far apart: a finite difference must not change which of them is the greatest.
_IMAGES = _RANDOM.permutation(2 * 5 * 6 * 2).reshape(2, 5, 6, 2).astype(np.float32)
_FILTER = _RANDOM.permutation(3 * 2 * 2).reshape(3, 2, 2).astype(np.float32) / 16


def _dilated(strides, rates, before, shape):
    def expected(images, filters):
        made = np.full((images.shape[0], *shape, images.shape[3]), -np.inf)
        for place in np.ndindex(*shape, *filters.shape[:2]):
            row, column = (place[i] * strides[i] - before[i] + place[2 + i] * rates[i] for i in (0, 1))
            if 0 <= row < images.shape[1] and 0 <= column < images.shape[2]:
                found = images[:, row, column] + filters[place[2], place[3]]
                made[:, place[0], place[1]] = np.maximum(made[:, place[0], place[1]], found)
        return made

    return expected


CASES = [
    Case("Dilation2D", [_IMAGES, _FILTER], {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"},
         expected=_dilated((1, 1), (1, 1), (1, 0), (5, 6)), variant="same"),
    Case("Dilation2D", [_IMAGES, _FILTER], {"strides": [1, 1, 2, 1], "rates": [1, 2, 3, 1], "padding": "VALID"},
         expected=_dilated((1, 2), (2, 3), (0, 0), (1, 2)), variant="valid"),
]  # fmt: skip
