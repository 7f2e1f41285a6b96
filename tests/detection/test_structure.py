"""What a key proves, and what it does not."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.keys import NAME, classify
from cloakllm_gateway.detection.tables import Words, tables
from cloakllm_gateway.spans import Encoding, Proof, Text

DETECTOR = Detector()


def persons(text: str) -> list[str]:
    return [span.value for span in DETECTOR.find([Text(text)])[0] if span.category == "PERSON"]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Tom O\'Brien", "email": "tom@example.org"}',
        "{'email': 'tom@example.org', \"name\": \"Tom O'Brien\"}",
        '[{"email": "tom@example.org", "x": {"y": 1}, "name": "Tom O\'Brien"}]',
        "id,name,email\n1,Tom O'Brien,tom@example.org\n",
        'id;email;name\n1;tom@example.org;"Tom O\'Brien"\n',
        "name\temail\nTom O'Brien\ttom@example.org\n",
        "| name | email |\n|------|-------|\n| Tom O'Brien | tom@example.org |\n",
        " name        | email \n-------------+-------\n Tom O'Brien | tom@example.org\n(1 row)\n",
        "Here it is:\n\nName: Tom O'Brien\nE-Mail: tom@example.org\n",
        "- **Name:** Tom O'Brien\n- **Email:** tom@example.org\n",
        "user:\n  name: Tom O'Brien\n  email: tom@example.org\n",
        '<person name="Tom O\'Brien" email="tom@example.org"/>',
        "<p><name>Tom O'Brien</name><email>tom@example.org</email></p>",
        'FIRST_NAME="Tom O\'Brien"\n',
        "vorname: Tom O'Brien",
        '{"body": "{\\"name\\": \\"Tom O\'Brien\\", \\"email\\": \\"tom@example.org\\"}"}',
        "BEGIN:VCARD\nFN:Tom O'Brien\nTEL;TYPE=CELL:+358401234567\nEND:VCARD",
    ],
)
def test_a_name_is_found_by_its_place_in_a_record(text: str) -> None:
    assert persons(text) == ["Tom O'Brien"]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Docker Hub", "version": "1.2"}',
        '{"name": "inputSchema", "email": "a@b.co"}',
        '{"name": "null", "email": "a@b.co"}',
        '[{"name": "Alpha"}, {"email": "a@b.co"}]',
        "name,version\nAlpha,1.2\n",
        "def f(first_name: str, email: str = None): return name",
        'first_name = request.get("first_name")',
        "file_name: Report Two\nemail: a@b.co",
    ],
)
def test_a_name_needs_a_personal_sibling_and_the_look_of_a_name(text: str) -> None:
    assert persons(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "token = b64encode(userpass).decode()",
        "def login(username: str | bytes, password: Optional[str] = None): ...",
        "self.user = user_parts[1]",
        'user = os.environ.get("USER")',
        "connect(password=password, user=user)",
        "secret_key = settings.SECRET_KEY",
    ],
)
def test_code_that_handles_secrets_holds_none(text: str) -> None:
    assert DETECTOR.find([Text(text)])[0] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("login password=swordfish ok", "swordfish"),
        ("login password=sword-fish7!; x=1", "sword-fish7!"),
        ("PASSWORD=sword-fish7?", "sword-fish7?"),
        ('conn = connect(password="swordfish9")', "swordfish9"),
        ("SMTP_PASS=tr0ub4dor&3\nX=1", "tr0ub4dor&3"),
        ("db:\n  password: sword-fish", "sword-fish"),
        ("?access_token=9f8e7d6c5b4a39281706&x=1", "9f8e7d6c5b4a39281706"),
        ("client_secret: 'a b c d'", "a b c d"),
    ],
)
def test_a_secret_under_its_key_is_found(text: str, value: str) -> None:
    assert [span.value for span in DETECTOR.find([Text(text)])[0]] == [value]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (  # a table on its side
            "customer,7\nfirst_name,Marta\nlast_name,Kowalczyk\nemail,x@y.pl\nphone,+48 601 234 567\n",
            ["Marta", "Kowalczyk", "x@y.pl", "+48 601 234 567"],
        ),
        ("name;Marta Nowak\nemail;x@y.pl\n", ["Marta Nowak", "x@y.pl"]),
        (
            "INSERT INTO users (id, first_name, last_name, dob) VALUES "
            "(1,'Siobhán','O''Brien','1990-02-14'), (2, 'Kim', 'Lee', NULL);",
            ["Siobhán", "O''Brien", "1990-02-14", "Kim", "Lee"],
        ),
        (
            "BEGIN:VCARD\nN:Kowalczyk;Marta;;;\nTEL;TYPE=CELL:+48 601 234 567\nBDAY:1984-07-03\n"
            "ADR;TYPE=HOME:;;ul. Prosta 12;Warszawa;;00-001;Poland\nEND:VCARD\n",
            ["Kowalczyk;Marta", "+48 601 234 567", "1984-07-03", "ul. Prosta 12;Warszawa;;00-001;Poland"],
        ),
        ("id,number,total\n17,5555555555554444,99.10\n18,5555555555554445,1\n", ["5555555555554444"]),
        ("?first_name=Marta%20Kow&x=1", ["Marta Kow"]),
        (
            "Cookie: session=9f8e7d6c5b4a39281706; theme=dark\nX-Api-Key: 8f8e7d6c5b4a39281706\n",
            ["9f8e7d6c5b4a39281706", "8f8e7d6c5b4a39281706"],
        ),
    ],
)
def test_records_of_many_kinds_are_read(text: str, values: list[str]) -> None:
    assert [span.value for span in DETECTOR.find([Text(text)])[0]] == values


def test_fields_of_one_object_speak_for_each_other() -> None:
    found = DETECTOR.find(
        [
            Text("Tova Quill", "name", 1),
            Text("kim@x.org", "email", 1),
            Text("Tova Quill", "name", 2),
            Text("4155550134", "phone", 2),
        ]
    )
    assert [[span.category for span in spans] for spans in found] == [["PERSON"], ["EMAIL"], ["PERSON"], ["PHONE"]]
    assert DETECTOR.find([Text("Tova Quill", "name", 1), Text("kim@x.org", "email", 2)])[0] == []


def test_a_value_that_proves_itself_is_not_known_by_its_key_alone() -> None:
    (span,) = DETECTOR.find([Text("kim@x.org", "email")])[0]
    assert span.proof is Proof.SHAPE
    for texts in ([Text("5550134", "phone")], [Text('{"phone": "5550134"}')]):  # beside its word, in both
        assert DETECTOR.find(texts)[0][0].proof is Proof.SHAPE
    (span,) = DETECTOR.find([Text("Tova", "first_name")])[0]
    assert span.proof is Proof.KEY


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("email", "none"), ("phone", "true"), ("ssn", "required"), ("iban", "string"), ("dob", "soon"), ("password",
        "${PASSWORD}"),
        ("token", "next"), ("first_name", "getName"), ("address", "0x7ffe0000"), ("card_number", "12"), ("ip",
        "localhost"),
    ],
)  # fmt: skip
def test_a_key_proves_only_a_value_of_its_shape(key: str, value: str) -> None:
    assert DETECTOR.find([Text(value, key)])[0] == []
    assert DETECTOR.find([Text(f'{{"{key}": "{value}"}}')])[0] == []


@pytest.mark.parametrize(
    ("key", "category"),
    [
        ("email", "EMAIL"), ("customerEmail", "EMAIL"), ("E-Mail-Adresse", "EMAIL"), ("correo_electronico", "EMAIL"),
        ("phone1", "PHONE"),
        ("Phone (work)", "PHONE"), ("TELEFONNUMMER", "PHONE"), ("dateOfBirth", "DATE_OF_BIRTH"),
        ("Date de naissance", "DATE_OF_BIRTH"),
        ("shippingAddress", "ADDRESS"), ("DB_PASSWORD", "SECRET"), ("client_secret", "SECRET"), ("x-api-key",
        "API_KEY"), ("prénom", "PERSON"),
        ("name", NAME), ("file_name", ""), ("email_verified", ""), ("token_count", ""), ("passport", "PASSPORT"),
        ("姓名", "PERSON"),
    ],
)  # fmt: skip
def test_keys_are_known_in_many_spellings(key: str, category: str) -> None:
    assert classify(key) == category


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("name,ssn\nTova Quill,536228726.0\nOla Zorba,536904399.0\n", "536228726"),
        ('{"ssn": 536228726.0}', "536228726.0"),  # the whole number, whose token stands in quotes
        ("ssn: 536228726.0\n", "536228726"),
        ("name,ssn\nTova Quill,5.36228726E+08\n", "536228726"),
        ("{'ssn': 5.36228726e8}", "536228726"),
        ("[client]\nuser = kmensah\npassword = tr0ub4dor\n", "kmensah"),
        ("[database]\n; the old one\nhost = db\n  user = kmensah", "kmensah"),
    ],
)
def test_values_are_found_as_spreadsheets_and_settings_write_them(text: str, value: str) -> None:
    assert value.removesuffix(".0") in [span.value.removesuffix(".0") for span in DETECTOR.find([Text(text)])[0]]


#: How the cells of a table may be written; what stands in the first and the last one is a person's.
_CELLS = st.sampled_from(["", "17", "a b", "O'Brien", '"x, y; z | w"', '"say ""hi"""', " padded ", "' q '", "17.0"])


