"""Control flow: branches, loops and the arrays that loops fill, and nodes that only order others."""
