"""What runs programs: whole, as loops, or op by op."""
