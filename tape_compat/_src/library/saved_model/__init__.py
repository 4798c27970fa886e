"""SavedModels: programs with their variables as files."""
