"""Runners: who executes an approved run. One module per orchestrator, one line in `registry`."""
