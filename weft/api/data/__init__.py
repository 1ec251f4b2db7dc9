"""tf.data: datasets and iterators. This module only re-exports."""

from __future__ import annotations

from weft.api.data import experimental as experimental
from weft.datasets import loops as _loops
from weft.datasets.dataset import Dataset as Dataset
from weft.datasets.inspection import get_output_classes as get_output_classes
from weft.datasets.inspection import get_output_shapes as get_output_shapes
from weft.datasets.inspection import get_output_types as get_output_types
from weft.datasets.inspection import make_initializable_iterator as make_initializable_iterator
from weft.datasets.inspection import make_one_shot_iterator as make_one_shot_iterator
from weft.datasets.iterator import Iterator as Iterator
from weft.datasets.leaves import DatasetSpec as DatasetSpec
from weft.datasets.options import Options as Options
from weft.datasets.readers import FixedLengthRecordDataset as FixedLengthRecordDataset
from weft.datasets.readers import TextLineDataset as TextLineDataset
from weft.datasets.readers import TFRecordDataset as TFRecordDataset
