"""Derivatives of recorded closures: tapes, reverse and forward mode, Jacobians, custom rules."""
