"""What a reviewer should know of a model's SQL before it is merged; pure functions, run by `registry.findings`."""
