"""What a user reads of an error, on the console and in a notebook."""
