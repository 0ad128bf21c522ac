"""Signing in by e-mail and password, with a lock after too many failures; every refusal reads the same."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from django.contrib.auth import authenticate
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from foundation.audit import Actor, record, register
from foundation.clock import now
from foundation.errors import Busy, NotAllowed, Unavailable
from foundation.locks import transaction
from foundation.models import AuditRow, Person

WRONG = "E-mail or password is wrong."
MOST_FAILURES = 10
WITHIN = timedelta(minutes=5)

SIGNED_IN = register("sign_in.done", "Signed in", "signed in")
FAILED = register("sign_in.failed", "Sign-in failed", "a sign-in with this address failed")


def attempt(request: HttpRequest, email: str, password: str) -> Person:
    """The person whose e-mail and password these are; NotAllowed, always in the same words, otherwise.

    After MOST_FAILURES failures for one e-mail from one address within WITHIN, the right password is refused as well,
    in the same words and after the same work. Failures are kept for addresses of people alone, under a keyed hash, so
    nobody can fill the table by guessing names and no row tells who was tried.
    """
    email = email.replace("\0", "\ufffd").strip().lower()[:254]  # PostgreSQL cannot be asked for a null character
    key = salted_hmac("foundation.sign_in", f"{email}|{request.META.get('REMOTE_ADDR', '')}", algorithm="sha256")
    target = ("sign_in", key.hexdigest())
    locked = _failures(target) >= MOST_FAILURES
    person = authenticate(request, username=email, password=password)
    if not isinstance(person, Person) or locked:
        if not locked:
            _keep_failure(email, target)
        raise NotAllowed(WRONG)
    with suppress(Busy, Unavailable), transaction():
        record(Actor(person.principal, "web"), SIGNED_IN, person)
    return person


def _failures(target: tuple[str, str]) -> int:
    rows = AuditRow.objects.filter(target_type=target[0], target_id=target[1], action=FAILED)
    return rows.filter(at__gt=now() - WITHIN).count()


def _keep_failure(email: str, target: tuple[str, str]) -> None:
    known = Person.objects.select_related("principal").filter(email=email).first()
    if known is None:
        return
    with suppress(Busy, Unavailable), transaction():
        record(Actor(known.principal, "web"), FAILED, target, refused=True)
