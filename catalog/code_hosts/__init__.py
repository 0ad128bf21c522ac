"""Where the code of the tables lives: read-only clients of repositories."""
