"""tf.contrib.factorization: k-means, mixtures of Gaussians, factors of matrices. This module only re-exports."""

from __future__ import annotations

from weft.estimators.clustering.estimator import KMeansClustering as KMeansClustering
from weft.estimators.clustering.k_means import COSINE_DISTANCE as COSINE_DISTANCE
from weft.estimators.clustering.k_means import SQUARED_EUCLIDEAN_DISTANCE as SQUARED_EUCLIDEAN_DISTANCE
from weft.estimators.clustering.k_means import KMeans as KMeans
from weft.estimators.clustering.mixture import GmmAlgorithm as GmmAlgorithm
from weft.estimators.clustering.mixture import gmm as gmm
from weft.estimators.clustering.mixture_estimator import GMM as GMM
from weft.estimators.clustering.starts import KMEANS_PLUS_PLUS_INIT as KMEANS_PLUS_PLUS_INIT
from weft.estimators.clustering.starts import RANDOM_INIT as RANDOM_INIT
from weft.estimators.factorization.wals_estimator import WALSMatrixFactorization as WALSMatrixFactorization
from weft.estimators.factorization.wals_model import WALSModel as WALSModel
