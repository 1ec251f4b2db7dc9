"""tf.contrib.kernel_methods: kernels approximated by maps of features. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.kernel_classifier import KernelLinearClassifier as KernelLinearClassifier
from weft.models.kernel_methods.multiclass_hinge import sparse_multiclass_hinge_loss as sparse_multiclass_hinge_loss
from weft.models.kernel_methods.random_fourier_features import RandomFourierFeatureMapper as RandomFourierFeatureMapper
