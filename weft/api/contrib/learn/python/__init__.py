"""tf.contrib.learn.python: the path by which programs import what is inside. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.learn.python import learn as learn
