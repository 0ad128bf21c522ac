"""Readers of what other tools write about the tables: bytes in, frozen values out, no database."""
