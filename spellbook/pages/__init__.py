"""Every page of the site. A page reads selectors and posts to services; it has no rules of its own (D16)."""
