"""A message step: put into the outbox of every channel, or kept on the person's page, which the step says (D7)."""

from __future__ import annotations

from approvals.models import Step
from approvals.scope import timeline_of
from approvals.services import steps
from foundation import outbox
from foundation.audit import Actor
from foundation.locks import transaction
from foundation.people import display_name
from incidents.alerts import channels, where


def send(step: Step, *, actor: Actor) -> bool:
    """Hand the message to every configured channel and end the step, in one transaction; False when it had ended."""
    told = where()
    name = display_name(step.person.principal) if step.person else "nobody"
    with transaction():
        for channel in channels():
            outbox.put(
                event=f"step:{step.pk}", destination=channel, purpose="message",
                body={"to": step.params["to"], "text": step.params["text"]},
                correlation_id=timeline_of(step.plan),
            )  # fmt: skip
        return steps.end(step, "done", {"delivery": told}, f"message to {name}: {told}", actor=actor)
