"""The input of replicas: datasets whose batches are dealt out to them."""
