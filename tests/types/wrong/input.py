"""What a type checker has to refuse about records, parsing, tables, images, queues of input, saved models and tf.keras."""

import weft as tf

image = tf.zeros([4, 4, 3])
tf.TFRecordReader().reads(3)  # E: attr-defined, reportAttributeAccessIssue
tf.TFRecordReader().read()  # E: call-arg, reportCallIssue
tf.train.string_input_producer()  # E: call-arg, reportCallIssue
tf.train.string_input_producer(["a"], epochs=2)  # E: call-arg, reportCallIssue
tf.train.shuffle_batch([image], 2)  # E: call-arg, reportCallIssue
tf.train.batch([image])  # E: call-arg, reportCallIssue
tf.train.batch([image], batch_size=2, thread=3)  # E: call-arg, reportCallIssue
tf.train.slice_input_producers([image])  # E: attr-defined, reportAttributeAccessIssue
tf.parse_single_example(b"")  # E: call-arg, reportCallIssue
tf.parse_single_example(b"", feature={})  # E: call-arg, reportCallIssue
tf.FixedLenFeature([])  # E: call-arg, reportCallIssue
tf.VarLenFeature()  # E: call-arg, reportCallIssue
tf.VarLenFeature(tf.int64, [])  # E: call-arg, reportCallIssue
tf.decode_csv(["1"])  # E: call-arg, reportCallIssue
tf.image.decode_pngs(b"")  # E: attr-defined, reportAttributeAccessIssue
tf.image.resize_images(image)  # E: call-arg, reportCallIssue
tf.image.random_flip_leftright(image)  # E: attr-defined, reportAttributeAccessIssue
tf.python_io.TFRecordWriter()  # E: call-arg, reportCallIssue
tf.python_io.TFRecordWriter("a").writes(b"")  # E: attr-defined, reportAttributeAccessIssue
tf.train.Feature(int_list=None)  # E: call-arg, reportCallIssue
tf.train.Example(feature=None)  # E: call-arg, reportCallIssue
tf.contrib.lookup.index_table_from_tensor(["a"], oov=1)  # E: call-arg, reportCallIssue
tf.contrib.lookup.MutableHashTable(tf.string, tf.int64)  # E: call-arg, reportCallIssue
tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, 0).inserts("a", 1)  # E: attr-defined, reportAttributeAccessIssue
tf.string_split()  # E: call-overload, reportCallIssue
tf.string_split(["a b"]).valuess  # E: attr-defined, reportAttributeAccessIssue
tf.SparseTensor([[0]], [1.0])  # E: call-arg, reportCallIssue
tf.SparseTensor([[0]], [1.0], [1]).to_dense()  # E: attr-defined, reportAttributeAccessIssue
tf.sparse_tensor_to_dense()  # E: call-arg, reportCallIssue
tf.gfile.GFile()  # E: call-arg, reportCallIssue
tf.gfile.Exist("a")  # E: attr-defined, reportAttributeAccessIssue
tf.gfile.Open("a").raed()  # E: attr-defined, reportAttributeAccessIssue
tf.saved_model.simple_save(tf.Session(), "dir", {})  # E: call-arg, reportCallIssue
tf.saved_model.loader.load(tf.Session(), "dir")  # E: call-arg, reportCallIssue
tf.saved_model.builder.SavedModelBuilder()  # E: call-arg, reportCallIssue
tf.saved_model.builder.SavedModelBuilder("dir").saves()  # E: attr-defined, reportAttributeAccessIssue
tf.saved_model.Builder("dir").add_meta_graph_and_variables(tf.Session())  # E: call-arg, reportCallIssue
tf.graph_util.convert_variables_to_constants(tf.Session(), None)  # E: call-arg, reportCallIssue
tf.import_graph_def()  # E: call-overload, reportCallIssue
tf.import_graph_def(tf.GraphDef(), return_element=["a"])  # E: call-overload, reportCallIssue
tf.GraphDef().nodes  # E: attr-defined, reportAttributeAccessIssue
tf.py_func(lambda x: x, [image])  # E: call-overload, reportCallIssue
tf.py_func(lambda x: x, [image], tf.float32).nme  # E: attr-defined, reportAttributeAccessIssue
tf.py_func(lambda x: x, [image], [tf.float32]).shape  # E: attr-defined, reportAttributeAccessIssue
tf.as_dtype()  # E: call-arg, reportCallIssue
tf.float32.nme  # E: attr-defined, reportAttributeAccessIssue
tf.flags.DEFINE_integers("a", 1, "")  # E: attr-defined, reportAttributeAccessIssue
tf.flags.DEFINE_integer("a")  # E: call-overload, reportCallIssue
tf.logging.set_verbosity()  # E: call-arg, reportCallIssue
tf.logging.inform("a")  # E: attr-defined, reportAttributeAccessIssue
tf.test.TestCases  # E: attr-defined, reportAttributeAccessIssue
model = tf.keras.Sequential()
model.adds(tf.keras.layers.Dense(3))  # E: attr-defined, reportAttributeAccessIssue
model.predicts(image)  # E: attr-defined, reportAttributeAccessIssue
model.save_weight("a")  # E: attr-defined, reportAttributeAccessIssue
tf.keras.layers.LSTM()  # E: call-arg, reportCallIssue
tf.keras.layers.Conv2D(32)  # E: call-arg, reportCallIssue
tf.keras.optimizers.Adams()  # E: attr-defined, reportAttributeAccessIssue
tf.keras.callbacks.EarlyStopping(patients=3)  # E: call-arg, reportCallIssue
tf.keras.models.load_models("a")  # E: attr-defined, reportAttributeAccessIssue
tf.app.runs()  # E: attr-defined, reportAttributeAccessIssue
tf.app.run(main=3)  # E: arg-type, reportArgumentType
