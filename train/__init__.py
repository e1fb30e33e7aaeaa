"""Learning weights: the only package that needs torch."""
