"""tf.keras for programs that build graphs: layers, models, and their training on weft's sessions."""
