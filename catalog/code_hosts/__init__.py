"""Where the code of the tables lives: git on this machine, read only, and GitHub."""
