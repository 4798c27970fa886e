"""`tf.linalg`: products, norms, diagonals, solvers and decompositions of matrices."""

from .._src.interop.names import face as _face
from .._src.library.linear_operator import (
    LinearOperator as LinearOperator,
    LinearOperatorAdjoint as LinearOperatorAdjoint,
    LinearOperatorBlockDiag as LinearOperatorBlockDiag,
    LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
    LinearOperatorCirculant as LinearOperatorCirculant,
    LinearOperatorCirculant2D as LinearOperatorCirculant2D,
    LinearOperatorCirculant3D as LinearOperatorCirculant3D,
    LinearOperatorComposition as LinearOperatorComposition,
    LinearOperatorDiag as LinearOperatorDiag,
    LinearOperatorFullMatrix as LinearOperatorFullMatrix,
    LinearOperatorHouseholder as LinearOperatorHouseholder,
    LinearOperatorIdentity as LinearOperatorIdentity,
    LinearOperatorInversion as LinearOperatorInversion,
    LinearOperatorKronecker as LinearOperatorKronecker,
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
    LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
    LinearOperatorPermutation as LinearOperatorPermutation,
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
    LinearOperatorToeplitz as LinearOperatorToeplitz,
    LinearOperatorTridiag as LinearOperatorTridiag,
    LinearOperatorZeros as LinearOperatorZeros,
)
from .._src.ops.clipping import global_norm as global_norm
from .._src.ops.creation import eye as eye
from .._src.ops.decompositions import (
    eig as eig,
    eigh as eigh,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    expm as expm,
    logm as logm,
    lu as lu,
    matrix_rank as matrix_rank,
    pinv as pinv,
    qr as qr,
    sqrtm as sqrtm,
    svd as svd,
)
from .._src.ops.diagonals import (
    band_part as band_part,
    diag as diag,
    diag_part as diag_part,
    set_diag as set_diag,
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
    trace as trace,
)
from .._src.ops.lu_factors import (
    lu_matrix_inverse as lu_matrix_inverse,
    lu_reconstruct as lu_reconstruct,
    lu_solve as lu_solve,
)
from .._src.ops.norms import norm as norm, normalize as normalize
from .._src.ops.products import (
    adjoint as adjoint,
    cross as cross,
    einsum as einsum,
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    matvec as matvec,
    tensordot as tensordot,
)
from .._src.ops.solvers import (
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
from .._src.ops.sums import l2_normalize as l2_normalize
from .._src.ops.tridiagonal import (
    banded_triangular_solve as banded_triangular_solve,
    eigh_tridiagonal as eigh_tridiagonal,
    tridiagonal_matmul as tridiagonal_matmul,
    tridiagonal_solve as tridiagonal_solve,
)
from . import experimental as experimental

_face(__name__)
