"""What comes in: a file becomes records, each with its place, and these become rows."""
