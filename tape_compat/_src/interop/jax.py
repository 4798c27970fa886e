"""JAX functions as recorded ops, and tensors given to JAX functions by value."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import jax

from ..core import limits
from ..core.caches import Cache
from ..core.op import Op
from ..core.x64 import in_x64
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from ..values.variable import Variable


def as_op(
    fn: Callable[..., Any] | None = None,
    *,
    static_argnames: str | Iterable[str] = (),
    name: str | None = None,
) -> Any:
    """Make an op of a JAX function, so that tapes follow it.

    Args:
      fn: a pure function of arrays, or pytrees of them, to an array or a pytree of arrays. A
        `custom_vjp` or `custom_jvp` of its own is honoured.
      static_argnames: keyword arguments that are not arrays; they must be hashable.
      name: shown in errors and in the reasons of compiles; default the function's.
    Returns: a function of Tensors, Variables, arrays and numbers, to Tensors in the structure that
      `fn` returns. It is recorded, deferred and differentiable to any order like every op.
    Raises: TypeError for a static argument that is not hashable.

    The function sees JAX's 64-bit mode as the caller has set it, unless an input has 64 bits.

    >>> import jax.numpy as jnp
    >>> import tape_compat as tf
    >>> @tf.as_op
    ... def softsquare(x):
    ...     return jnp.square(x) / (1 + jnp.abs(x))
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = softsquare(x)
    >>> tape.gradient(y, x).numpy().item()
    0.9375
    """
    if fn is None:
        return functools.partial(as_op, static_argnames=static_argnames, name=name)
    static = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    title = name or getattr(fn, "__name__", type(fn).__name__)
    #: Structure of what the function gives, by what it was given.
    structures: Cache[tuple, Any] = Cache(None, limits.MAX_CLOSURES_PER_OP)

    def flat(*leaves: Any, structure: Any, options: tuple, wide: bool) -> tuple[Any, ...]:
        args, kwargs = jax.tree.unflatten(structure, leaves)
        out = in_x64(functools.partial(fn, **kwargs, **dict(options)), *args, on=wide)
        results, out_structure = jax.tree.flatten(out)
        structures.put((structure, options, wide, _kinds(leaves)), out_structure)
        return tuple(results)

    op = Op(flat, title)

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        options = tuple((k, kwargs.pop(k)) for k in static if k in kwargs)
        for key, value in options:
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"{title}(): the static argument `{key}` must be hashable, got {value!r}."
                ) from None
        leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=_is_leaf)
        tensors = tuple(x if x.__class__ is Tensor else convert(x) for x in leaves)
        wide = bool(jax.config.read("jax_enable_x64")) or any(
            x._aval.np_dtype.itemsize > (8 if x._aval.dtype.is_complex else 4) for x in tensors
        )
        closure = op.bind(structure=structure, options=options, wide=wide)
        avals = tuple(x._aval for x in tensors)
        closure.infer(avals)
        results = apply(closure, tensors)
        key = (structure, options, wide, _kinds(avals))
        found = structures.get(key)
        if found is None:  # it was dropped: it is found again with the shapes
            in_x64(jax.eval_shape, closure.fn, *(aval.struct for aval in avals))
            found = structures.get(key)
        return jax.tree.unflatten(found, list(results))

    call.op = op  # type: ignore[attr-defined]
    return call


def _is_leaf(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable))


def _kinds(values: Iterable[Any]) -> tuple:
    return tuple((tuple(v.shape), str(getattr(v, "np_dtype", v.dtype))) for v in values)


def _by_value(tensor: Any) -> tuple[tuple[Any], None]:
    return (tensor.__jax_array__(),), None


def _back(_: None, children: Iterable[Any]) -> Any:
    (array,) = children
    return array


# To `jax.jit` a Tensor is a pytree of one array, and what comes back is that array: so a JAX
# function works on the value. Tapes cannot follow; they note it (`GradientTape.escapes`).
jax.tree_util.register_pytree_node(Tensor, _by_value, _back)
jax.tree_util.register_pytree_node(Variable, _by_value, _back)
