"""What changes the catalogue: one function per verb."""
