"""`tf.compat.v1.profiler`: float operations of functions, as TensorFlow counts them."""

from __future__ import annotations

import copy
import re
import sys
from typing import Any, NoReturn

from ...core import errors
from ...function.graph import OUTSIDE, FuncGraph
from ...function.grouping import get_default_graph
from ...values.operation import named
from .float_operations import float_operations

_EVERYTHING = {
    "min_bytes": 0,
    "min_micros": 0,
    "min_params": 0,
    "min_float_ops": 0,
    "min_occurrence": 0,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "trim_name_regexes": [],
    "show_name_regexes": [".*"],
    "hide_name_regexes": [],
    "account_displayed_op_only": False,
    "select": ["micros"],
    "step": -1,
    "output": "stdout",
}


class ProfileOptionBuilder:
    """Makes the options of `profile`, a dict.

    options: those to begin with.

    >>> import tape_compat as tf
    >>> builder = tf.compat.v1.profiler.ProfileOptionBuilder
    >>> options = builder(builder.float_operation()).with_empty_output().build()
    >>> options["select"], options["output"]
    (['float_ops'], 'none')
    """

    def __init__(self, options: dict[str, Any] | None = None):
        given = {"max_depth": 100, **_EVERYTHING} if options is None else options
        self._options: dict[str, Any] = copy.deepcopy(given)

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """Options that show float operations."""
        own = {"min_float_ops": 1, "order_by": "float_ops", "select": ["float_ops"]}
        shown = {**_EVERYTHING, "account_displayed_op_only": True}
        return copy.deepcopy({"max_depth": 10000, **shown, **own})

    @staticmethod
    def trainable_variables_parameter() -> NoReturn:
        """Options that show parameters. Raises: NotImplementedError, always."""
        _refuse("trainable_variables_parameter")

    @staticmethod
    def time_and_memory(**_: Any) -> NoReturn:
        """Options that show what a run took. Raises: NotImplementedError, always."""
        _refuse("time_and_memory")

    def build(self) -> dict[str, Any]:
        """The options."""
        return copy.deepcopy(self._options)

    def _with(self, **options: Any) -> ProfileOptionBuilder:
        self._options.update(copy.deepcopy(options))
        return self

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Show so many levels of names; there is one here."""
        return self._with(max_depth=max_depth)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Show only what has as many float operations."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: list[str]) -> ProfileOptionBuilder:
        """Count only kernels whose whole names match one of these."""
        return self._with(account_type_regexes=account_type_regexes)

    def with_node_names(
        self,
        start_name_regexes: list[str] | None = None,
        show_name_regexes: list[str] | None = None,
        hide_name_regexes: list[str] | None = None,
        trim_name_regexes: list[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Show only names that match as a whole."""
        given = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._with(**{name: each for name, each in given.items() if each is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Whether the total is of what is shown."""
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Print nothing."""
        return self._with(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Print the result."""
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Write the result into a file."""
        return self._with(output=f"file:outfile={outfile}")

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Order by "name" or "float_ops"."""
        return self._with(order_by=attribute)

    def select(self, attributes: list[str]) -> ProfileOptionBuilder:
        """Show these: there is "float_ops"."""
        return self._with(select=attributes)

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Of a step of several; of a function there is one."""
        return self._with(step=step)


class GraphNodeProto:
    """Float operations of an instruction: its own, and in `total_float_ops` those of `children`
    too."""

    def __init__(self, name: str, float_ops: int = 0, total_float_ops: int | None = None):
        self.name, self.float_ops = name, float_ops
        self.total_float_ops = float_ops if total_float_ops is None else total_float_ops
        self.children: list[Any] = []

    def __repr__(self) -> str:
        return f"{self.name} ({self.float_ops}/{self.total_float_ops} flops)"


class MultiGraphNodeProto(GraphNodeProto):
    """The same of all instructions of a kernel, which `graph_nodes` lists; `children` has the
    kernel that follows."""

    def __init__(self, name: str, float_ops: int = 0, total_float_ops: int | None = None):
        super().__init__(name, float_ops, total_float_ops)
        self.graph_nodes: list[GraphNodeProto] = []


def _refuse(what: str) -> NoReturn:
    raise NotImplementedError(
        f"tf.compat.v1.profiler.profile: {what}: float operations are counted, of all instructions "
        f"of a function (at {errors.user_location()})"
    )


def profile(
    graph: Any = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: Any = 0,
) -> GraphNodeProto:
    """Count the float operations of a function by TensorFlow's rules.

    Args:
      graph: of the function: `f.get_concrete_function(...).graph`.
      run_meta: of a run; there is nothing in it.
      cmd: "scope" for a list of instructions, "op" for one of kernels.
      options: made by `ProfileOptionBuilder.float_operation()`.
    Raises: InvalidArgumentError for another `cmd`; NotImplementedError for what is not counted.

    >>> import tape_compat as tf
    >>> f = tf.function(lambda x: tf.nn.softmax(x @ x))
    >>> graph = f.get_concrete_function(tf.TensorSpec([3, 3])).graph
    >>> tf.compat.v1.profiler.profile(
    ...     graph,
    ...     options=tf.compat.v1.profiler.ProfileOptionBuilder(
    ...         tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
    ...     )
    ...     .with_empty_output()
    ...     .build(),
    ... ).total_float_ops
    99
    """
    if cmd not in ("scope", "op", "graph", "code"):
        raise errors.InvalidArgumentError(None, None, f"unknown cmd: {cmd}\n")
    if cmd in ("graph", "code") or op_log is not None:
        _refuse(f"cmd={cmd!r}" if op_log is None else "op_log")
    chosen = _checked(options)
    graph = get_default_graph() if graph is None else graph
    if not isinstance(graph, FuncGraph) and graph is not OUTSIDE[0]:
        _refuse(f"{graph!r} is no graph of a function")
    counted = _counted(graph) if isinstance(graph, FuncGraph) else []
    found = (_by_name if cmd == "scope" else _by_kernel)(_accounted(counted, chosen), chosen)
    _show(found, chosen["output"])
    return found


def _checked(options: Any) -> dict[str, Any]:
    """The options, of which those must be left alone that choose by what is not known here."""
    if not isinstance(options, dict):
        _refuse("without options it counts parameters")
    chosen = {"select": [], **_EVERYTHING, **options}
    if set(chosen["select"]) != {"float_ops"}:
        _refuse(f"select={chosen['select']}")
    for name, value in chosen.items():
        least = name.startswith("min_") and name not in ("min_float_ops", "min_occurrence")
        if least and value:
            _refuse(f"{name}={value}")
    for name in ("start_name_regexes", "trim_name_regexes", "min_occurrence", "step"):
        if chosen[name] != _EVERYTHING[name]:
            _refuse(f"{name}={chosen[name]}")
    if chosen["order_by"] not in ("name", "float_ops"):
        _refuse(f"order_by={chosen['order_by']!r}")
    kind = chosen["output"].partition(":")[0]
    if kind not in ("none", "stdout", "file"):
        _refuse(f"output={chosen['output']!r}")
    return chosen


def _counted(graph: FuncGraph) -> list[tuple[str, list[tuple[str, int]]]]:
    """The instructions that have float operations: names, and how many of which kernels."""
    found, unknown = [], 0
    for node, name in named(graph):
        inputs = [graph.tensor_at(slot)._aval for slot in node.inputs]
        parts = float_operations(node, inputs)
        if parts is None:
            unknown += 1
        elif any(number for _, number in parts):
            found.append((name, parts))
    if unknown:
        sys.stderr.write(f"{unknown} ops no flops stats due to incomplete shapes.\n")
    return found


def _matches(name: str, patterns: list[str]) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def _accounted(
    counted: list[tuple[str, list[tuple[str, int]]]], options: dict[str, Any]
) -> list[tuple[str, list[tuple[str, int]]]]:
    """Those parts of kernels that the options name."""
    types = options["account_type_regexes"]
    kept = [(name, [p for p in parts if _matches(p[0], types)]) for name, parts in counted]
    return [(name, parts) for name, parts in kept if parts]


def _shown(nodes: list[Any], options: dict[str, Any]) -> list[Any]:
    """Those that the options show, in their order."""
    kept = [
        node
        for node in nodes
        if node.float_ops >= options["min_float_ops"]
        and _matches(node.name, options["show_name_regexes"])
        and not _matches(node.name, options["hide_name_regexes"])
    ]
    by_number = options["order_by"] == "float_ops"
    return sorted(kept, key=lambda node: -node.float_ops if by_number else node.name)


def _root(kind: Any, nodes: list[Any], options: dict[str, Any]) -> tuple[Any, list[Any]]:
    shown = _shown(nodes, options)
    counted = shown if options["account_displayed_op_only"] else nodes
    return kind("_TFProfRoot", 0, sum(node.float_ops for node in counted)), shown


def _by_name(counted: list[Any], options: dict[str, Any]) -> GraphNodeProto:
    nodes = [GraphNodeProto(name, sum(number for _, number in parts)) for name, parts in counted]
    found, found.children = _root(GraphNodeProto, nodes, options)
    return found


def _by_kernel(counted: list[Any], options: dict[str, Any]) -> MultiGraphNodeProto:
    """The kernels, each a child of the one before."""
    kernels: dict[str, MultiGraphNodeProto] = {}
    for name, parts in counted:
        for kernel, number in parts:
            node = kernels.setdefault(kernel, MultiGraphNodeProto(kernel))
            node.float_ops += number
            node.graph_nodes.append(GraphNodeProto(name, number))
    found, shown = _root(MultiGraphNodeProto, list(kernels.values()), options)
    left, above = sum(node.float_ops for node in shown), found
    for node in shown:
        node.total_float_ops, left = left, left - node.float_ops
        above.children.append(node)
        above = node
    return found


def _short(number: int) -> str:
    for power, unit in ((9, "b"), (6, "m"), (3, "k")):
        if number >= 10**power:
            return f"{number / 10**power:.2f}{unit}"
    return str(number)


_REPORT = """
==================Model Analysis Report======================

Profile:
node name | # float_ops
{}

======================End of Report==========================
"""


def _report(found: GraphNodeProto) -> str:
    """A line a node."""
    lines = [f"{found.name} (--/{_short(found.total_float_ops)} flops)"]
    waiting = list(found.children)
    while waiting:
        node = waiting.pop(0)
        waiting += node.children
        own, total = _short(node.float_ops), _short(node.total_float_ops)
        lines.append(f"  {node.name} ({own}/{total} flops)")
    return _REPORT.format("\n".join(lines))


def _show(found: GraphNodeProto, output: str) -> None:
    kind, _, place = output.partition(":outfile=")
    if kind == "stdout":
        print(_report(found), end="")
    elif kind == "file":
        with open(place, "w", encoding="utf-8") as file:
            file.write(_report(found))
