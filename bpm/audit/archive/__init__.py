"""Archives: finished months of history, moved out of the database and still believed, found, traced and replayed.

Archiving a month: everything of it is sealed; its rows are written to a place (`blocks`: Parquet or zstd JSON Lines, by
table, in the order of seals), with an index of which instance has rows in which block (`index`) and a manifest; all is
read back and compared with the digests of what the database gave; then, in one transaction, each partition is replaced
by one with the rows that stay, and the archive is noted with its instances (`months`). Until that transaction nothing
has changed in the database, and after it nothing is missing: interrupted anywhere, the command is simply given again.

What stays: rows of open instances, and of those that a retention keeps (`retention`). They are in the archive as well;
whoever reads both takes each row once. A month may be archived again: a further part has the rows that came since, and
what need not stay any more goes.

    due        months that the retentions let go, archived by the schedule
    catalog    what is archived, and reading it: lines for seals, rows of one instance
"""
