"""derivative_cases.py on jax, in float64. Loops and recursion run by Python. Run by jax's own Python;
derivatives_peers.py compares.

  derivatives_jax.py FILE      writes them as a pickle"""
import pickle
import sys
import types

import derivative_cases as cases
import jax
import jax.numpy as jnp
import numpy as np


def loop(count, body, first):
    for i in range(count):
        first = body(i, first)
    return first


def renamed(function):
    return lambda f, wrt=0, has_aux=False: function(f, argnums=wrt, has_aux=has_aux)



def one(function, args):
    return [np.asarray(v) for v in jax.tree_util.tree_leaves(function(*[jnp.asarray(a) for a in args]))]


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    cases.xp = cases.gradient_cases.xp = jnp
    cases.gradient_cases.where, cases.gradient_cases.loop = lambda *a: jax.lax.cond(*a), loop
    cases.d = types.SimpleNamespace(
        grad=renamed(jax.grad), value_and_grad=renamed(jax.value_and_grad), vjp=jax.vjp, jvp=jax.jvp,
        hessian=jax.hessian, stop_gradient=jax.lax.stop_gradient, custom_vjp=jax.custom_vjp,
        where=lambda *a: jax.lax.cond(*a), loop=loop, count=lambda n: n)
    found = [one(*case) for case in cases.CASES]
    orders = [one(lambda *a, f=f: cases.orders(f, a), args) for f, args in cases.gradient_cases.CASES]
    with open(sys.argv[1], "wb") as file:
        pickle.dump((found, orders), file)
