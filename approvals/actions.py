"""The actions of this floor, each registered once with the sentence that timelines and receipts show."""

from __future__ import annotations

from foundation import audit

# asking and deciding
REQUEST_ASKED = audit.register(
    "request.asked", "Approval asked", "asked {approver} to decide on {plan} before {expires_at}: {reason}"
)
TURN_STARTED = audit.register("request.turn", "Turn", "it is the turn of {person} to decide on {plan}; {where}")
REQUEST_EXPIRED = audit.register(
    "request.expired", "Request expired", "nobody decided on {plan} before {expires_at}; nothing was approved; {where}"
)
REQUEST_SUPERSEDED = audit.register("request.superseded", "Request superseded", "{plan} is superseded: {reason}")
NOBODY_ELIGIBLE = audit.register("request.nobody", "Alarm: nobody may decide", "nobody may decide on {plan}: {reason}")
VOTE_CAST = audit.register("request.vote", "Vote", "approved steps {steps} of {plan}, {missing} more needed: {reason}")
PLAN_APPROVED = audit.register("request.approved", "Approved", "approved steps {steps} of {plan}: {reason}")
PLAN_REJECTED = audit.register("request.rejected", "Rejected", "rejected {plan}: {reason}")
DECISION_REFUSED = audit.register("request.refused", "Decision refused", "tried to {decision} and was refused: {why}")
POLICY_SAVED = audit.register(
    "policy.saved",
    "Policy saved",
    "{approver} decides for {domain}, then {fallback}; {required} of them, version {version}",
)

# how far Spellbook may go
RAISE_PROPOSED = audit.register(
    "level.proposed", "Raise proposed", "proposed to raise {step_class} of {domain} from L{old} to L{new}: {reason}"
)
LEVEL_RAISED = audit.register("level.raised", "Level raised", "raised {step_class} of {domain} from L{old} to L{new}")
LEVEL_LOWERED = audit.register(
    "level.lowered", "Level lowered", "lowered {step_class} of {domain} from L{old} to L{new}: {reason}"
)
RAISE_WITHDRAWN = audit.register(
    "level.withdrawn", "Raise withdrawn", "withdrew the raise of {step_class} of {domain} to L{new}: {reason}"
)
LEVEL_REFUSED = audit.register("level.refused", "Change of level refused", "tried to {deed} and was refused: {why}")
STOP_SET = audit.register("stop.set", "Stop set", "stopped every dispatch ({in_flight} in flight): {reason}")
STOP_LIFTED = audit.register(
    "stop.lifted", "Stop lifted", "lifted the stop; {moved} deadlines moved, {superseded} requests superseded"
)
STOP_REFUSED = audit.register("stop.refused", "Stop refused", "tried to {deed} and was refused: {why}")

# proof
LEDGER_REFUSED = audit.register("ledger.refused", "Alarm: the ledger signs nothing", "{why}")

# drafting, acting, verifying
PLAN_DRAFTED = audit.register("plan.drafted", "Plan drafted", "{title} ({steps} steps, revision {revision})")
PLAN_NONE = audit.register("plan.none", "No plan", "no plan: {reason}")
PLAN_REHEARSED = audit.register("plan.rehearsed", "Rehearsal", "{state}{reason}")
PLAN_WOULD_DO = audit.register("plan.would_do", "Would do", "kept as what Spellbook would do; nobody is asked below L2")
PLAN_VERIFYING = audit.register(
    "plan.verifying", "Verifying", "every approved step is done; the warehouse is asked next"
)
PLAN_VERIFIED = audit.register("plan.verified", "Verified", "{reason}")
PLAN_FAILED = audit.register("plan.failed", "Plan failed", "{reason}")
STEP_DONE = audit.register("plan.step_done", "Step done", "step {position}: {said}")
STEP_FAILED = audit.register("plan.step_failed", "Step failed", "step {position}: {said}")
STEP_WAITS = audit.register("plan.step_waits", "Step waits", "step {position} waits: {said}")
RUN_CLAIMED = audit.register("run.claimed", "Run claimed", "step {position} is dispatched on commit {commit}")
RUN_ENDED = audit.register("run.ended", "Run ended", "the run {state} with exit code {exit_code}: {last_line}")
ASSERTION_CHECKED = audit.register("assertion.checked", "Assertion checked", "{sentence}: {verdict} ({observed})")
UNDO_DRAFTED = audit.register("plan.undo", "Undo drafted", "the undo of {title} was drafted as a plan of its own")
STEP_ABANDONED = audit.register("plan.step_abandoned", "Step abandoned", "step {position} is not done: {said}")
MERGE_REFUSED = audit.register("plan.merge_refused", "Not merged as approved", "step {position} was not found: {why}")
RUN_STARTED = audit.register("run.started", "Run started", "the run of step {position} has started")
UNDO_REFUSED = audit.register("plan.undo_refused", "Undo refused", "tried to draft the undo and was refused: {why}")
CLOSE_REFUSED = audit.register("incident.close_refused", "Closing refused", "tried to close as {resolution}: {why}")
