"""The review of a change before it is merged: what it does, whom it reaches, whom to ask. Pure, without a database."""
