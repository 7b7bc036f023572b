"""The functions of gradient_cases.py on jax, in float64: values, gradients and second derivatives. Run by
jax's own Python; networks_peers.py compares.

  gradients_jax.py FILE      writes them as a pickle"""
import pickle
import sys

import gradient_cases
import jax
import jax.numpy as jnp
import numpy as np


def where(test, then, orelse, x):
    return jax.lax.cond(test, then, orelse, x)


def loop(count, body, first):
    return jax.lax.fori_loop(0, count, body, first)


def one(function, args):
    given = [jnp.asarray(a) for a in args]
    gradients = jax.jacrev(function, argnums=tuple(range(len(args))))(*given)
    # jax has no way back through a way back of fori_loop.
    looped = function.__name__.startswith("rounds")
    second = None if looped or len(args) > 1 else np.asarray(jax.hessian(function)(*given))
    return float(function(*given)), [np.asarray(g) for g in gradients], second


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    gradient_cases.xp, gradient_cases.where, gradient_cases.loop = jnp, where, loop
    with open(sys.argv[1], "wb") as file:
        pickle.dump([one(*case) for case in gradient_cases.CASES], file)
