"""The graph of claims as arrays, walks over it, and what pages and floors above read of it."""
