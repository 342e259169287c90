"""A recorded answer as a reader, for the same question only (S38)."""

from verifier.verification.model import Failed, Question, Reader, ReaderError, Reply
from verifier.verification.record import BadRecord
from verifier.verification.verify import Case


def replay_reader(case: Case, answer: Reply | Failed | None) -> Reader:
    """A reader that gives the recorded `answer` where it is asked what the record's `case` asked.

    The reader raises BadRecord where the question is another one.
    """

    def read(question: Question) -> Reply:
        if case.prompt is None or answer is None:
            raise BadRecord("the record holds no reply: its run made no call")
        if question.prompt.message != case.prompt.message:
            raise BadRecord("the record answers another question: brief, diff or base texts have changed since")
        if isinstance(answer, Failed):
            raise ReaderError(answer.reason, model=answer.model, usage=answer.usage, asked=answer.asked)
        return answer

    return read
