"""What Keras keeps beside a graph: names, the learning phase, sessions, defaults."""
