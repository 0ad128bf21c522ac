"""The verbs of this floor."""
