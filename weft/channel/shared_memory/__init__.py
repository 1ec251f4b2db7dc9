"""Large payloads between two processes of one host: written once, read where they lie, and used again when given back."""
