"""tf.contrib.legacy_seq2seq: models of sequences with nodes of their own for each step. This module only re-exports."""

from __future__ import annotations

from weft.models.seq2seq.unrolled import basic_rnn_seq2seq as basic_rnn_seq2seq
from weft.models.seq2seq.unrolled import embedding_rnn_decoder as embedding_rnn_decoder
from weft.models.seq2seq.unrolled import rnn_decoder as rnn_decoder
from weft.models.seq2seq.unrolled import tied_rnn_seq2seq as tied_rnn_seq2seq
from weft.models.seq2seq.unrolled_attention import attention_decoder as attention_decoder
from weft.models.seq2seq.unrolled_attention import embedding_attention_decoder as embedding_attention_decoder
from weft.models.seq2seq.unrolled_losses import model_with_buckets as model_with_buckets
from weft.models.seq2seq.unrolled_losses import sequence_loss as sequence_loss
from weft.models.seq2seq.unrolled_losses import sequence_loss_by_example as sequence_loss_by_example
from weft.models.seq2seq.unrolled_models import embedding_attention_seq2seq as embedding_attention_seq2seq
from weft.models.seq2seq.unrolled_models import embedding_rnn_seq2seq as embedding_rnn_seq2seq
from weft.models.seq2seq.unrolled_models import embedding_tied_rnn_seq2seq as embedding_tied_rnn_seq2seq
from weft.models.seq2seq.unrolled_models import one2many_rnn_seq2seq as one2many_rnn_seq2seq
