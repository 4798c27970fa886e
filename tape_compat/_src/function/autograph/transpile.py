"""From a Python function to one whose statements are calls of our operators.

The library malt has the converters of TensorFlow's AutoGraph; the operators are ours.
"""

from __future__ import annotations

import ast
import importlib.util  # malt takes for granted that it is imported
import os
import sys
import types
from typing import Any

import malt
from malt.converters import (
    asserts,
    break_statements,
    call_trees,
    conditional_expressions,
    continue_statements,
    control_flow,
    directives,
    functions,
    lists,
    logical_expressions,
    return_statements,
    slices,
    variables,
)
from malt.core import converter, unsupported_features_checker
from malt.impl import api
from malt.lang import directives as markers
from malt.operators.variables import Undefined, UndefinedReturnValue, ld, ldu
from malt.pyct import anno, cfg, qual_names
from malt.pyct.errors import UnsupportedLanguageElementError
from malt.pyct.static_analysis import activity, liveness, reaching_definitions, reaching_fndefs

from ...core import errors
from . import conditionals, containers, loops
from .scope import FunctionScope, with_function_scope

__all__ = ["Transpiler", "set_loop_options"]

assert importlib.util
errors.NOT_THE_USERS.append(os.path.dirname(malt.__file__) + os.sep)


def set_loop_options(
    parallel_iterations: Any = markers.UNSPECIFIED,
    swap_memory: Any = markers.UNSPECIFIED,
    maximum_iterations: Any = markers.UNSPECIFIED,
    shape_invariants: Any = markers.UNSPECIFIED,
) -> None:
    """Options of the `tf.while_loop` that the loop around this call becomes.

    It has to be the first statement of the loop. A loop that is not staged ignores it.

    Args:
      parallel_iterations, swap_memory, maximum_iterations: see `tf.while_loop`.
      shape_invariants: pairs of a variable and the shape it may have.
    """


class _Directives(directives.DirectivesTransformer):
    """Knows `set_loop_options` as malt's."""

    def visit_Name(self, node: Any) -> Any:
        return self._known(super().visit_Name(node))

    def visit_Attribute(self, node: Any) -> Any:
        return self._known(super().visit_Attribute(node))

    def _known(self, node: Any) -> Any:
        key = directives.STATIC_VALUE
        if anno.getanno(node, key, default=None) is set_loop_options:
            anno.setanno(node, key, markers.set_loop_options)
        return node


class _Handlers(ast.NodeTransformer):
    """Rewrites what malt does not take: the name in `except ... as name`. Refuses what it converts
    wrongly."""

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        if node.name is not None:
            caught = ast.parse(f"{node.name} = ag__.caught()").body
            node.body = [*caught, *node.body]
            node.name = None
        return self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        raise UnsupportedLanguageElementError(f"not supported yet: {ast.unparse(node)}")


def caught() -> BaseException | None:
    """The exception that is being handled."""
    return sys.exc_info()[1]


class _Activity(activity.ActivityAnalyzer):
    """Leaves parameters to the function that has them: malt's counts them as set around it, too."""

    def visit_arg(self, node: ast.arg) -> Any:
        return node if self._track_annotations_only else super().visit_arg(node)


class _ControlFlow(control_flow.ControlFlowTransformer):
    """Counts what an inner function shares with an outer one, and globals, as used afterwards."""

    def _get_block_vars(self, node: Any, modified: Any) -> Any:
        scope = self.state[control_flow._Function].scope
        live = anno.getanno(node, anno.Static.LIVE_VARS_OUT)
        shared = (scope.nonlocals | scope.globals) & modified
        anno.setanno(node, anno.Static.LIVE_VARS_OUT, live | shared)
        return super()._get_block_vars(node, modified)


def _transform_control_flow(node: Any, ctx: Any) -> Any:
    """`control_flow.transform` with our analysis and our converter."""
    graphs = cfg.build(node)
    node = qual_names.resolve(node)
    node = _Activity(ctx).visit(node)
    node = reaching_definitions.resolve(node, ctx, graphs)
    node = reaching_fndefs.resolve(node, ctx, graphs)
    node = liveness.resolve(node, ctx, graphs)
    return _ControlFlow(ctx).visit(node)


class Transpiler(api.PyToPy):
    """malt's transpiler, for our operators."""

    def get_transformed_name(self, node: Any) -> str:
        return "tf__" + super(api.PyToPy, self).get_transformed_name(node)

    def get_extra_locals(self) -> dict[str, Any]:
        return {"ag__": OPERATORS}

    def transform_ast(self, node: Any, ctx: Any) -> Any:
        """The converters in malt's order, with our directives."""
        uses = ctx.user.options.uses
        unsupported_features_checker.verify(node)
        node = _Handlers().visit(node)
        node = self.initial_analysis(node, ctx)
        node = functions.transform(node, ctx)
        node = _Directives(ctx).visit(node)
        steps: list[Any] = [break_statements.transform]
        if uses(converter.Feature.ASSERT_STATEMENTS):
            steps.append(asserts.transform)
        steps += [continue_statements.transform, return_statements.transform]
        if uses(converter.Feature.LISTS):
            steps += [lists.transform, slices.transform]
        steps += [call_trees.transform, _transform_control_flow]
        steps += [conditional_expressions.transform, logical_expressions.transform]
        for step in (*steps, variables.transform):
            node = step(node, ctx)
        return node

    def converted(self, function: Any, options: converter.ConversionOptions) -> Any:
        """The converted function, with its module and the places in the user's code of its lines
        as attributes."""
        found: Any = self.transform_function(function, converter.ProgramContext(options))
        made, module, places = found
        file = module.__file__
        # malt finds places by notes on nodes, and nodes without attributes are shared: some of the
        # places are those of other functions.
        made.ag_source_map = {p: origin for p, origin in places.items() if p.filename == file}
        made.ag_module = module
        if file not in errors.GENERATED:
            lines = made.ag_source_map.items()
            errors.GENERATED[file] = {p.lineno: (o.loc.filename, o.loc.lineno) for p, o in lines}
        return made


#: What converted code calls as `ag__`.
OPERATORS = types.SimpleNamespace(
    ConversionOptions=converter.ConversionOptions,
    Feature=converter.Feature,
    FunctionScope=FunctionScope,
    STD=converter.STANDARD_OPTIONS,
    Undefined=Undefined,
    UndefinedReturnValue=UndefinedReturnValue,
    and_=conditionals.and_,
    autograph_artifact=api.autograph_artifact,
    assert_stmt=conditionals.assert_stmt,
    caught=caught,
    eq=conditionals.eq,
    for_stmt=loops.for_stmt,
    if_exp=conditionals.if_exp,
    if_stmt=conditionals.if_stmt,
    ld=ld,
    ldu=ldu,
    not_=conditionals.not_,
    not_eq=conditionals.not_eq,
    or_=conditionals.or_,
    while_stmt=loops.while_stmt,
    with_function_scope=with_function_scope,
    **containers.OPERATORS,
)
