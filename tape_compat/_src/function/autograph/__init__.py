"""AutoGraph: Python's statements on tensors become ops of a traced function.

malt, which is TensorFlow's AutoGraph without TensorFlow, rewrites a function so that statements are
calls; here is what they call.
"""

from .entry import converted as converted
