"""`tf.compat.v1.distributions`: the distributions that TensorFlow 1 had; TensorFlow Probability has
the later ones."""

from ..._src.interop.version1 import face as _face
from ..._src.library.distributions.classes import (
    Bernoulli as Bernoulli,
    Categorical as Categorical,
    Multinomial as Multinomial,
)
from ..._src.library.distributions.dirichlet import (
    Dirichlet as Dirichlet,
    DirichletMultinomial as DirichletMultinomial,
)
from ..._src.library.distributions.distribution import (
    FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED as NOT_REPARAMETERIZED,
    Distribution as Distribution,
    ReparameterizationType as ReparameterizationType,
)
from ..._src.library.distributions.divergences import (
    RegisterKL as RegisterKL,
    kl_divergence as kl_divergence,
)
from ..._src.library.distributions.location_scale import (
    Laplace as Laplace,
    Normal as Normal,
    StudentT as StudentT,
    Uniform as Uniform,
)
from ..._src.library.distributions.positive import (
    Beta as Beta,
    Exponential as Exponential,
    Gamma as Gamma,
)

_face(__name__)
