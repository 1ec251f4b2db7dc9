"""Short training jobs that something happens to, and the rules by which their records are judged."""
