"""A night at a software company whose product analytics tool mirrors a table of the warehouse."""
