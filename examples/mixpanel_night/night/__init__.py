"""What the tools and the people of the night do: the sync, the board's reader, the merges, the nights before."""