@given(
    st.lists(st.tuples(_CELLS, _CELLS), min_size=1, max_size=6), st.sampled_from(",;\t"), st.sampled_from(["", "\r"])
)
def test_a_cell_is_found_whatever_stands_beside_it(rows: list[tuple[str, str]], mark: str, end: str) -> None:
    lines = [mark.join(("phone", "a", "b", "dob"))]
    lines += [mark.join((f"55501{n:02}", one, two, f'"1984-07-{n + 1:02}"')) for n, (one, two) in enumerate(rows)]
    found = [(span.category, span.value) for span in DETECTOR.find([Text(f"{end}\n".join(lines))])[0]]
    expected = [
        pair for n in range(len(rows)) for pair in (("PHONE", f"55501{n:02}"), ("DATE_OF_BIRTH", f"1984-07-{n + 1:02}"))
    ]
    assert [pair for pair in found if pair in expected] == expected


_LINES = st.lists(_CELLS | st.just("--"), min_size=3, max_size=3) | st.lists(_CELLS, max_size=4)


@given(st.lists(_LINES, max_size=5), st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]))
def test_a_row_reads_the_same_however_long_its_table_is(lines: list[list[str]], mark: str, end: str) -> None:
    def read(plain: int) -> list[list[str]]:
        rows = [["email", "a", "email"], *[["x@y.org", "", '"z@y.org"']] * plain, *lines]
        text = end.join(map(mark.join, rows))
        (table,) = tables(text, [0], Words(str, "email".__eq__, "email".__eq__, "email".__eq__))
        return [[text[start:stop] for start, stop in row] for row in table.rows]

    assert read(300)[:300] == [["x@y.org", "", "z@y.org"]] * 300
    assert read(300)[300:] == read(9)[9:]


