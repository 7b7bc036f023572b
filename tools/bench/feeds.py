"""Seeded input tensors for a reference model, by the shapes and types in models.json.

The same (model, seed) gives the same arrays everywhere, so two runtimes see the same bytes.
"""
import numpy as np

import models


def make(name, seed=0):
    """{input name: array} for model `name`: normal noise, or integers in [0, below)."""
    rng, out = np.random.default_rng(seed), {}
    for key, feed in models.rows_named([name])[0]["feeds"].items():
        if np.issubdtype(np.dtype(feed["dtype"]), np.integer):
            array = rng.integers(0, feed["below"], feed["shape"])
        else:
            array = rng.standard_normal(feed["shape"])
        out[key] = array.astype(feed["dtype"])
    return out
