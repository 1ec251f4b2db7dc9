"""All ops by name, and the forms in which they are declared to others."""
