"""The surroundings of a program: its entry point, flags, log and files; nothing here knows about graphs."""
