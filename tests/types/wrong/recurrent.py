"""What a type checker has to refuse about recurrent networks, loops, embeddings and tensor arrays."""

import weft as tf

words = tf.placeholder(tf.int32, [None, 7])
cell = tf.nn.rnn_cell.LSTMCell(8)
inputs = tf.zeros([2, 7, 8])
tf.nn.rnn_cell.LSTMCel(8)  # E: attr-defined, reportAttributeAccessIssue
tf.nn.rnn_cell.LSTMCell()  # E: call-arg, reportCallIssue
tf.nn.rnn_cell.BasicLSTMCell(num_unit=8)  # E: call-arg, reportCallIssue
tf.nn.rnn_cell.GRUCell("eight")  # E: arg-type, reportArgumentType
tf.nn.rnn_cell.MultiRNNCell()  # E: call-arg, reportCallIssue
tf.nn.rnn_cell.MultiRNNCell([cell], tuple_state=True)  # E: call-arg, reportCallIssue
tf.nn.rnn_cell.DropoutWrapper(cell, keep_prob=0.5)  # E: call-arg, reportCallIssue
cell.zero_state(2)  # E: call-arg, reportCallIssue
cell.state_sizes  # E: attr-defined, reportAttributeAccessIssue
tf.nn.dynamic_rnn(cell)  # E: call-arg, reportCallIssue
tf.nn.dynamic_rnn(cell, inputs, initial=None)  # E: call-arg, reportCallIssue
tf.nn.bidirectional_dynamic_rnn(cell, inputs)  # E: call-arg, reportCallIssue
tf.nn.static_rnn(cell)  # E: call-arg, reportCallIssue
tf.nn.embedding_lookup(words)  # E: call-arg, reportCallIssue
tf.nn.embeding_lookup(inputs, words)  # E: attr-defined, reportAttributeAccessIssue
tf.nn.dropout()  # E: call-arg, reportCallIssue
tf.nn.sampled_softmax_loss(inputs, inputs)  # E: call-arg, reportCallIssue
tf.nn.nce_loss(inputs, inputs, words, inputs)  # E: call-arg, reportCallIssue
tf.contrib.seq2seq.sequence_loss(inputs, words)  # E: call-arg, reportCallIssue
tf.contrib.seq2seq.BasicDecode(cell)  # E: attr-defined, reportAttributeAccessIssue
tf.TensorArray()  # E: call-arg, reportCallIssue
tf.TensorArray(tf.float32, length=3)  # E: call-arg, reportCallIssue
tf.TensorArray(tf.float32, size=3).writes(0, 1.0)  # E: attr-defined, reportAttributeAccessIssue
tf.TensorArray(tf.float32, size=3).write(0)  # E: call-arg, reportCallIssue
tf.TensorArray(tf.float32, size=3).stack().nme  # E: attr-defined, reportAttributeAccessIssue
tf.map_fn(lambda x: x)  # E: call-arg, reportCallIssue
tf.map_fn(3, words)  # E: arg-type, reportArgumentType
tf.scan(lambda a, x: a)  # E: call-arg, reportCallIssue
tf.cond(words > 0, 3, 4)  # E: arg-type, reportArgumentType
tf.case()  # E: call-arg, reportCallIssue
tf.sequence_mask()  # E: call-arg, reportCallIssue
tf.nn.max_pool(inputs, 2)  # E: call-arg, reportCallIssue
tf.nn.top_k()  # E: call-arg, reportCallIssue
tf.clip_by_global_norm([inputs])  # E: call-arg, reportCallIssue
tf.gradients(inputs)  # E: call-arg, reportCallIssue
