"""What changed between two builds, and what the change does to the rows: pure functions, no database."""
