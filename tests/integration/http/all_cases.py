"""Every case of the tables."""

import cases_conditional
import cases_framing
import cases_host
import cases_paths
import cases_persistence
import cases_ranges
import cases_syntax

TABLES = {
    "syntax": cases_syntax.CASES,
    "host": cases_host.CASES,
    "framing": cases_framing.CASES,
    "persistence": cases_persistence.CASES,
    "conditional": cases_conditional.CASES,
    "ranges": cases_ranges.CASES,
    "paths": cases_paths.CASES,
}
ALL = [case for cases in TABLES.values() for case in cases]
