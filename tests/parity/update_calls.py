"""Calls of the ops that change variables by their handles: how many variables, and the rest."""

import numpy as np

_G = np.array([0.5, -1.0], np.float32)
_ROWS = np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)
_PLACES = np.array([2, 0], np.int32)
_BETAS = {"beta1": 0.9, "beta2": 0.99}
_RMS = {"lr": 0.1, "rho": 0.9, "momentum": 0.5, "epsilon": 1e-3}
_ADAM = {"beta1_power": 0.9, "beta2_power": 0.99, "lr": 0.1, "epsilon": 1e-3, **_BETAS}
_FTRL = {"lr": 0.1, "l1": 0.2, "l2": 0.3, "lr_power": -0.5}
_PENALTIES = {"l1": 0.2, "l2": 0.3}
_DELTA = {"lr": 0.5, "rho": 0.9, "epsilon": 1e-3}
_MOMENTUM = {"lr": 0.1, "momentum": 0.9}

#: By the op: the parameters that are variables, the other arguments.
DENSE = {
    "ResourceApplyGradientDescent": (["var"], {"alpha": 0.1, "delta": _G}),
    "ResourceApplyProximalGradientDescent": (["var"], {"alpha": 0.1, "delta": _G, **_PENALTIES}),
    "ResourceApplyProximalAdagrad": (["var", "accum"], {"grad": _G, "lr": 0.1, **_PENALTIES}),
    "ResourceApplyMomentum": (["var", "accum"], {"grad": _G, **_MOMENTUM}),
    "ResourceApplyKerasMomentum": (["var", "accum"], {"grad": _G, **_MOMENTUM}),
    "ResourceApplyAdagrad": (["var", "accum"], {"grad": _G, "lr": 0.1}),
    "ResourceApplyAdagradV2": (["var", "accum"], {"grad": _G, "lr": 0.1, "epsilon": 0.01}),
    "ResourceApplyAdadelta": (["var", "accum", "accum_update"], {"grad": _G, **_DELTA}),
    "ResourceApplyRMSProp": (["var", "ms", "mom"], {"grad": _G, **_RMS}),
    "ResourceApplyCenteredRMSProp": (["var", "mg", "ms", "mom"], {"grad": _G, **_RMS}),
    "ResourceApplyAdam": (["var", "m", "v"], {"grad": _G, **_ADAM}),
    "ResourceApplyAdamWithAmsgrad": (["var", "m", "v", "vhat"], {"grad": _G, **_ADAM}),
    "ResourceApplyAdaMax": (
        ["var", "m", "v"],
        {"grad": _G, "beta1_power": 0.9, "lr": 0.1, "epsilon": 1e-3, **_BETAS},
    ),
    "ResourceApplyFtrl": (["var", "accum", "linear"], {"grad": _G, **_FTRL}),
    "ResourceApplyFtrlV2": (["var", "accum", "linear"], {"grad": _G, "l2_shrinkage": 0.1, **_FTRL}),
}

SPARSE = {
    name.replace("ResourceApply", "ResourceSparseApply"): (
        cells,
        {**given, "grad": _ROWS, "indices": _PLACES},
    )
    for name, (cells, given) in DENSE.items()
    if not any(each in name for each in ("Descent", "Adam", "AdaMax"))
}
SPARSE["ResourceSparseApplyProximalGradientDescent"] = (
    ["var"],
    {"alpha": 0.1, "grad": _ROWS, "indices": _PLACES, **_PENALTIES},
)

_VALUE = {
    "AssignVariableOp": {"value": _G},
    "AssignAddVariableOp": {"value": _G},
    "AssignSubVariableOp": {"value": _G},
}
_SCATTERED = {
    f"ResourceScatter{kind}": {"indices": _PLACES, "updates": _ROWS}
    for kind in "Add Sub Mul Div Min Max Update".split()
}
_SCATTERED_ND = {
    f"ResourceScatterNd{kind}": {"indices": np.array([[2, 1], [0, 0]], np.int32), "updates": _G}
    for kind in "Add Sub Min Max Update".split()
}

#: Other values of attributes.
ATTRIBUTES = {
    "ResourceApplyMomentum": {"use_nesterov": True},
    "ResourceApplyKerasMomentum": {"use_nesterov": True},
    "ResourceSparseApplyKerasMomentum": {"use_nesterov": True},
    "ResourceApplyAdagrad": {"update_slots": False},
    "ResourceSparseApplyAdagradV2": {"update_slots": False},
    "ResourceApplyAdam": {"use_nesterov": True},
    "ResourceApplyFtrl": {"multiply_linear_by_lr": True},
    "ResourceSparseApplyFtrlV2": {"multiply_linear_by_lr": True},
}


def calls(vectors):
    """(name, parameters that are variables, other arguments) of the ops on vectors, or on rows."""
    if vectors:
        found = [(name, *row) for name, row in DENSE.items()]
        return found + [(name, ["resource"], given) for name, given in _VALUE.items()]
    found = [(name, *row) for name, row in SPARSE.items()]
    found += [(name, ["resource"], given) for name, given in _SCATTERED.items()]
    return found + [(name, ["ref"], given) for name, given in _SCATTERED_ND.items()]


NAMES = {name for vectors in (True, False) for name, *_ in calls(vectors)}
