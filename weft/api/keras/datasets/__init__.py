"""tf.keras.datasets: data sets that are fetched once."""

from __future__ import annotations

from weft.api.keras.datasets import boston_housing as boston_housing
from weft.api.keras.datasets import cifar10 as cifar10
from weft.api.keras.datasets import cifar100 as cifar100
from weft.api.keras.datasets import fashion_mnist as fashion_mnist
from weft.api.keras.datasets import imdb as imdb
from weft.api.keras.datasets import mnist as mnist
from weft.api.keras.datasets import reuters as reuters
