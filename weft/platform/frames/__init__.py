"""The frames of a traceback: whose they are, and the expression at which one failed."""
