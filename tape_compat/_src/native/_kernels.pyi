"""What `kernels.c` has. The handlers are missing where the compiler is not GCC or Clang."""

from typing import Any

#: Floats of a vector of this processor; 0 where there are no kernels.
WIDTH: int

#: What `jax.ffi.register_ffi_target` takes.
CONVOLUTION: Any
DERIVATIVE: Any
LARGE_PAGES: Any
