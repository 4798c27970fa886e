"""What the compiler makes of a function, as text."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.export

from ..core.avals import Aval
from ..core.dimensions import Sizes
from ..core.dtypes import string
from ..core.errors import user_location
from ..core.op import Closure
from ..core.x64 import in_x64
from ..ops.random_keys import KEY
from ..values.capture import Drawn, Source
from ..values.variable import Handle, current
from .retracing import with_specs
from .signature import Bound
from .trace import Trace

_STAGES = ("hlo", "stablehlo", "optimized_hlo", "stablehlo_serialized", "hlo_serialized")
_REFUSED = ("optimized_hlo_serialized", "optimized_hlo_proto_serialized", "optimized_hlo_dot")

#: JAX's names of platforms where they are others.
_PLATFORMS = {"gpu": "cuda"}


def compiler_ir(trace: Trace, bound: Bound) -> Callable[..., str | bytes]:
    """A function of a stage, which gives what it is of a trace for arguments of these shapes.

    Raises: ValueError if a shape is not known whole.
    """
    trace.require_one_program("The program")
    shapes = [spec.shape for spec in with_specs(bound)[0] if spec.dtype is not string]
    if not all(shape.is_fully_defined() for shape in shapes):
        raise ValueError(
            f"Only support static input shape but got inputs = {list(trace.inputs)} "
            f"(at {user_location()})"
        )
    given: list[Any] = [tuple(shape.as_list()) for shape in shapes]
    sources = list(map(_aval, trace.captured.sources))
    closure: Closure = trace.captured.closure
    if trace.shapes is not None:
        sizes = Sizes.between(trace.shapes, trace.shapes_with(given, sources))
        if sizes is None:
            raise ValueError(f"{trace.graph.name} does not take {shapes} (at {user_location()})")
        closure = trace.closure_at(sizes)
    avals = [Aval.of(shape, x.dtype) for shape, x in zip(given, trace.inputs, strict=True)]
    structs = [aval.struct for aval in (*avals, *sources)]

    def generate(
        stage: str = "hlo", device_name: str | None = None, platform_name: str | None = None
    ) -> str | bytes:
        """The program at a stage: "hlo", "stablehlo" and "optimized_hlo" as text,
        "stablehlo_serialized" and "hlo_serialized" as bytes.

        Raises: ValueError for another stage.
        """
        if stage in _REFUSED:
            raise NotImplementedError(f"stage {stage!r} is not here; there are {list(_STAGES)}.")
        if stage not in _STAGES:
            raise ValueError(f"Invalid stage selected: '{stage}'. Valid values are: {_STAGES}")
        if device_name is not None:
            if platform_name is not None:
                raise ValueError(
                    "device_name and platform_name cannot be provided at the same time."
                )
            warnings.warn("device_name is being deprecated. Use platform_name.", stacklevel=2)
            platform_name = device_name.rstrip(":0123456789").rpartition(":")[2].strip("/")
        return in_x64(_text, trace.graph.name, closure, structs, stage, platform_name)

    return generate


def _aval(source: Source) -> Aval:
    """The aval of what a source gives."""
    if isinstance(source, Drawn):
        return KEY
    return current(source)._aval if isinstance(source, Handle) else source._aval


def _text(
    name: str, closure: Closure, structs: list[Any], stage: str, platform: str | None
) -> str | bytes:
    def program(*arrays: Any) -> tuple[Any, ...]:
        return closure.fn(*arrays)

    program.__name__ = program.__qualname__ = name
    jitted = jax.jit(program)
    platforms = None
    if platform is not None:
        platforms = (_PLATFORMS.get(platform.lower(), platform.lower()),)
    if stage == "stablehlo_serialized":
        return jax.export.export(jitted, platforms=platforms)(*structs).mlir_module_serialized
    traced = jitted.trace(*structs)
    lowered = traced.lower() if platforms is None else traced.lower(lowering_platforms=platforms)
    if stage == "stablehlo":
        return lowered.as_text()
    if stage == "hlo":
        return lowered.as_text(dialect="hlo")
    if stage == "hlo_serialized":
        module: Any = lowered.compiler_ir(dialect="hlo")
        return module.as_serialized_hlo_module_proto()
    return lowered.compile().as_text() or ""