def test_a_long_table_proves_what_its_rows_prove_one_by_one() -> None:
    """Rows are worked out some hundred at a time: a value that repeats counts wherever it stands."""
    at = Random(7)
    names = ["Tom O'Brien", "Ana Silva", "unknown", "getName", "kim", ""]
    rows = [
        ",".join((at.choice(names), at.choice(("kim@example.org", "", "n/a")), at.choice(("536228726.0", "17.0", "5"))))
        for _ in range(1_100)
    ]
    alone = [DETECTOR.find([Text(f"name,email,ssn\n{row}")])[0] for row in rows]
    (together,) = DETECTOR.find([Text("\n".join(["name,email,ssn", *rows]))])
    assert [(s.category, s.value) for s in together] == [(s.category, s.value) for spans in alone for s in spans]
    assert {s.category for s in together} == {"PERSON", "EMAIL", "SSN"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("number,total\n5555555555554444,99.10\n", "5555555555554444"),
        ("first / name: Tova\n", "Tova"),
        ("def f():\n    name = x\n\nname: Tova Quill\nemail: kim@x.org\n", "Tova Quill"),
        ("wrote to email('phone,dob\\n5550134,1984-07-03\\n\\\"')", "5550134"),
    ],
)
def test_what_a_text_mentions_elsewhere_hides_no_key(text: str, value: str) -> None:
    assert value in [span.value for span in DETECTOR.find([Text(text)])[0]]


