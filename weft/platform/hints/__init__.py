"""What a program meant where it erred: its values, its words, and those that are near."""
