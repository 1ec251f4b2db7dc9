"""The update rules as functions, by the names that TensorFlow gives them in training_ops."""

from __future__ import annotations

from weft.ops.training.apply_adagrad import adadelta, adagrad, adagrad_da, adagrad_v2, proximal_adagrad
from weft.ops.training.apply_adam import ada_max, adam, adam_with_amsgrad, add_sign, centered_rms_prop, power_sign, rms_prop
from weft.ops.training.apply_descent import gradient_descent, keras_momentum, momentum, proximal_gradient_descent
from weft.ops.training.apply_ftrl import ftrl, ftrl_v2

apply_ada_max = ada_max.dense
apply_adadelta = adadelta.dense
apply_adagrad = adagrad.dense
apply_adagrad_da = adagrad_da.dense
apply_adagrad_v2 = adagrad_v2.dense
apply_adam = adam.dense
apply_add_sign = add_sign.dense
apply_centered_rms_prop = centered_rms_prop.dense
apply_ftrl = ftrl.dense
apply_ftrl_v2 = ftrl_v2.dense
apply_gradient_descent = gradient_descent.dense
apply_momentum = momentum.dense
apply_power_sign = power_sign.dense
apply_proximal_adagrad = proximal_adagrad.dense
apply_proximal_gradient_descent = proximal_gradient_descent.dense
apply_rms_prop = rms_prop.dense
resource_apply_ada_max = ada_max.resource_dense
resource_apply_adadelta = adadelta.resource_dense
resource_apply_adagrad = adagrad.resource_dense
resource_apply_adagrad_da = adagrad_da.resource_dense
resource_apply_adagrad_v2 = adagrad_v2.resource_dense
resource_apply_adam = adam.resource_dense
resource_apply_adam_with_amsgrad = adam_with_amsgrad.resource_dense
resource_apply_add_sign = add_sign.resource_dense
resource_apply_centered_rms_prop = centered_rms_prop.resource_dense
resource_apply_ftrl = ftrl.resource_dense
resource_apply_ftrl_v2 = ftrl_v2.resource_dense
resource_apply_gradient_descent = gradient_descent.resource_dense
resource_apply_keras_momentum = keras_momentum.resource_dense
resource_apply_momentum = momentum.resource_dense
resource_apply_power_sign = power_sign.resource_dense
resource_apply_proximal_adagrad = proximal_adagrad.resource_dense
resource_apply_proximal_gradient_descent = proximal_gradient_descent.resource_dense
resource_apply_rms_prop = rms_prop.resource_dense
resource_sparse_apply_adadelta = adadelta.resource_sparse
resource_sparse_apply_adagrad = adagrad.resource_sparse
resource_sparse_apply_adagrad_da = adagrad_da.resource_sparse
resource_sparse_apply_adagrad_v2 = adagrad_v2.resource_sparse
resource_sparse_apply_centered_rms_prop = centered_rms_prop.resource_sparse
resource_sparse_apply_ftrl = ftrl.resource_sparse
resource_sparse_apply_ftrl_v2 = ftrl_v2.resource_sparse
resource_sparse_apply_keras_momentum = keras_momentum.resource_sparse
resource_sparse_apply_momentum = momentum.resource_sparse
resource_sparse_apply_proximal_adagrad = proximal_adagrad.resource_sparse
resource_sparse_apply_proximal_gradient_descent = proximal_gradient_descent.resource_sparse
resource_sparse_apply_rms_prop = rms_prop.resource_sparse
sparse_apply_adadelta = adadelta.sparse
sparse_apply_adagrad = adagrad.sparse
sparse_apply_adagrad_da = adagrad_da.sparse
sparse_apply_adagrad_v2 = adagrad_v2.sparse
sparse_apply_centered_rms_prop = centered_rms_prop.sparse
sparse_apply_ftrl = ftrl.sparse
sparse_apply_ftrl_v2 = ftrl_v2.sparse
sparse_apply_momentum = momentum.sparse
sparse_apply_proximal_adagrad = proximal_adagrad.sparse
sparse_apply_proximal_gradient_descent = proximal_gradient_descent.sparse
sparse_apply_rms_prop = rms_prop.sparse