@pytest.mark.parametrize(
    "text", ["user = client\n", "def f():\n    user = client\n    return user", "[x]\nuser = a.b(c)\n"]
)
def test_code_that_assigns_a_user_is_no_setting(text: str) -> None:
    assert DETECTOR.find([Text(text)])[0] == []


#: What a record about a person is made of, by the names its fields have in a language: a key and a value.
_KINDS = {
    "EMAIL": "kim@example.org",
    "PHONE": "4155550134",
    "PERSON": "Tova",
    "ADDRESS": "Quillgasse 12, Ostia",
    "DATE_OF_BIRTH": "1984-07-03",
    "SECRET": "tr0ub4dor&3",
    "BANK_ACCOUNT": "0532013000",
    "PASSPORT": "C01X00T47",
    "DRIVER_LICENSE": "D1234567",
    "USERNAME": "tova17",
    "CREDIT_CARD": "5555555555554444",
}
_LANGUAGES = {
    "en": "email phone first_name street_address birth_date password account_number passport_number driver_license "
    "username card_number",
    "de": "email telefon vorname straße geburtsdatum passwort kontonummer reisepassnummer führerscheinnummer "
    "benutzername kartennummer",
    "fr": "adresse_email téléphone prénom adresse_postale date_de_naissance mot_de_passe numéro_de_compte "
    "numéro_de_passeport numéro_permis identifiant numéro_de_carte",
    "es": "correo_electrónico teléfono nombre_completo dirección fecha_de_nacimiento contraseña número_de_cuenta "
    "número_de_pasaporte permiso_de_conducir usuario número_de_tarjeta",
    "it": "indirizzo_email telefono cognome indirizzo data_di_nascita parola_d_accesso numero_di_conto "
    "numero_passaporto patente nome_utente numero_carta",
    "pt": "endereço_de_email telefone primeiro_nome endereço data_de_nascimento senha número_da_conta "
    "número_do_passaporte carta_de_condução utilizador número_do_cartão",
    "nl": "emailadres telefoonnummer voornaam straatnaam geboortedatum wachtwoord rekeningnummer paspoortnummer "
    "rijbewijsnummer gebruikersnaam kaartnummer",
    "pl": "adres_email numer_telefonu nazwisko adres_zamieszkania data_urodzenia hasło numer_konta numer_paszportu "
    "numer_prawa_jazdy nazwa_użytkownika numer_karty",
}


@pytest.mark.parametrize("language", _LANGUAGES)
def test_a_record_is_read_in_eight_languages(language: str) -> None:
    keys = _LANGUAGES[language].split()
    record = dict(zip(keys, _KINDS.values(), strict=True))
    as_json = json.dumps(record, ensure_ascii=False)
    found = {span.value: span.category for span in DETECTOR.find([Text(as_json)])[0]}
    assert found == {value: category for category, value in _KINDS.items()}
    around = DETECTOR.find([Text(value, key) for key, value in record.items()])
    assert [spans[0].category for spans in around] == list(_KINDS)


