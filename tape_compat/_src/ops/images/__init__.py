"""Images: sizes, colors, geometry, measures and files."""
