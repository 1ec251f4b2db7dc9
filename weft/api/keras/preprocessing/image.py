"""tf.keras.preprocessing.image: pictures as arrays, and batches of pictures changed at random. This module only re-exports."""

from __future__ import annotations

from weft.networks.preprocessing.image_batches import DirectoryIterator as DirectoryIterator
from weft.networks.preprocessing.image_batches import Iterator as Iterator
from weft.networks.preprocessing.image_batches import NumpyArrayIterator as NumpyArrayIterator
from weft.networks.preprocessing.image_generator import ImageDataGenerator as ImageDataGenerator
from weft.networks.preprocessing.picture_transforms import apply_affine_transform as apply_affine_transform
from weft.networks.preprocessing.picture_transforms import apply_brightness_shift as apply_brightness_shift
from weft.networks.preprocessing.picture_transforms import apply_channel_shift as apply_channel_shift
from weft.networks.preprocessing.picture_transforms import random_brightness as random_brightness
from weft.networks.preprocessing.picture_transforms import random_channel_shift as random_channel_shift
from weft.networks.preprocessing.picture_transforms import random_rotation as random_rotation
from weft.networks.preprocessing.picture_transforms import random_shear as random_shear
from weft.networks.preprocessing.picture_transforms import random_shift as random_shift
from weft.networks.preprocessing.picture_transforms import random_zoom as random_zoom
from weft.networks.preprocessing.pictures import array_to_img as array_to_img
from weft.networks.preprocessing.pictures import img_to_array as img_to_array
from weft.networks.preprocessing.pictures import load_img as load_img
from weft.networks.preprocessing.pictures import save_img as save_img
