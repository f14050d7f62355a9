"""psql on the site's database: the one of the embedded server's wheel, since none may be installed."""

from __future__ import annotations

import os
import sys

from config.local import default_services
from config.postgres import find_binaries

if __name__ == "__main__":
    psql = str(find_binaries() / "psql")
    os.execv(psql, [psql, os.environ.get("DATABASE_URL") or default_services()["database"], *sys.argv[1:]])  # noqa: S606
