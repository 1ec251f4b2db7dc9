"""Pruning: weights of small magnitude are taken out, more and more of them, as training goes on (Zhu and Gupta, 2017)."""
