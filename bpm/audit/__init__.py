"""What an auditor does with history: read it, prove it, take it away. History is never altered here either.

History is the provable trajectory of the engine. From it alone the state of every instance can be rebuilt, every "why"
answered, the engine checked, and tampering found.

    trace, explain       what happened in an instance; why a token is where it is
    reports              who did what when; which worker failed
    histories            histories of instances, wherever they lie
    replaying, checking  replay and compare with the rows; the invariants over the live database, noted where broken
    canonical, lines     a row's canonical form, and streaming rows in it
    chain, sealing       the chain of seals; sealing what is committed, behind the horizon of open transactions
    verifying, heads     recomputing all of it and naming what is not as it was; heads that are kept elsewhere
    deployed             definitions, held against what the log says of them
    sealed_rows          the rows of seals, in the database and in archives
    export               history in the formats of auditors and of process mining
    archive              finished months, moved out and still believed; retention
    places               folders and URLs; `statements`: the named statements of sql/
    generating           history in amounts, for tests of size
"""
