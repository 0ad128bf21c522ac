"""The cellar: what every floor stands on. It knows no data words."""
