"""The tables, a module an aggregate: columns, CHECKs and pgtriggers, and no behaviour.

Runtime tables change, and every change is guarded by its version; history tables only grow. The database itself
enforces both (`rules`): versions rise by one, lifecycles are those of `bpm.semantics.lifecycle`, a change without its
event does not commit, history takes no UPDATE, DELETE or TRUNCATE, rows of open instances stay.

UUIDs of entities are made of the instance's and the entity's ordinal (`bpm.store.ids`); where the core says 0 for "the
instance itself" (a token's scope, what a timer hangs on), the column holds the instance's own id. References carry no
foreign key constraint: they are never dangling inside an instance, and each would cost a look-up a row.

- `definitions`, `decisions`, `instances`, `tokens`, `tasks`, `timers`, `people`, `variables`, `messages`: runtime
- `history`: the events; `log`: the commit log and what stands beside it; `clock`: the offset of test databases
- `files`: contents that variables refer to
- `access`: tokens of programs, rights; `seals`: the chain of hashes over history; `archives`: what was moved out
- `rules`: triggers; `columns`: what tables share; `installation`: what each migrate finishes with
"""

from __future__ import annotations

from django.db.models.signals import post_migrate

from bpm.models.access import ApiToken
from bpm.models.archives import Archive, ArchivedInstance, Export, Retention
from bpm.models.clock import ClockOffset
from bpm.models.decisions import DecisionDefinition
from bpm.models.definitions import DefinitionState, ProcessDefinition, StartSubscription
from bpm.models.files import VariableFile
from bpm.models.history import (
    EngineEvent,
    ExternalTaskEvent,
    RuntimeEvent,
    TimerEvent,
    TokenEvent,
    WorkEvent,
)
from bpm.models.installation import finish_migration
from bpm.models.instances import ProcessInstance
from bpm.models.log import BaseState, Commit, OperationReceipt, RunRecord, StateCommand, ThreadVersion
from bpm.models.messages import Message, WaitTicket
from bpm.models.people import Incident, UserTask
from bpm.models.seals import Seal, SealEpoch
from bpm.models.tasks import ExternalTask
from bpm.models.timers import Timer
from bpm.models.tokens import Token, TokenLink
from bpm.models.variables import Variable

__all__ = [
    "ApiToken",
    "Archive",
    "ArchivedInstance",
    "BaseState",
    "ClockOffset",
    "Commit",
    "DecisionDefinition",
    "DefinitionState",
    "EngineEvent",
    "Export",
    "ExternalTask",
    "ExternalTaskEvent",
    "Incident",
    "Message",
    "OperationReceipt",
    "ProcessDefinition",
    "ProcessInstance",
    "Retention",
    "RunRecord",
    "RuntimeEvent",
    "Seal",
    "SealEpoch",
    "StartSubscription",
    "StateCommand",
    "ThreadVersion",
    "Timer",
    "TimerEvent",
    "Token",
    "TokenEvent",
    "TokenLink",
    "UserTask",
    "Variable",
    "VariableFile",
    "WaitTicket",
    "WorkEvent",
]

post_migrate.connect(finish_migration, dispatch_uid="bpm.models.installation")
