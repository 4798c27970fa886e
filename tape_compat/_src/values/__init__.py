"""What users hold, and how calls on it are recorded."""
