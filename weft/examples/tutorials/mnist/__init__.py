"""tf.examples.tutorials.mnist: the handwritten digits, and the small model that tutorials train on them."""

from __future__ import annotations

from weft.examples.tutorials.mnist import input_data as input_data
from weft.examples.tutorials.mnist import mnist as mnist
