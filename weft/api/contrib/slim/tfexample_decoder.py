"""tf.contrib.slim.tfexample_decoder: items of tf.train.Example records. This module only re-exports."""

from __future__ import annotations

from weft.training.input.example_decoder import BackupHandler as BackupHandler
from weft.training.input.example_decoder import BoundingBox as BoundingBox
from weft.training.input.example_decoder import ItemHandler as ItemHandler
from weft.training.input.example_decoder import ItemHandlerCallback as ItemHandlerCallback
from weft.training.input.example_decoder import LookupTensor as LookupTensor
from weft.training.input.example_decoder import SparseTensor as SparseTensor
from weft.training.input.example_decoder import Tensor as Tensor
from weft.training.input.example_decoder import TFExampleDecoder as TFExampleDecoder
from weft.training.input.image_item import Image as Image
