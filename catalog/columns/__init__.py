"""Kept column lineage: its form, its rows, and the walk from column to column."""
