"""The declaration of one op: its signature, its attributes, its traits."""
