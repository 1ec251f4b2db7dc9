"""Control flow of TensorFlow's first version (Switch, Merge, Enter, Exit ...) raised to If and While nodes."""
