"""The top floor: settings, addresses, processes and whatever joins the floors below.

Importing it needs nothing: the command line (`spellbook.command_line`) runs where no server is installed. The Celery
application is bound by `spellbook.apps`, which every process that uses Django loads, and by `celery -A spellbook`.
"""
