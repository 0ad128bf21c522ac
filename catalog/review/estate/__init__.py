"""What feeds what around a change, and what a change reaches there."""
