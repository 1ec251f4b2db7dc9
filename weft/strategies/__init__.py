"""Distribution strategies: one model, built for each of several devices or workers, whose gradients are brought together."""
