"""What `tf.compat.v2` is made of: names that the second version of the API shares with weft, and its forms of the others."""
