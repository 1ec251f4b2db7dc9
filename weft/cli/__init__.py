"""The `weft` command: each subcommand is a module that adds its arguments to the parser and runs."""
