"""`tf.types.experimental`: what stands for tensors, and the classes of functions."""

from .._src.function.concrete import ConcreteFunction as ConcreteFunction
from .._src.function.function import (
    Function as Callable,
    Function as GenericFunction,
    Function as PolymorphicFunction,
)
from .._src.function.function_type import FunctionType as FunctionType
from .._src.function.trace_type import (
    SupportsTracingProtocol as SupportsTracingProtocol,
    TraceType as TraceType,
)
from .._src.interop.names import face as _face
from .._src.ops.declare import TensorLike as TensorLike

_face(__name__)
