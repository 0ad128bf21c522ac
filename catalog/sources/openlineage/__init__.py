"""Reading OpenLineage events: the check against the published schema, what an event says, what a job's runs add up to.

No database. Source: https://openlineage.io/docs/spec/object-model
"""
