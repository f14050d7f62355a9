"""Read models for the cockpit and the API: paged by key, never by offset, and never more than a page.

Every function answers with frozen data of `rows`, so that no caller holds a model or starts a query by touching an
attribute. Whatever could grow without bound is counted up to a limit (`Count`), and says when it reached it: a page
opens in the same time whether a thousand instances run or ten million.

- `paging`       cursors and pages          - `rows`        what the functions answer with
- `definitions`  deployed models            - `nodes`       names of a model's nodes, kept in memory (they never change)
- `instances`    lists and one instance     - `diagram`     tokens, incidents and passages by node
- `work`         external and user tasks    - `incidents`   what stopped and waits for an operator
- `variables`    instances found by the values of their variables
- `deployed`     what definitions and decisions have in common: versions of a key
- `decisions`    deployed decisions and their evaluations; `decision_tables`: how a decision comes about, to be shown
- `integrity`    broken invariants that were noted, the newest seals
- `overview`     the figures of the dashboard and of /metrics
- `limits`       a limit of time for searches that may read much
- `replica`      a router by which all this is read from a replica
"""
