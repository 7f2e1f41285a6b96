"""Whether a text is an SQL statement: told by the words it begins with, and by signs that prose does not have.

Arguments called ``query`` hold what somebody looks for as often as they hold
SQL.  A sentence may begin with *select*, *update* or *with*, so the words that
make a statement of them have to follow, and where those are ordinary words as
well, keywords in capitals or the signs of an expression.
"""

from __future__ import annotations

import re

from cloakllm_gateway.patterns import end_of, lazy

#: What may stand before: blanks, comments, the parenthesis of a subquery, a transaction, what explains a plan.
_BEFORE = lazy(
    r"(?:[\s(;]|--[^\n]*\n|/\*.*?\*/|(?:BEGIN|START)(?:\s+(?:WORK|TRANSACTION))?\s*;"
    r"|EXPLAIN(?:\s+(?:ANALYZE|VERBOSE|QUERY\s+PLAN|\([^()]*\)))*(?=\s))*+",
    re.IGNORECASE | re.DOTALL,
)
_NAME = r"[\w.\"`\[\]@#$-]{1,256}"
#: Beginnings that no sentence has.
_CERTAIN = lazy(
    rf"INSERT\s+(?:OR\s+\w+\s+|IGNORE\s+)?INTO\s+{_NAME}\s*(?:\(|(?:DEFAULT\s+)?VALUES\b|SELECT\b|AS\b)"
    rf"|REPLACE\s+INTO\s+{_NAME}\s*(?:\(|VALUES\b|SELECT\b)"
    rf"|UPDATE\s+(?:OR\s+\w+\s+|ONLY\s+)?{_NAME}(?:\s+(?:AS\s+)?\w+)?\s+SET\s+{_NAME}\s*="
    rf"|MERGE\s+(?:INTO\s+)?{_NAME}(?:\s+(?:AS\s+)?\w+)?\s+USING\b"
    rf"|WITH\s+(?:RECURSIVE\s+)?{_NAME}\s*(?:\([^()]*\)\s*)?AS\s+(?:(?:NOT\s+)?MATERIALIZED\s+)?"
    r"\(\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|VALUES)\b"
    rf"|CREATE\s+(?:OR\s+REPLACE\s+)?(?:(?:GLOBAL\s+)?TEMP(?:ORARY)?\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    rf"{_NAME}\s*(?:\(|AS\b)"
    rf"|CREATE\s+(?:OR\s+REPLACE\s+)?(?:MATERIALIZED\s+)?VIEW\s+{_NAME}\s+AS\b"
    rf"|(?:CREATE|ALTER)\s+(?:USER|ROLE)\s+{_NAME}\s+(?:WITH|PASSWORD|IDENTIFIED|LOGIN|SET)\b"
    rf"|ALTER\s+TABLE\s+{_NAME}\s+(?:ADD|DROP|RENAME|ALTER|MODIFY|CHANGE|SET)\b"
    r"|VALUES\s*\(\s*['\"\[(0-9]",
    re.IGNORECASE,
)
#: Beginnings that a sentence may have as well.
_SELECT = lazy(r"SELECT\b(?!\s+(?:DISTINCT\s+)?[?$]\w)", re.IGNORECASE)
_DELETE = lazy(rf"DELETE\s+FROM\s+{_NAME}", re.IGNORECASE)
#: The words of a statement, one behind the other, in capitals.
_IN_CAPITALS = lazy(r"SELECT\b.*?(?:\bFROM\b|['\"(])|DELETE\s+FROM\b", re.DOTALL)
#: What else of a statement a sentence has not got.
_SIGNS = lazy(
    r"\*|[=<>;]|\b(?:where\s+\S+\s+(?:in|is|not|like|ilike|between)\b|(?:order|group)\s+by\b|limit\s+\d"
    r"|(?:inner|left|right|cross)\s+join\b|union\s+(?:all\s+)?select\b)|\b\w+\(",
    re.IGNORECASE,
)
_FROM = lazy(r"\bFROM\b", re.IGNORECASE)


def is_sql(text: str) -> bool:
    """Whether a text is an SQL statement.

    >>> is_sql("select phone from customers where name = 'x'"), is_sql("Select the best offers from O'Neill")
    (True, False)
    """
    at = end_of(_BEFORE, text)
    if _CERTAIN.match(text, at):
        return True
    if _SELECT.match(text, at):
        return _IN_CAPITALS.match(text, at) is not None or bool(_FROM.search(text, at) and _SIGNS.search(text, at))
    if _DELETE.match(text, at):
        return _IN_CAPITALS.match(text, at) is not None or _SIGNS.search(text, at) is not None
    return False
