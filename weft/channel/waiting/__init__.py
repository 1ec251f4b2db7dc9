"""Who reads a connection while somebody waits for what it brings: waiting threads themselves, or a crew of readers."""
