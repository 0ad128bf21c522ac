"""Searching the catalogue by names, columns, descriptions, owners and tags."""
