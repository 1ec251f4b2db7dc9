"""Model building on top of the ops: layers, losses, metrics, recurrent networks, feature columns."""
