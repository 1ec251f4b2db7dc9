"""Steps, sessions and clients that end badly, thousands of times, and what is left of them in the tasks."""
