"""The HTTP API under /api/, and Camunda 7's under /engine-rest.

Handlers translate between HTTP and the engine's verbs and hold no rules: who is it, one verb or query, the shape of the
answer. Errors are problem documents (RFC 9457), all from one table. A project mounts `bpm.urls`.

- `app`             the API itself: its routers, its page of documentation at /api/docs
- `authentication`  tokens and sessions, and what their roles may do
- `problems`        code of a refusal -> status and title; every error of the API
- `exact`           JSON in and out with exact numbers
- `streaming`       answers that are sent while they are read
- `schemas`         what goes in (`given`) and comes out (`told`)
- `definitions`, `decisions`, `instances`, `traces`, `external_tasks`, `user_tasks`, `messages`, `incidents`,
  `exports`, `integrity` (seals, archives, violations): the resources
- `camunda`         the part of Camunda 7's API that its workers and clients need, under /engine-rest
- `health`          /healthz, /readyz and /metrics
"""
