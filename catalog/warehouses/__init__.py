"""Read-only access to the customer's warehouses: introspect and measure, never write."""
