"""Random forests that grow while examples come in: trees and what their leaves know, as resources, and the ops on them."""
