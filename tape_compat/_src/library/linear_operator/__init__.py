"""`tf.linalg.LinearOperator` and its kin: matrices that are known by what they do."""

from . import overrides as overrides
from .base import LinearOperator as LinearOperator
from .block_diag import LinearOperatorBlockDiag as LinearOperatorBlockDiag
from .block_triangular import (
    LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
)
from .circulant import (
    LinearOperatorCirculant as LinearOperatorCirculant,
    LinearOperatorCirculant2D as LinearOperatorCirculant2D,
    LinearOperatorCirculant3D as LinearOperatorCirculant3D,
)
from .dense import (
    LinearOperatorFullMatrix as LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from .derived import (
    LinearOperatorAdjoint as LinearOperatorAdjoint,
    LinearOperatorComposition as LinearOperatorComposition,
    LinearOperatorInversion as LinearOperatorInversion,
)
from .diagonal import LinearOperatorDiag as LinearOperatorDiag
from .identity import (
    LinearOperatorIdentity as LinearOperatorIdentity,
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
)
from .kronecker import LinearOperatorKronecker as LinearOperatorKronecker
from .low_rank_update import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
from .permutation import (
    LinearOperatorHouseholder as LinearOperatorHouseholder,
    LinearOperatorPermutation as LinearOperatorPermutation,
)
from .toeplitz import LinearOperatorToeplitz as LinearOperatorToeplitz
from .tridiag import LinearOperatorTridiag as LinearOperatorTridiag
from .zeros import LinearOperatorZeros as LinearOperatorZeros
