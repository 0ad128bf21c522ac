"""Reviews of pull requests: noticed, read, reviewed, posted, acknowledged; one module a verb."""
