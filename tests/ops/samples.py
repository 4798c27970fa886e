"""Arrays that several tables call their ops with."""

import numpy as np

RNG = np.random.default_rng(3)
X = RNG.normal(size=(2, 3))
V = RNG.normal(size=4)
CUBE = RNG.normal(size=(2, 3, 4))
Z = X + 1j * RNG.normal(size=(2, 3))
WHERE = np.array([[True, False, True], [False, False, True]])

# Matrices.
A = RNG.normal(size=(2, 3))
B = RNG.normal(size=(3, 4))
S = RNG.normal(size=(3, 3)) + 2 * np.eye(3)
BATCH = RNG.normal(size=(2, 3, 3)) + 2 * np.eye(3)
W = RNG.normal(size=3)
P = S @ S.T + np.eye(3)
