"""The review of a change by its files alone, for repositories without a manifest."""
