"""`tf.linalg`: products, norms, diagonals, solvers and decompositions of matrices."""

from ._src.interop.names import face as _face
from ._src.ops.clipping import global_norm as global_norm
from ._src.ops.creation import eye as eye
from ._src.ops.decompositions import (
    eig as eig,
    eigh as eigh,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    expm as expm,
    lu as lu,
    matrix_rank as matrix_rank,
    pinv as pinv,
    qr as qr,
    sqrtm as sqrtm,
    svd as svd,
)
from ._src.ops.diagonals import (
    band_part as band_part,
    diag as diag,
    diag_part as diag_part,
    set_diag as set_diag,
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
    trace as trace,
)
from ._src.ops.norms import norm as norm, normalize as normalize
from ._src.ops.products import (
    adjoint as adjoint,
    cross as cross,
    einsum as einsum,
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    matvec as matvec,
    tensordot as tensordot,
)
from ._src.ops.solvers import (
    cholesky as cholesky,
    cholesky_solve as cholesky_solve,
    det as det,
    inv as inv,
    logdet as logdet,
    lstsq as lstsq,
    slogdet as slogdet,
    solve as solve,
    triangular_solve as triangular_solve,
)
from ._src.ops.sums import l2_normalize as l2_normalize

_face(__name__)
