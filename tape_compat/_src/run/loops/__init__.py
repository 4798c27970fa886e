"""Programs that run as loops: where they repeat, and one compiled loop for many lengths."""
