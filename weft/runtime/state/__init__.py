"""What a task keeps between steps: variables and other resources."""
