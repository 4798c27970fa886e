"""`tf.compat.v1.train`: optimizers, learning rates, the step count, the events of files."""

from ..._src.checkpoint.checkpoint import (
    Checkpoint as Checkpoint,
)
from ..._src.diagnostics.summary.iterate import summary_iterator as summary_iterator
from ..._src.interop.version1 import face as _face
from ..._src.library.version1.checkpoints import (
    generate_checkpoint_state_proto as generate_checkpoint_state_proto,
    get_checkpoint_mtimes as get_checkpoint_mtimes,
    init_from_checkpoint as init_from_checkpoint,
    remove_checkpoint as remove_checkpoint,
    update_checkpoint_state as update_checkpoint_state,
)
from ..._src.library.version1.decays import (
    cosine_decay as cosine_decay,
    cosine_decay_restarts as cosine_decay_restarts,
    exponential_decay as exponential_decay,
    inverse_time_decay as inverse_time_decay,
    linear_cosine_decay as linear_cosine_decay,
    natural_exp_decay as natural_exp_decay,
    noisy_linear_cosine_decay as noisy_linear_cosine_decay,
    piecewise_constant as piecewise_constant,
    piecewise_constant_decay as piecewise_constant_decay,
    polynomial_decay as polynomial_decay,
)
from ..._src.library.version1.global_step import (
    assert_global_step as assert_global_step,
    create_global_step as create_global_step,
    get_global_step as get_global_step,
    get_or_create_global_step as get_or_create_global_step,
    global_step as global_step,
)
from ..._src.library.version1.optimizer import Optimizer as Optimizer
from ..._src.library.version1.optimizers import (
    AdadeltaOptimizer as AdadeltaOptimizer,
    AdagradDAOptimizer as AdagradDAOptimizer,
    AdagradOptimizer as AdagradOptimizer,
    AdamOptimizer as AdamOptimizer,
    FtrlOptimizer as FtrlOptimizer,
    GradientDescentOptimizer as GradientDescentOptimizer,
    MomentumOptimizer as MomentumOptimizer,
    ProximalAdagradOptimizer as ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
    RMSPropOptimizer as RMSPropOptimizer,
)
from ..._src.library.version1.others import (
    NewCheckpointReader as NewCheckpointReader,
    checkpoint_exists as checkpoint_exists,
)
from ..._src.library.version1.saver import Saver as Saver

_face(__name__)
