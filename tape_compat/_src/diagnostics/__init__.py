"""What tells users what went wrong."""
