"""What is built on the ops and the tape."""
