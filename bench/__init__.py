"""What is measured, and against what: one module a subject, each with `run()`."""
