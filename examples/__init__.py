"""Estates to try the product on; no product code imports them."""
