"""The only client of GitHub: repositories, pull requests, artifacts, comments, check runs; and its webhooks.

`client.open_github(connection)` gives a client, `connection.py` says what a connection holds, `webhook.py` reads what
GitHub sends. Nothing here changes code: comments, check runs and statuses are all that is ever written.
"""
