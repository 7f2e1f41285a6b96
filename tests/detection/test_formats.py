"""Values as databases, shells, logs and settings write them, and code that only looks so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

DETECTOR = Detector()


def values(text: str) -> list[str]:
    return [span.value for span in DETECTOR.find([Text(text)])[0]]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("{'birth_date': datetime.date(1989, 2, 16), 'n': 1}", ["1989, 2, 16"]),
        ("Row(dob=datetime.datetime(1906, 12, 9, 0, 0), n=Decimal('12.00'))", ["1906, 12, 9, 0, 0"]),
        ("{'dob': Timestamp('1989-02-16 00:00:00')}", ["1989-02-16 00:00:00"]),
        ("{'dob': [datetime.date(1989, 2, 16), datetime.date(1990, 3, 17)], 'x': [1]}", ["1989, 2, 16", "1990, 3, 17"]),
        ("{ dob: new Date(1989, 2, 16) }", ["1989, 2, 16"]),
        ("{u'first_name': u'Zora', u'phone': u'555-0123'}", ["Zora", "555-0123"]),
        ("{b'username': b'kjohnson7', b'password': b'orbit1962x'}", ["kjohnson7", "orbit1962x"]),
        ("{'password': SecretStr('hunter2xyz'), 'first_name': np.str_('Zora')}", ["hunter2xyz", "Zora"]),
        ('User { iban: Some("FR1420041010050500013M02606") }', ["FR1420041010050500013M02606"]),
        (
            "OrderedDict([('first_name', 'Katherine'), ('dob', '1918-08-26'), ('password', 'orbit1962x')])",
            ["Katherine", "1918-08-26", "orbit1962x"],
        ),
        ("[(b'x-api-key', b'9d8c7b6a5f4e'), (b'accept', b'*/*')]", ["9d8c7b6a5f4e"]),
        ('[["first_name", "Zora"], ["password", "hunter2xyz"]]', ["Zora", "hunter2xyz"]),
        ("user['first_name'] = 'Zora'; os.environ[\"PGPASSWORD\"]='hunter2xyz'", ["Zora", "hunter2xyz"]),
        ("['first_name' => 'Zora', 'password' => 'hunter2xyz']", ["Zora", "hunter2xyz"]),
        ('{"user"=>{"first_name"=>"Siobhan", :last_name=>"Byrne"}}', ["Siobhan", "Byrne"]),
        ("User.create!(first_name: 'Siobhan', password: 'hunter2xyz')", ["Siobhan", "hunter2xyz"]),
        ('let user = User(firstName: "Siobhan", lastName: "Byrne")', ["Siobhan", "Byrne"]),
        ('<Input name="first_name" defaultValue="Siobhan" />', ["Siobhan"]),
    ],
)
def test_objects_are_read_as_programs_print_them(text: str, hidden: list[str]) -> None:
    assert values(text) == hidden


def test_a_date_counts_as_the_same_in_any_writing() -> None:
    spans = DETECTOR.find([Text("{'dob': datetime.date(1989, 2, 16)} dob=1989-02-16")])[0]
    assert [span.canonical for span in spans] == ["19890216", "19890216"]
    months = DETECTOR.find([Text("dob=1989-1-11\ndob=1989-11-1\n")])[0]
    assert [span.canonical for span in months] == ["19890111", "19891101"]


_COLUMNS = "(id, first_name, ssn, dob)"
_ROW = "'Ludmila', '536228726', '1978-06-05'"
_IN_ROW = ["Ludmila", "536228726", "1978-06-05"]


@pytest.mark.parametrize(
    "text",
    [
        f"INSERT INTO t {_COLUMNS} VALUES (uuid(), {_ROW});",
        f"INSERT INTO t {_COLUMNS} VALUES (now(3, 'x'), {_ROW});",
        f"INSERT INTO t {_COLUMNS} VALUES (ARRAY['a', 'b'], {_ROW});",
        f"INSERT INTO t {_COLUMNS} VALUES (X'{'0a' * 40}', {_ROW});",
        f"INSERT INTO t {_COLUMNS} VALUES (1), (2, {_ROW});",
        f"INSERT INTO t {_COLUMNS}\nVALUES\n  -- row 1, it's the first\n  (1, {_ROW});",
        f"INSERT INTO t {_COLUMNS} VALUES /* two */ (1, 'x'), -- (\n (2, {_ROW});",
        f"INSERT INTO t {_COLUMNS} VALUES (1, 'Ludmila'::text, CAST(N'536228726' AS char(9)), DATE '1978-06-05')",
        f"INSERT INTO t {_COLUMNS} VALUES (1, N'Ludmila', E'536228726', TO_DATE('1978-06-05', 'YYYY-MM-DD'))",
        f"INSERT LOW_PRIORITY IGNORE INTO t {_COLUMNS} VALUES (1, {_ROW});",
        f"INSERT OR REPLACE INTO t AS x {_COLUMNS} OVERRIDING SYSTEM VALUE VALUES (1, {_ROW});",
        f'INSERT INTO "my people"."all of-them" {_COLUMNS} VALUES (1, {_ROW});',
        f"INSERT [dbo].[People] {_COLUMNS} OUTPUT inserted.id VALUES (1, {_ROW});",
        f"MERGE INTO t USING s ON (t.id = s.id) WHEN NOT MATCHED THEN INSERT {_COLUMNS} VALUES (1, {_ROW});",
        f"INSERT INTO t {_COLUMNS} SELECT 1, {_ROW} FROM dual;",
        f"INSERT ALL INTO t (id) VALUES (1) INTO t {_COLUMNS} VALUES (1, {_ROW}) SELECT 1 FROM dual;",
        f"CREATE TABLE `t` (`id` int NOT NULL DEFAULT '1', `first_name` varchar(9), `ssn` char(9), -- x\n`dob` date,"
        f" PRIMARY KEY (`id`));\nINSERT INTO `t` VALUES (1,{_ROW});",
        f"CREATE TABLE IF NOT EXISTS t{_COLUMNS};\nINSERT INTO t VALUES(1,{_ROW});",
        "COPY public.t (id, first_name, ssn, dob) FROM stdin;\n1\tLudmila\t536228726\t1978-06-05\n\\.\n",
        "UPDATE t SET `first_name` = 'Ludmila', [ssn]='536228726' WHERE \"dob\" = '1978-06-05'",
        "WHERE last_name IN (N'Ludmila') AND ssn LIKE '536228726%' AND t.dob = N'1978-06-05'",
    ],
)
def test_rows_of_sql_are_read_in_every_dialect(text: str) -> None:
    assert values(text) == _IN_ROW


@given(
    st.lists(
        st.sampled_from(["(1, ", "(uuid(), ", "(f('a', g(1)), ", "/* x */ (NULL, ", "(\n-- it's\n1,"]),
        min_size=1,
        max_size=9,
    ),
    st.sampled_from([",", ", ", ",\n", " /* , */ , -- '\n"]),
)
def test_no_row_hides_another(beginnings: list[str], between: str) -> None:
    rows = between.join(f"{beginning}'Ludmila{'a' * i}', '536228726')" for i, beginning in enumerate(beginnings))
    found = values(f"INSERT INTO t (id, first_name, ssn) VALUES {rows};")
    assert found == [value for i in range(len(beginnings)) for value in (f"Ludmila{'a' * i}", "536228726")]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("first_name: Yara  # x\ndob: 1990-10-10 # HR\n", ["Yara", "1990-10-10"]),
        ('password: "hunter2xyz" # c\n', ["hunter2xyz"]),
        ('password: "hunter # xyz"\n', ["hunter # xyz"]),
        ("address: 12 Main Street # 5\n", ["12 Main Street # 5"]),
        ("user:\n  password: |\n    hunter2xyz\n  first_name: >- # c\n    Hyacinth\n", ["hunter2xyz", "Hyacinth"]),
        ("password: |\n\n  hunter2xyz\n\nnext: x\n", ["hunter2xyz"]),
        ("passwords:\n- hunter2xyz\n- 'p q r' # c\nssns:\n  - 536228726\n", ["hunter2xyz", "p q r", "536228726"]),
        ("first_name:\n  Ludmila Novak\npassword:\n  'x y z'\n", ["Ludmila Novak", "x y z"]),
        ("password: !!str hunter2xyz\nusername: &u kim17\n", ["hunter2xyz", "kim17"]),
        ("'password': hunter2xyz\n\"username\": kim17 # c\n", ["hunter2xyz", "kim17"]),
        ("user: {password: flux88cap, first_name: Emmett}\n", ["flux88cap", "Emmett"]),
        ("[db]\npassword = swordfish ; prod\nuser = kim # me\n", ["swordfish", "kim"]),
        ('"FirstName"="Zaphod"\n"Password"="heartofgold42"\n', ["Zaphod", "heartofgold42"]),
        ('phones = ["555-0143", "555-0144"]\n', ["555-0143", "555-0144"]),
        ("SECRET_KEY=9x&k2(p)v#t!m$w_q7-z=3+l@j5^h8*d1\n", ["9x&k2(p)v#t!m$w_q7-z=3+l@j5^h8*d1"]),
        ("export DB_PASSWORD=p,ss;w0rd|9}  # c\nDB_HOST=x\n", ["p,ss;w0rd|9}"]),
        ('DB_PASSWORD="with \\"escaped\\" quote9"\n', ['with \\"escaped\\" quote9']),
        ("WIFI_PSK=tr0ub4dor3\nADMIN_PW=tr0ub4dor4\npre-shared-key=tr0ub4dor5\n", [f"tr0ub4dor{i}" for i in (3, 4, 5)]),
    ],
)
def test_settings_are_read_with_comments_blocks_and_lists(text: str, hidden: list[str]) -> None:
    assert values(text) == hidden


_HASH = "$2b$12$" + "q7RvK3xZ9mTb2WcY5nHf8L" * 2 + "pD4sGj6ae"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("User(id=12, username=athorne, birthDate=1992-02-29)", ["athorne", "1992-02-29"]),
        ("event=login|user=b.simpson|x=1", ["b.simpson"]),
        ("[INFO] username:rhodes77 user_id:42", ["rhodes77"]),
        ("{ID:7 FirstName:Thandiwe Password:hunter2abc}", ["Thandiwe", "hunter2abc"]),
        ("created, Password: tajne88x", ["tajne88x"]),
        ("sshd[1]: Failed password for invalid user kjohansson from host port 22", ["kjohansson"]),
        ("sshd[1]: Accepted publickey for kjohansson from host", ["kjohansson"]),
        ("imap-login: Login: user=<carla.rossi>, method=PLAIN", ["carla.rossi"]),
        ("curl -H 'X-API-Key: 9d8c7b6a5f4e' -H \"Cookie: sid=8d8c7b6a5f4e\" x", ["9d8c7b6a5f4e", "8d8c7b6a5f4e"]),
        ("[debug] header X-Api-Key: 9d8c7b6a5f4e", ["9d8c7b6a5f4e"]),
        ("X-Api-Key=[9d8c7b6a5f4e]", ["9d8c7b6a5f4e"]),
        ('map["X-Api-Key":[]string{"9d8c7b6a5f4e"}]', ["9d8c7b6a5f4e"]),
        ("Set-Cookie: sid=9d8c7b6a5f4e; Path=/; Max-Age=3600; HttpOnly", ["9d8c7b6a5f4e"]),
        ("curl -u admin:Passw0rd9 x; sshpass -p 'Passw0rd8' ssh x", ["Passw0rd9", "Passw0rd8"]),
        ("CREATE USER x WITH PASSWORD 'Blue#Sky42';", ["Blue#Sky42"]),
        (f"kim:{_HASH}:19000:0", [_HASH]),
        ("a=1&phone=%2B44+20+7946+0123&name=Gimli+Gloinson", ["%2B44+20+7946+0123", "Gimli+Gloinson"]),
    ],
)  # fmt: skip
def test_logs_commands_and_requests_are_read(text: str, hidden: list[str]) -> None:
    assert values(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "choices = [('password', 'Password'), ('first_name', 'First name'), ('username', 'varchar')]",
        '{"required": ["email", "password"], "x": [["email", "password"]]}',
        "getattr(x, 'password', 'default1'); unique = ('first_name', 'last_name')",
        "if k in ('password', 'hunter2xyz'):",
        "if password:\n    continue\nfor user in username:\n    pass\n",
        "secrets:\n  - db_password\nusers:\n  - root\n",
        "properties:\n  password:\n    type: string\n  username:\n    $ref: '#/x'\n",
        "f(username=username, password=password)\nf(user=a|b, x)\n",
        "o=1,password=e.password||'',token=t.token",
        "x['token'] = \"required\"; x['password'] = y; if x['password'] == 'hunter2xyz': ...",
        "def f(\n    token: TokenOpt = None,\n    password: Annotated[str] = x,\n): ...",
        "{'password': getpass('Password: '), first_name: _('Given')}",
        "map(user => user.name, password => { })",
        "docker run -u 1000:1000 --user www-data:www-data x",
        'expires = {"password": 864000, "x": 1}\nexpires = {\n  "password": 864000,\n}\n',
        "SELECT first_name FROM t WHERE username IN (SELECT x FROM y) AND password LIKE ?",
        "INSERT INTO t (first_name, dob) VALUES (?, ?), ($1, $2), (:a, %s)",
        "INSERT INTO t VALUES (1, 'x')",
        "SECRET_KEY=get_secret('x')[0]\nAPI_TOKEN=os.environ['TOKEN']\n",
        "fun login(patient: Patient, password: String); def f(first_name: Name, token: Token): ...",
        'PASSWORD=$(pass show x/y)\nDB_PASSWORD="${PW}"\n',
    ],
)
def test_code_that_mentions_fields_is_shown(text: str) -> None:
    assert values(text) == []
