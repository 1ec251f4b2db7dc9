"""tf.data: datasets and iterators. This module only re-exports."""

from __future__ import annotations

from weft.api.data import experimental as experimental
from weft.data.dataset import Dataset as Dataset
from weft.data.dataset import get_output_classes as get_output_classes
from weft.data.dataset import get_output_shapes as get_output_shapes
from weft.data.dataset import get_output_types as get_output_types
from weft.data.dataset import make_initializable_iterator as make_initializable_iterator
from weft.data.dataset import make_one_shot_iterator as make_one_shot_iterator
from weft.data.iterator import Iterator as Iterator
from weft.data.options import Options as Options
from weft.data.readers import FixedLengthRecordDataset as FixedLengthRecordDataset
from weft.data.readers import TextLineDataset as TextLineDataset
from weft.data.readers import TFRecordDataset as TFRecordDataset
from weft.data.structure import DatasetSpec as DatasetSpec