_ROW = "17,Ana Silva,5550134,x"


@pytest.mark.parametrize(
    "between",
    [
        '1,"Tom O\'Brien",5550177,"a, b\n\nc, d"',
        '1,Tom O\'Brien,5550177,"said ""so""\nand went"',
        "1,Tom O'Brien,5550177,x, y and z",
        "see x, y,Tom O'Brien,5550177,x",
        "1,Tom O'Brien,5550177",
        "Tom O'Brien,5550177,x",
    ],
)
@pytest.mark.parametrize("before", [1, 6, 300])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_row_that_is_broken_or_goes_on_below_hides_no_other_and_is_read(between: str, before: int, end: str) -> None:
    lines = ["id,full_name,phone,note", *[_ROW] * before, between.replace("\n", end), _ROW, _ROW]
    found = [span.value for span in DETECTOR.find([Text(end.join(lines))])[0]]
    assert found[: 2 * before] == ["Ana Silva", "5550134"] * before
    assert {"Tom O'Brien", "5550177"} <= {*found[2 * before : -4]}  # and what else may be one of them
    assert found[-4:] == ["Ana Silva", "5550134"] * 2


@pytest.mark.parametrize("between", ["", "# a remark", "---", "\n\n", "x\n" * 600])
def test_a_line_that_is_no_row_ends_no_table(between: str) -> None:
    text = "\n".join(["id,full_name,phone,note", *[_ROW] * 300, *between[:12].split("\n"), *[_ROW] * 2])
    assert [span.value for span in DETECTOR.find([Text(text)])[0]] == ["Ana Silva", "5550134"] * 302


@pytest.mark.parametrize("row", ["|  |  Tom O'Brien | |", "||Tom O'Brien||", "| 1 | Tom O'Brien |  |  "])
def test_an_empty_cell_is_no_border(row: str) -> None:
    text = f"| id | full_name | note |\n|---|---|---|\n| 1 | Ana Silva | x |\n{row}\n" + "| | Ana Silva | |\n" * 20
    assert persons(text) == ["Ana Silva", "Tom O'Brien", *["Ana Silva"] * 20]


def test_a_table_below_a_table_is_read_as_its_own() -> None:
    text = "id,full_name,phone\n1,Ana Silva,5550134\nfull_name,note,id,dob\nTom O'Brien,x,17,1984-07-03\n"
    assert [span.value for span in DETECTOR.find([Text(text)])[0]] == [
        "Ana Silva", "5550134", "Tom O'Brien", "1984-07-03",
    ]  # fmt: skip


def test_the_rows_of_an_insert_go_on_below_empty_lines() -> None:
    rows = ",\n\n".join(f"({n}, '{'ordinary text ' * 20}', 'Tom O''Brien', '55501{n:02}')" for n in range(40))
    text = f"INSERT INTO t (id, note, full_name, phone) VALUES {rows};"
    assert [s.value for s in DETECTOR.find([Text(text)])[0] if s.category == "PHONE"] == [
        f"55501{n:02}" for n in range(40)
    ]


@pytest.mark.parametrize("odd", ["5\u200b", "5\xad", "%35", "\\u0035", "&#53;"])
@pytest.mark.parametrize("mark", [",", "|", "\t"])
def test_a_cell_that_is_encoded_is_read_however_far_its_header_is(odd: str, mark: str) -> None:
    def line(*cells: str) -> str:
        return f"|{mark.join(cells)}|" if mark == "|" else mark.join(cells)

    rows = [line("17", "ordinary", "555 01 34")] * 99
    text = "\n".join([line("id", "note", "phone"), *rows, line("18", "x", f"{odd}55 01 77"), *rows])
    found = DETECTOR.find([Text(text)])[0]
    assert [text[span.start : span.end] for span in found][99] == f"{odd}55 01 77"
    assert found[99].value == "555 01 77"
    assert found[99].encoding is not Encoding.PLAIN


