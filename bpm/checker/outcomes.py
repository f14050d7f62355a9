"""What can come of a move: one outcome for every way in which the questions that it asks can be answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bpm.checker.abstraction import Abstract
from bpm.checker.moves import Move
from bpm.checker.questions import Answer, answers, asked
from bpm.checker.witness import Wish, fulfil
from bpm.semantics import Decided, Event, Need, Refusal, State, decide
from bpm.semantics.commands import Command

# A step that asks more often than this is not followed further: the exploration says that it is not complete.
MOST_QUESTIONS = 40


class TooManyQuestions(Exception):
    """A step asks more than can be answered every way."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was answered, what happened, and the state after it (whole, sealed). `given`: the answers command by
    command."""

    given: tuple[tuple[Answer, ...], ...]
    events: tuple[Event, ...]
    state: State

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers in the order in which they were asked for."""
        return tuple(answer for given in self.given for answer in given)


def outcomes(abstract: Abstract, state: State, move: Move) -> list[Outcome]:
    """Every outcome, in a fixed order: none where the instance refuses the move. Raises TooManyQuestions."""
    found = [Outcome((), (), state)]
    for command in move.commands:
        after = []
        for before in found:
            for given, decided in _decided(abstract, before.state, command, ()):
                state = decided.state.sealed()
                after.append(Outcome((*before.given, given), (*before.events, *decided.events), state))
        found = after
    return found


def _decided(
    abstract: Abstract, state: State, command: Command, given: tuple[Answer, ...]
) -> Iterator[tuple[tuple[Answer, ...], Decided]]:
    match decide(abstract.process, state, replace(command, answers=answers(given))):
        case Decided() as decided:
            yield given, decided
        case Refusal():
            return
        case Need((key,)):
            number, time = asked(key) or (None, 0)
            if number is None:
                raise LookupError(f"a whole state was asked for {key}")
            if len(given) >= MOST_QUESTIONS:
                raise TooManyQuestions(command)
            question = abstract.questions[number]
            for option in question.options:
                answer = Answer(question=question, time=time, value=option)
                if possible(given, answer):
                    yield from _decided(abstract, state, command, (*given, answer))
        case Need(keys):
            raise LookupError(f"a whole state was asked for {keys}")


def possible(given: tuple[Answer, ...], answer: Answer) -> bool:
    """Whether some data gives all these answers at one visit of one node, where nothing is written in between."""
    if answer.question.kind != "flow":
        return True
    same = [one for one in given if one.question.kind == "flow" and (one.question.node, one.time) == _visit(answer)]
    return not fulfil(tuple(map(wish, (*same, answer)))).impossible


def wish(answer: Answer) -> Wish:
    """What an answer to a condition asks of the data."""
    return answer.question.formula, answer.value is True


def _visit(answer: Answer) -> tuple[str, int]:
    return answer.question.node, answer.time
