"""tf.contrib.learn.datasets.mnist: the digits from local files. This module only re-exports."""

from __future__ import annotations

from weft.examples.tutorials.mnist.idx import read_images as _read_images
from weft.examples.tutorials.mnist.idx import read_labels as _read_labels
from weft.examples.tutorials.mnist.input_data import DataSet as DataSet
from weft.examples.tutorials.mnist.input_data import read_data_sets as read_data_sets

# Under a name of its own: type checkers take a renamed import for the module's private business.
extract_images = _read_images
extract_labels = _read_labels
