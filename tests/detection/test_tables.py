"""Tables as files, consoles and documents have them: whose cells a column proves, and which lines are no table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

DETECTOR = Detector()


def hidden(text: str) -> list[str]:
    return [span.value for span in DETECTOR.find([Text(text)])[0]]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("username,password\nbstone,correcthorse9\n", ["bstone", "correcthorse9"]),
        ("login\tpassword\nkmensah1\thunter2xyz\n", ["kmensah1", "hunter2xyz"]),
        ("| at | username | password |\n|---|---|---|\n| wiki | lenaf | `Tr0ub4dor&3` |\n", ["lenaf", "Tr0ub4dor&3"]),
        ("│ service │ username │ password   │\n│ wiki    │ lenaf    │ hunter2xyz │\n", ["lenaf", "hunter2xyz"]),
        (" id | login_id | password\n----+----------+----------\n  1 | lenaf    | hunter2xy\n", ["lenaf", "hunter2xy"]),
        ("NAME      NAMESPACE   PASSWORD\ngrafana   mon         hunter2xyz\n", ["hunter2xyz"]),
        ("username,bstone\npassword,correcthorse9\n", ["bstone", "correcthorse9"]),
        (
            "folder,type,name,login_uri,login_username,login_password,login_totp\n"
            ",login,wiki,https://example.com,bstone,correcthorse9,\n",
            ["bstone", "correcthorse9"],
        ),
        ("env,api_key\nprod,9f8e7d6c5b4a39281706\n", ["9f8e7d6c5b4a39281706"]),
        ("id,account_number\n1,9382637939\n", ["9382637939"]),
        ("id,cvv,expiry_date\n1,123,12/27\n", ["123", "12/27"]),
        ("id,imei,mac\n1,490154203237518,67:9e:76:88:24:65\n", ["490154203237518", "67:9e:76:88:24:65"]),
        ("id,bic\n1,DEUTDEFF500\n", ["DEUTDEFF500"]),
        ("id,wallet_address\n1,TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC\n", ["TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"]),
    ],
)  # fmt: skip
def test_secrets_and_accounts_need_no_column_about_people(text: str, values: list[str]) -> None:
    assert hidden(text) == values


@pytest.mark.parametrize(
    "text",
    [
        "id,key,token_count\n1,abcd,5512\n",
        "host,port\ndb1,5432\n",
        "model,prompt_tokens,token\ngpt,10,next\n",
        "code,message,password\nE1,invalid,required\n",
        "| Matcher | Condition to pass |\n|---|---|\n| `RegExp` | `MockClient` |\n| `Function` | must return true |\n",
        "| Action | Trust token (OIDC) |\n|---|---|\n| publish | Can stage |\n",
        "const names = [\n  'email', // the address of whoever\n  '_password', // is not in the config\n]\n",
        "<p><b>Password:</b> must have 8 characters</p>",
        "| Action | Admin | User |\n|---|---|---|\n| read | yes | readonly |\n",
        "| Feature | Swift | Kotlin |\n|---|---|---|\n| interface | Protocol | Interface |\n",
        "| username | password | email |\n|---|---|---|\n| string | string | string |\n",
        "| field | rule |\n|---|---|\n| username | required |\n| password | at least 8 characters |\n",
        "        host, username, password\n        timeout, retries, verify\n",
        "from app.auth import username, password\nfrom app.db import session, engine\n",
        "function login(username,password,cb){\n  return fetch(url,options,callback)\n}\n",
        "cat password | grep user\ncat swordfish | tee hunter2xyz\n",
        'type Key =\n  | "username"\n  | "password"\n  | "retries"\n',
        "type User struct {\n\tFirstName  string\n\tPassword   string\n\tUsername   string\n}\n",
        "model User {\n  id        Int      @id\n  password  String\n  username  String?\n}\n",
        "CREATE TABLE t (\n    first_name   varchar(50),\n    password     varchar(255),\n    username     text\n);\n",
        "Arguments:\n  username    The user name\n  password    The password to use\n",
        "USER       PID %CPU TTY   COMMAND\nroot         1  0.0 ?     init\nmessage+   900  0.0 ?     dbus\n",
        "Proto Recv-Q Local Address           State\ntcp        0 0.0.0.0:8080            LISTEN\n",
        "NAME          TYPE     DATA   AGE\ndb-password   Opaque   1      5d\napi-token     Opaque   1      5d\n",
        "              age        income\ncount  100.000000    100.000000\nmean    35.200000  50000.120000\n",
        "NAME                       READY   STATUS    RESTARTS\ncheckout-7d9f8b6c5-x2x7z   1/1     Running   0\n",
        "Password\n\nPasswords must have 8 characters.\n\nPhone\n2 items in stock\n\nAddress\n12 items found here\n",
    ],
)  # fmt: skip
def test_what_only_mentions_secrets_is_no_table_of_them(text: str) -> None:
    assert hidden(text) == []


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("name,address_line_1,address_line_2,phone_1,phone_2,email_1", "555-0143"),
        ('name,a,b,"Phone #",c,d', "555-0143"),
        ("name,a,b,Phone 1 - Value,Phone 2 - Value,E-mail 3 - Value", "555-0143"),
        ("name,a,b,Birth Date (MM/DD/YYYY),c,d", "03/12/1985"),
        ("name,a,b,SSN (required),c,d", "536228726"),
    ],
)
def test_the_name_of_a_column_may_be_numbered_and_have_a_remark(header: str, value: str) -> None:
    assert value in hidden(f"{header}\nx,y,z,{value},v,w\n")


@pytest.mark.parametrize(
    "date",
    ["1985-03-12 00:00:00", "12-Mar-1985", "12MAR85", "16-FEB-89", "3/12/85 0:00", "3/12/1985 12:00:00 AM",
     "1891-02-03", "1985-03-12T08:30:00+0200"],
)  # fmt: skip
def test_a_birth_date_is_read_as_databases_and_spreadsheets_print_it(date: str) -> None:
    assert hidden(f"first_name,dob,x\nZora,{date},1\n") == ["Zora", date]
    assert hidden(f'{{"dob": "{date}"}}') == [date]


_DRAWN = [
    "┏━━━━━━━━━━━━┳━━━━━━━━━━━━┓\n┃ First Name ┃ DOB        ┃\n┡━━━━━━━━━━━━╇━━━━━━━━━━━━┩\n│ {}       │ {} │\n"
    "└────────────┴────────────┘\n",
    "│ first_name │ dob        │\n├────────────┼────────────┤\n│ {}       │ {} │\n",
    "║ first_name ║ dob        ║\n╠════════════╬════════════╣\n║ {}       ║ {} ║\n",
    "┌─first_name─┬─dob────────┐\n│ {}       │ {} │\n└────────────┴────────────┘\n",
    "| **First name** | *DOB* |\n|---|---|\n| **{}** | *{}* |\n",
    "| First name | DOB | note |\n|---|---|---|\n| [{}](https://x.example/a) | `{}` | a \\| b |\n",
    "first_name dob\n---------- ----------\n{}       {}\n",
    "Number  First Name   Date of Birth\n------  ----------   -------------\n     7  {}         {}\n",
    "  first_name         dob\n0       {}  {}\n1       Piet  1972-03-07\n",
    "ID   FIRST NAME   DATE OF BIRTH\n17   {}         {}\n18   Bartholomew  1972-03-07\n$ exit\n",
    "id  first_name  dob\n17  {}        {}\n",
]


@pytest.mark.parametrize("table", _DRAWN)
def test_a_table_is_read_however_it_is_drawn(table: str) -> None:
    assert hidden(table.format("Zora", "1991-01-07"))[:2] == ["Zora", "1991-01-07"]


_WORDS = st.text("abcXYZ.", min_size=1, max_size=12)


@given(
    st.lists(st.tuples(_WORDS, st.text("0123456789", min_size=7, max_size=7), _WORDS), min_size=1, max_size=5),
    st.sampled_from("<>"),
    st.integers(1, 4),
)
def test_the_cells_of_aligned_columns_are_found_on_either_side(
    rows: list[tuple[str, str, str]], side: str, gap: int
) -> None:
    """Numbers have no blanks; whatever stands beside them, each is found whole."""
    numbers = [f"555{number}" for _, number, _ in rows]
    lines = [
        ("ITEM", "PHONE", "NOTE"),
        *((one, number, two) for (one, _, two), number in zip(rows, numbers, strict=True)),
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(3)]
    blank = " " * (gap + 1)
    text = "\n".join(
        blank.join(f"{cell:{side}{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines
    )
    found = DETECTOR.find([Text(text)])[0]
    assert [span.value for span in found if span.category == "PHONE"] == numbers


@pytest.mark.parametrize(
    "text",
    ["ssn\n{}\n219099999\n", "| ssn |\n|---|\n| {} |\n", 'SSN\r\n"{}"\r\n', "Date of birth\n1991-01-07\nSSN\n{}\n"],
)
def test_a_table_may_have_one_column(text: str) -> None:
    assert "536228726" in hidden(text.format("536228726"))


@pytest.mark.parametrize(
    "text",
    [
        "| Name | Type |\n|---|---|\n| first_name | String |\n| password | varchar(255) |\n| Username | text |\n",
        "| Name | Type | Description |\n|---|---|---|\n| first_name | string | The first name |\n"
        "| Password | string | The password |\n| Username | String | Who logs in |\n",
        "field,type\nfirst_name,String\npassword,varchar(255)\n",
    ],
)
def test_a_table_about_fields_has_no_values(text: str) -> None:
    assert hidden(text) == []


def test_a_header_below_an_empty_line_begins_a_table_of_the_same_width() -> None:
    text = "id,first_name,dob\n1,Zora,1991-01-07\n\nphone,last_name,note\n5550143,Hurston,x\n"
    assert hidden(text) == ["Zora", "1991-01-07", "5550143", "Hurston"]


def test_rows_that_a_mark_without_quotes_breaks_are_read_though_all_are_broken() -> None:
    assert hidden("first_name,address,phone\nZora,12 Main Street, Springfield,5550143\n")[::2] == ["Zora", "5550143"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("<x>\n  <ssn>\n    536228726\n  </ssn>\n</x>", ["536228726"]),
        ("<firstName><![CDATA[Zora]]></firstName>", ["Zora"]),
        ("<password><![CDATA[ hunter2<xyz ]]></password>", ["hunter2<xyz"]),
        ('<form><input type="text" name="first_name" value="Ludmila"></form>', ["Ludmila"]),
        ("<input value='536228726' name='ssn' id='x'/>", ["536228726"]),
        ('<property name="password" value="hunter2xyz"/>', ["hunter2xyz"]),
        ("<p><strong>First name:</strong> Zora</p>", ["Zora"]),
        ('<b>Born:</b><span class="x">1991-01-07</span>', ["1991-01-07"]),
        ('<option value="phone">Phone</option><button name="login" value="Login">', []),
    ],
)  # fmt: skip
def test_elements_name_their_values(text: str, values: list[str]) -> None:
    assert hidden(text) == values


@pytest.mark.parametrize("every", [1, 2, 20])
@pytest.mark.parametrize("text", ["called, will call back", "a, b, c, d"])
def test_texts_with_the_mark_in_most_rows_end_no_table(every: int, text: str) -> None:
    notes = [text if row % every == 0 else "called" for row in range(60)]
    rows = [f"{row},Eve Smyth,e{row}@example.org,Springfield,{note},open" for row, note in enumerate(notes)]
    table = "id,name,email,city,note,state\n" + "\n".join(rows) + "\n"
    assert hidden(table).count("Eve Smyth") == 60


def test_lines_of_prose_below_a_table_are_no_rows() -> None:
    prose = "Castle Rock, the former, opened early, and people came\n" * 12
    text = "id,name,email\n1,Eve Smyth,eve@example.org\n" + prose
    assert hidden(prose) == []
    assert hidden(text) == ["Eve Smyth", "eve@example.org"]


_LINES = ["first_name,dob", "Ines,1981-02-03", "Ana,1981-02-04", "", "password: hunter2xyz", "DB_PASSWORD=p;ss,w0rd9"]
_VALUES = ["Ines", "1981-02-03", "Ana", "1981-02-04", "hunter2xyz", "p;ss,w0rd9"]


@pytest.mark.parametrize(
    "lead", ["{:6}\t", "{:6}→", "{}: ", "{:3}| ", "src/users.csv:{}:", "/srv/x-1/.env:{}:", "+", "-", "> ", "{:6}\t+"]
)
def test_lines_are_read_as_tools_print_them(lead: str) -> None:
    """With their numbers, as ``cat -n`` and ``grep -n`` do, and as a change of a file shows them."""
    assert hidden("".join(f"{lead.format(number)}{line}\n" for number, line in enumerate(_LINES, 1))) == _VALUES
