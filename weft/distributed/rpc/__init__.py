"""gRPC: channels and their options, threads, status codes, the health service."""
