"""What runs programs: whole, as loops, or in pieces."""
