"""Experiments and pictures: benchmarks, trials, the gallery. Nothing here is part of the product."""
