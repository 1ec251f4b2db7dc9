"""tf.contrib.crf: linear-chain conditional random fields. This module only re-exports."""

from __future__ import annotations

from weft.models.crf import CrfDecodeBackwardRnnCell as CrfDecodeBackwardRnnCell
from weft.models.crf import CrfDecodeForwardRnnCell as CrfDecodeForwardRnnCell
from weft.models.crf import CrfForwardRnnCell as CrfForwardRnnCell
from weft.models.crf import crf_binary_score as crf_binary_score
from weft.models.crf import crf_decode as crf_decode
from weft.models.crf import crf_log_likelihood as crf_log_likelihood
from weft.models.crf import crf_log_norm as crf_log_norm
from weft.models.crf import crf_multitag_sequence_score as crf_multitag_sequence_score
from weft.models.crf import crf_sequence_score as crf_sequence_score
from weft.models.crf import crf_unary_score as crf_unary_score
from weft.models.crf import viterbi_decode as viterbi_decode
