"""Bearer tokens for machines; each endpoint names the scope it needs."""

from __future__ import annotations

from uuid import uuid4

from django.http import HttpRequest
from ninja.security import HttpBearer

from foundation import people
from foundation.audit import Actor
from spellbook import customer


class Scope(HttpBearer):
    """Accepts a token that carries one scope; the result is the actor of the request."""

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> Actor | None:
        if not token:
            return None
        principal = people.principal_for_token(token, scope=self.scope)
        customer.check(request.GET.get(customer.ARGUMENT))
        return Actor(principal, "api", correlation_id=uuid4())
