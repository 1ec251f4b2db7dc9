"""What a server answers by gRPC and by its tensor channel: sessions of clients, calls of their steps, and to be stopped."""