def test_a_name_that_is_encoded_is_read_however_far_it_is_from_what_is_personal() -> None:
    text = json.dumps([{"name": "Ana\u200b Silva", "x": "ordinary text " * 99, "email": "a@x.org"}], ensure_ascii=False)
    assert persons(text) == ["Ana Silva"]


@pytest.mark.parametrize("first", ["# a remark", '"a\nb",Ana Silva,x,y', "", "----"])
def test_what_stands_below_a_header_hides_no_row(first: str) -> None:
    text = "\n".join(["note,full_name,id,dob", first, "x,Tom O'Brien,17,1984-07-03"])
    assert {"Tom O'Brien", "1984-07-03"} <= {span.value for span in DETECTOR.find([Text(text)])[0]}


def test_a_broken_row_among_indented_ones_ends_no_table() -> None:
    rows = [" 17 , Ana Silva , 5550134 "] * 6
    text = "\n".join([" id , full_name , phone ", *rows, " # a remark ", " Tom O'Brien , 5550177 ", *rows])
    assert persons(text) == [*["Ana Silva"] * 6, "Tom O'Brien", *["Ana Silva"] * 6]


HYPERTEXT = [
    "<table><tr><th>Name</th><th>Date of birth</th></tr><tr><td>{name}</td><td>{born}</td></tr></table>",
    "<table>\n <thead>\n  <tr><td>Name</td><td>Note</td><td>Born</td></tr>\n </thead>\n <tbody>\n"
    "  <tr>\n   <td>{name}</td>\n   <td>x</td>\n   <td>{born}</td>\n  </tr>\n </tbody>\n</table>",
    "<TABLE><TR><TD>Name<TD>Birth date<TR><TD>{name}<TD>{born}</TABLE>",
    "<table><tr><th>Name</th><td>{name}</td></tr><tr><th>Born</th><td>{born}</td></tr></table>",
    '<table class="infobox"><tr><th scope="row">Name:</th><td><a href="/x">{name}</a></td></tr>'
    '<tr><th scope="row"><b>Born</b></th><td class="bday"><span>{born}</span> (age 40)</td></tr></table>',
    "<tr><td>Name</td><td>{name}</td><td>Geburtsdatum</td><td>{born}</td></tr>",
    "<dl><dt>Name</dt><dd>{name}</dd><dt>Born</dt><dd>{born}</dd></dl>",
    "<dl>\n <div><dt>Name:</dt>\n <dd>{name}</dd></div>\n <div><dt>Date of birth:</dt>\n <dd>{born}</dd></div>\n</dl>",
    "<table><tr><th>Имя</th><th>Дата рождения</th></tr><tr><td>{name}</td><td>{born}</td></tr></table>",
]


@pytest.mark.parametrize("is_quoted", [False, True])
@pytest.mark.parametrize("born", ["1984-03-12", "12 March 1984", "12/03/1984"])
@pytest.mark.parametrize("text", HYPERTEXT)
def test_cells_of_hypertext_are_what_their_heads_say(text: str, born: str, is_quoted: bool) -> None:
    text = text.format(name="Qelu", born=born)
    found = DETECTOR.find([Text(json.dumps({"html": text}) if is_quoted else text)])[0]
    assert [(span.category, span.value) for span in found] == [("PERSON", "Qelu"), ("DATE_OF_BIRTH", born)]


