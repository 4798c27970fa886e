"""Standing in for the `tensorflow` module: what libraries import from it is ours."""
