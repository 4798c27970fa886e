"""Summaries: event files that TensorBoard reads."""
