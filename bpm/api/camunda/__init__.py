"""The part of Camunda 7's REST API that its workers and simple clients need, under /engine-rest.

External task workers that were written for Camunda 7 (and for Operaton and CIB seven, which kept its API) run here
unchanged. Nothing here decides anything: a request is put into the words of the engine's verbs and queries, and the
answer into Camunda's. What a client asks for and this engine does not do is refused, with a message that names it: a
field or a filter that is passed over would change what was meant. A field that is null, false or empty asks for
nothing.

- `app`             the API: its routers, what its addresses have in common
- `authentication`  Bearer, and Basic with a token as the password
- `errors`          our refusals as Camunda's: code -> status and type; every error of this API
- `given`, `told`   what goes in and comes out: Camunda's names, milliseconds, dates, typed values
- `listing`         lists and counts: Camunda's filters -> ours, one table a list
- `waiting`         long polling
- `external_tasks`, `definitions`, `deployments`, `instances`, `variables`, `events` (messages and signals), `tasks`,
  `incidents`, `history`, `about`: the resources

docs/camunda.md lists every operation, and what differs.
"""
