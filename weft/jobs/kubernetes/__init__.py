"""What Kubernetes is told of a job: manifests, as plain data."""