@pytest.mark.parametrize(
    "text",
    [
        "<table><tr><th>Name</th><th>Released</th></tr><tr><td>Qelu</td><td>1984-03-12</td></tr></table>",
        "<tr><td>First name</td><td>Last name</td></tr>",
        "<tr><th>First name</th></tr><tr><th>Occupation</th></tr>",
        "<dl><dt>Phone</dt><dd>see below</dd><dt>Version</dt><dd>1984-03-12</dd></dl>",
        "<table><tr><th>Born</th></tr></table><table><tr><td>1984-03-12</td></tr></table>",
        "<tr><td>Full name</td><td>unknown</td></tr><tr><td>Occupation</td><td>Painter</td></tr>",
        "<td>Date of birth</td>",
    ],
)
def test_a_cell_of_hypertext_without_a_head_that_says_so_is_shown(text: str) -> None:
    assert DETECTOR.find([Text(text)])[0] == []


def test_each_line_of_a_cell_of_hypertext_is_read() -> None:
    text = "<tr><th>Phone</th><td>555 01 34<br>555 01 77</td></tr><tr><th>E-Mail</th><td>none</td></tr>"
    assert [span.value for span in DETECTOR.find([Text(text)])[0]] == ["555 01 34", "555 01 77"]


def test_a_cell_of_hypertext_is_read_however_far_its_head_is() -> None:
    rows = "\n\n".join(f"<tr><td>{'ordinary text ' * 9}</td><td>555 01 {n:02}</td></tr>" for n in range(99))
    text = f"<table><tr><th>Note</th><th>Phone</th></tr>{rows}</table>"
    assert [span.value for span in DETECTOR.find([Text(text)])[0]] == [f"555 01 {n:02}" for n in range(99)]


@pytest.mark.parametrize(
    "key", ["api_key", "access_key", "apiToken", "token", "auth_token", "client_secret", "password"]
)
@pytest.mark.parametrize("written", ['{{"{}": "{}"}}', "{}: {}", "{}={}", '{} = "{}"'])
def test_a_key_that_was_typed_in_is_found_though_few_of_its_characters_differ(key: str, written: str) -> None:
    text = written.format(key, "8f3kd93kfjd93kfj39")
    assert [span.value for span in DETECTOR.find([Text(text)])[0]] == ["8f3kd93kfjd93kfj39"]


@pytest.mark.parametrize("value", ["aaaa1111aaaa1111", "xxxx-xxxx-xxxx-1", "00000000-0000-0000-0000-000000000001"])
def test_what_repeats_itself_is_no_key(value: str) -> None:
    assert DETECTOR.find([Text(f'{{"api_key": "{value}", "token": "{value}"}}')])[0] == []


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("password: hunter2-Zq9XKLMPQR for now", ["hunter2-Zq9XKLMPQR"]),
        ("api_key: q7RvK3xZ9mTb2WcY5nHf (staging)", ["q7RvK3xZ9mTb2WcY5nHf"]),
        ("access key: 8f3kd93kfjd93kfj39, the old one", ["8f3kd93kfjd93kfj39"]),
        ("Use api key: a1b2c3d4e5f6a7b8, or ask.", ["a1b2c3d4e5f6a7b8"]),
        ("api key: a1b2c3d4e5f6a7b8.", ["a1b2c3d4e5f6a7b8"]),
        ("password: geheim99x.", ["geheim99x"]),
        ('password: "geheim99x."', ["geheim99x."]),
        ("X-Api-Key: a1b2c3d4e5f6a7b8.", ["a1b2c3d4e5f6a7b8"]),
        ("use Bearer q7RvK3xZ9mTb2WcY5nHf8LpD.", ["q7RvK3xZ9mTb2WcY5nHf8LpD"]),
        ("password is Sommer2024!", ["Sommer2024!"]),
        ("The password is Sommer2024!, and", ["Sommer2024!"]),
        ("The password is Sommer2024!.", ["Sommer2024!"]),
        ("password: must be at least 8 characters", []),
        ("secret: base64url encoded", []),
    ],
)
def test_a_remark_behind_a_secret_is_no_part_of_it(text: str, hidden: list[str]) -> None:
    assert [span.value for span in DETECTOR.find([Text(text)])[0]] == hidden
