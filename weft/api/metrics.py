"""tf.metrics: values summed up over batches; each function returns the value and the operation that takes a batch in."""

from __future__ import annotations

from weft.models.metrics.counts import false_negatives as false_negatives
from weft.models.metrics.counts import false_positives as false_positives
from weft.models.metrics.counts import mean_iou as mean_iou
from weft.models.metrics.counts import mean_per_class_accuracy as mean_per_class_accuracy
from weft.models.metrics.counts import precision as precision
from weft.models.metrics.counts import recall as recall
from weft.models.metrics.counts import true_negatives as true_negatives
from weft.models.metrics.counts import true_positives as true_positives
from weft.models.metrics.mean import accuracy as accuracy
from weft.models.metrics.mean import mean as mean
from weft.models.metrics.mean import mean_absolute_error as mean_absolute_error
from weft.models.metrics.mean import mean_cosine_distance as mean_cosine_distance
from weft.models.metrics.mean import mean_relative_error as mean_relative_error
from weft.models.metrics.mean import mean_squared_error as mean_squared_error
from weft.models.metrics.mean import mean_tensor as mean_tensor
from weft.models.metrics.mean import percentage_below as percentage_below
from weft.models.metrics.mean import root_mean_squared_error as root_mean_squared_error
from weft.models.metrics.operating_points import sensitivity_at_specificity as sensitivity_at_specificity
from weft.models.metrics.operating_points import specificity_at_sensitivity as specificity_at_sensitivity
from weft.models.metrics.thresholds import auc as auc
from weft.models.metrics.thresholds import false_negatives_at_thresholds as false_negatives_at_thresholds
from weft.models.metrics.thresholds import false_positives_at_thresholds as false_positives_at_thresholds
from weft.models.metrics.thresholds import precision_at_thresholds as precision_at_thresholds
from weft.models.metrics.thresholds import recall_at_thresholds as recall_at_thresholds
from weft.models.metrics.thresholds import true_negatives_at_thresholds as true_negatives_at_thresholds
from weft.models.metrics.thresholds import true_positives_at_thresholds as true_positives_at_thresholds
from weft.models.metrics.top_k import average_precision_at_k as average_precision_at_k
from weft.models.metrics.top_k import precision_at_k as precision_at_k
from weft.models.metrics.top_k import precision_at_top_k as precision_at_top_k
from weft.models.metrics.top_k import recall_at_k as recall_at_k
from weft.models.metrics.top_k import recall_at_top_k as recall_at_top_k

# As earlier releases called them; type checkers take a renamed import for the module's private business.
sparse_average_precision_at_k = average_precision_at_k
sparse_precision_at_k = precision_at_k
