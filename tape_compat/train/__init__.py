"""`tf.train`: checkpoints, and examples as protocol buffers."""

from .._src.checkpoint.checkpoint import Checkpoint as Checkpoint
from .._src.checkpoint.manager import CheckpointManager as CheckpointManager
from .._src.checkpoint.options import CheckpointOptions as CheckpointOptions
from .._src.checkpoint.reader import (
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
from .._src.checkpoint.state import (
    checkpoints_iterator as checkpoints_iterator,
    get_checkpoint_state as get_checkpoint_state,
    latest_checkpoint as latest_checkpoint,
)
from .._src.checkpoint.views import (
    CheckpointView as CheckpointView,
    TrackableView as TrackableView,
)
from .._src.data.io.messages import (
    BytesList as BytesList,
    Example as Example,
    Feature as Feature,
    FeatureList as FeatureList,
    FeatureLists as FeatureLists,
    Features as Features,
    FloatList as FloatList,
    Int64List as Int64List,
    SequenceExample as SequenceExample,
)
from .._src.interop.names import face as _face
from .._src.library.clusters import (
    ClusterDef as ClusterDef,
    ClusterSpec as ClusterSpec,
    JobDef as JobDef,
    ServerDef as ServerDef,
)
from .._src.library.coordinator import Coordinator as Coordinator
from .._src.library.moving_average import (
    ExponentialMovingAverage as ExponentialMovingAverage,
)
from . import experimental as experimental

_face(__name__)
