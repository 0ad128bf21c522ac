"""A change that is confined to some columns, followed through what is built from them."""
