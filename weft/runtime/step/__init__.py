"""One run of a partition: its values (`dataflow`), what runs when (`step`), and a lone stage without either (`single_step`)."""
