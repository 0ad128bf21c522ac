"""What the floor does: one module per verb, one transaction per act."""
