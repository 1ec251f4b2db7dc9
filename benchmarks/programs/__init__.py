"""What is measured, one family a file: each function measures one thing in its own fresh process."""
