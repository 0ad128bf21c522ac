"""A review as GitHub-flavoured Markdown and as remarks on lines."""
