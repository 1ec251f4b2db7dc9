"""tf.examples.tutorials."""

from __future__ import annotations

from weft.examples.tutorials import mnist as mnist
