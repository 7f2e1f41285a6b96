"""What is an SQL statement, and what only begins like one."""

from __future__ import annotations

import time

import pytest

from cloakllm_gateway.vault.statements import is_sql


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t",
        "select id, name from customers where name = 'Kim'",
        "select name from customers where name like '%Kim%'",
        "select name from customers where city is null",
        "select count(id) from customers",
        "select name from customers order by name",
        "SELECT name FROM customers",
        "SELECT CASE WHEN a THEN 'x' END FROM t",
        "SELECT set_config('app.user', '[PERSON_0]', true)",
        "SELECT '[PERSON_0]'",
        "SELECT upper('x')",
        "\n  -- who\n /* and\n where */ SELECT a FROM b",
        "(select a from b where c = 1) union (select 2)",
        "EXPLAIN ANALYZE SELECT a FROM b",
        "explain query plan select * from b",
        "BEGIN; UPDATE t SET a = 1; COMMIT",
        "insert into t values ('[PERSON_0]')",
        'INSERT INTO "t" (a) VALUES (1)',
        "INSERT OR REPLACE INTO t(a) VALUES (1)",
        "insert into t select * from u",
        "replace into t values (1)",
        "UPDATE t SET a='x'",
        "update public.t as x set a = 'x' where b = 2",
        "UPDATE [dbo].[t] SET a = 1",
        "DELETE FROM t WHERE a = '[PERSON_0]'",
        "delete from t;",
        "DELETE FROM t",
        "create or replace view v as select 1",
        "delete from t where a = 1",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "with recursive x(n) as (select 1) select n from x",
        "MERGE INTO t USING u ON t.a = u.a",
        "CREATE TABLE t (a text)",
        "CREATE USER kim PASSWORD 'x'",
        "alter table t add column a text",
        "VALUES ('a'), ('b')",
    ],
)
def test_statements_are_told_by_their_words(text: str) -> None:
    assert is_sql(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "select",
        "Select the best offers from O'Neill",
        "select mails from Conor O'Brien",
        "Select all photos from Anna's birthday",
        "selected works from 1990",
        "update on the case of Conor O'Brien",
        "update the set of rules",
        "Update my address, set it to Main St",
        "delete from my calendar the meeting with O'Brien",
        "Delete from list",
        "insert into the agenda O'Brien's talk",
        "with Kim as (acting) chair",
        "with love as always",
        "merge into one",
        "create table of contents",
        "create a user for O'Brien",
        "drop index cards at Kim's",
        "values (moral) of O'Brien",
        "explain the select committee",
        "begin; then call O'Brien",
        "from:kim@example.com subject:'select * from t'",
        "MATCH (n:Person) WHERE n.name = 'Kim' RETURN n",
        "SELECT ?x WHERE { ?x foaf:name 'Kim' }",
        "{ customer(name: 'Kim') { id } }",
        "title = 'Kim' order by created",
        "where is O'Brien",
        "how do I select a row from a table?",
    ],
)
def test_prose_and_other_languages_are_none(text: str) -> None:
    assert not is_sql(text)


def test_long_texts_are_judged_in_linear_time() -> None:
    for text in ("/*" * 200_000, "( " * 200_000, "select " * 60_000, "-- x\n" * 80_000, "explain " * 50_000):
        start = time.process_time()
        is_sql(text)
        assert time.process_time() - start < 1
