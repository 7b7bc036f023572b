"""Seeded input tensors for a reference model, by the shapes and types in models.json.

The same (model, seed) gives the same arrays everywhere, so two runtimes see the same bytes.
"""
import numpy as np

import models


def make(name, seed=0):
    """{input name: array} for model `name`: normal noise (times "scale"), integers in
    [0, below), or one value."""
    return of_feeds(models.rows_named([name])[0]["feeds"], seed)


def of_feeds(feeds, seed=0):
    """The same for a row's "feeds", whose shapes may have been changed."""
    rng, out = np.random.default_rng(seed), {}
    for key, feed in feeds.items():
        if "value" in feed:
            array = np.full(feed["shape"], feed["value"])
        elif np.issubdtype(np.dtype(feed["dtype"]), np.integer):
            array = rng.integers(0, feed["below"], feed["shape"])
        else:
            array = rng.standard_normal(feed["shape"]) * feed.get("scale", 1)
        out[key] = array.astype(feed["dtype"])
    return out
