"""tf.contrib.learn.python.learn.datasets.mnist: the digits from local files. This module only re-exports."""

from __future__ import annotations

from weft.examples.tutorials.mnist.idx import read_images as extract_images
from weft.examples.tutorials.mnist.idx import read_labels as extract_labels
from weft.examples.tutorials.mnist.input_data import DataSet as DataSet
from weft.examples.tutorials.mnist.input_data import read_data_sets as read_data_sets
