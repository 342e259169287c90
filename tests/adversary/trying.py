"""One case, tried."""

from pathlib import Path

from tests.action.job import job, projects
from tests.adversary.case import Case
from tests.adversary.holding import faults
from tests.servers.model import ModelServer


def tried(case: Case, directory: Path) -> list[str]:
    """Runs a case in an empty directory; what did not hold, a sentence each.

    Raises AssertionError where what is special to the case does not hold, or a request fits no description.
    """
    with projects(directory) as make, ModelServer(lambda _: case.answer) as model:
        subject = make(**case.made)
        case.arrange(subject)
        ended = job(
            subject,
            model,
            event=case.event(subject) if case.event else None,
            event_name=case.event_name,
            inputs=case.inputs,
            env=case.env,
        )
        found = [*faults(case, subject, model, ended), *model.violations]
        if not found:
            case.more(subject, ended)
        return found
