"""What is known besides the two manifests: dbt's own words, declarations, facts of installations."""
