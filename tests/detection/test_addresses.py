"""Where an address ends: with its town, and before the rest of the sentence."""

from __future__ import annotations

import pytest

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

DETECTOR = Detector()

PLACES = [
    ("12 Rose Lane", "90210 Beverly Hills"),
    ("5 Baker Street", "NW1 6XE London"),
    ("Musterstr. 5", "80331 München"),
    ("Hauptstraße 12a", "60313 Frankfurt am Main"),
    ("12 rue de la République", "69002 Lyon"),
    ("Via Roma 15", "20121 Milano"),
    ("Calle de Alcalá 48", "28014 Madrid"),
    ("ul. Marszałkowska 12/4", "00-590 Warszawa"),
    ("Keizersgracht 123", "1015 CJ Amsterdam"),
    ("Rua Augusta 100", "1100-053 Lisboa"),
    ("Storgatan 5", "111 22 Stockholm"),
    ("Nørregade 7", "1165 København"),
    ("Mannerheimintie 4", "00100 Helsinki"),
    ("Andrássy út 12", "1061 Budapest"),
]


def addresses(text: str) -> list[str]:
    return [span.value for span in DETECTOR.find([Text(text)])[0] if span.category == "ADDRESS"]


@pytest.mark.parametrize("between", [", ", " ", " - ", "; ", " | ", " · ", "\n", ",\n"])
@pytest.mark.parametrize(("street", "town"), PLACES)
def test_the_code_and_the_town_behind_a_street_belong_to_it(street: str, town: str, between: str) -> None:
    address = f"{street}{between}{town}"
    assert addresses(f"We met at {address} and had tea.") == [address]
    assert addresses(f"We met at {address}. Was it late?") == [address]


@pytest.mark.parametrize("more", ["and 300 Spartans came", "in 2026 Kim moved", "the 3rd house"])
@pytest.mark.parametrize("street", [street for street, _ in PLACES])
def test_a_number_behind_a_street_that_is_no_code_of_a_town_is_none_of_it(street: str, more: str) -> None:
    assert addresses(f"We met at {street}, {more}.") == [street]


SENTENCES = [
    ("Address", "12 Rose Lane, Springfield", "Please call me before 5 pm."),
    ("Address", "12 St. John St. Apt 4", "It is a nice house, built in 1901."),
    ("Address", "1600 Quince Pkwy, Mountain View, CA 94043", "We have 3 dogs."),
    ("My address", "12 Rose Lane, St. Albans", "Kim will meet you there."),
    ("Adresse", "Musterstr. 5, 3. Stock, 80331 München", "Bitte klingeln Sie 2 mal."),
    ("Anschrift", "Am Alten Markt 3, 50667 Köln", "Das Haus steht dort seit 1901."),
    ("Adresse", "12 bis, rue de la République, 69002 Lyon", "Merci de sonner 2 fois."),
    ("Dirección", "Av. Paulista 1578", "Llame antes de las 5."),
    ("Indirizzo", "Via Roma 15, 20121 Milano", "Suonare 2 volte."),
    ("Adres", "Keizersgracht 123, 1015 CJ Amsterdam", "Bel twee keer aan."),
    ("Endereço", "Rua Augusta 100, 1100-053 Lisboa", "Toque 2 vezes."),
    ("Адрес", "ул. Ленина 5, Москва", "Звоните после 5."),
    ("住所", "東京都千代田区千代田1-1", "電話は夜に5回。"),
]


@pytest.mark.parametrize(("key", "address", "more"), SENTENCES)
def test_an_address_behind_its_key_ends_with_its_sentence(key: str, address: str, more: str) -> None:
    stop = "。" if key == "住所" else ". "
    assert addresses(f"{key}: {address}{stop}{more}") == [address]
    assert addresses(f"{key}: {address}") == [address]
    assert addresses(f"{key}: {address}{stop}") == [address]


@pytest.mark.parametrize(
    "address",
    [
        "12 Rose Lane, Springfield. Kent",
        "Hauptstr. 5, 3. Stock links, 80331 München",
        "412 St. John church road",
        "Quince Lane 48. Madrid. España",
        "12 Rose St.",
        "ул. Ленина д. 5 кв. 12, Москва",
    ],
)
def test_a_stop_within_an_address_does_not_end_it(address: str) -> None:
    assert addresses(f"Address: {address}") == [address]


#: Streets of a language with what is written behind their number: staircases, floors, doors, flats; and the town.
DOORS = [
    ("Mariahilfer Straße 12", ["/3/14", "/Top 5", " Top 5", " Stiege 3 Tür 14", ", Stiege 3, Tür 14"], "1060 Wien"),
    ("Gumpendorferstraße 12", ["/3/14", "/2. Stock/14", ", 2. Stock, Tür 14", "-14/2/5", "a/3/14"], "A-1060 Wien"),
    ("Karl-Marx-Straße 5", [", 3. OG links", ", Hinterhaus", ", Whg. 4", ", EG"], "10115 Berlin"),
    ("Calle Mayor 12", [", 3º izq.", ", 3º B", ", esc. 2, 3º C", ", portal 3, piso 2, puerta B"], "28013 Madrid"),
    ("Via Roma 12", [" int. 4", " int. 4, scala B", ", scala B, interno 4", ", piano 2, int. 4"], "20121 Milano"),
    ("12 bis rue de la Paix", [", bât. C", ", bât. C, esc. 2", ", bâtiment C, escalier 2, appt 14", ", 3e étage"],
     "75002 Paris"),
    ("ul. Długa 5", ["/12", " m. 12", "/12, kl. B", ", klatka B, piętro 3"], "00-238 Warszawa"),
    ("Keizersgracht 123", ["-II", "-hs", " hs", " bis", "-3"], "1015 CJ Amsterdam"),
    ("Rua Augusta 12", [", 3.º Esq.", ", 3º Dto.", ", 3º andar", " - apto 301, Bloco B"], "1100-053 Lisboa"),
    ("Nørregade 7", [", 2. th", ", 3. tv"], "1165 København"),
    ("Rue Haute 12", [" bte 4", ", bte 4"], "1000 Bruxelles"),
]  # fmt: skip


@pytest.mark.parametrize(("street", "doors", "town"), DOORS)
def test_what_stands_behind_the_number_belongs_to_the_address(street: str, doors: list[str], town: str) -> None:
    for door in doors:
        for address in (f"{street}{door}", f"{street}{door}, {town}"):
            found = addresses(f"We met at {address}")
            assert found == [address], address
            assert addresses(f"We met at {address} and had tea.") == [address], address


@pytest.mark.parametrize(
    "address",
    [
        "1060 Wien, Mariahilfer Straße 12/3/14",
        "1060 Wien, Gumpendorferstraße 12, Stiege 3, Tür 14",
        "Am Hof 4/2/8, 1010 Wien",
        "via Roma 12 int. 4, scala B",
        "Flat 3, 12 High Street",
        "Apartment 4B, 12 High Street",
        "12 High Street, Flat 3",
        "123 Main Street Apt 4B",
        "123 Main Street, 3rd Floor",
        "123 Main Street, Apt 4B, Springfield, IL 62701",
    ],
)
def test_no_half_of_an_address_is_left(address: str) -> None:
    assert addresses(f"We met at {address}") == [address]


@pytest.mark.parametrize(
    "text",
    [
        "the straße 12/3/14",
        "sent via Kafka 12/3",
        "via Port 8080, 4 times",
        "Version 12/3/14, 1060 times",
        "Top 5, Block 3",
    ],
)
def test_what_looks_like_a_door_is_no_address(text: str) -> None:
    assert addresses(text) == []


@pytest.mark.parametrize(
    ("street", "fields"),
    [
        ("Ottakringer Straße", '{{"strasse":"{}","hausnummer":"112/2/14","plz":1160,"ort":"Wien"}}'),
        ("Hauptplatz", '{{"strasse":"{}","hausnr":"3"}}'),
        ("Larkspur Close", '{{"street":"{}","house_number":"14","postcode":"GU2 9QT"}}'),
        ("Calle Mayor", '{{"calle":"{}","numero":"23","piso":"2ºA"}}'),
        ("rue des Lilas", '{{"rue":"{}","numero":"12 bis"}}'),
        ("Via Roma", '{{"via":"{}","civico":"15"}}'),
        ("Keizersgracht", '{{"straat":"{}","huisnummer":"123"}}'),
        ("ul. Długa", '{{"ulica":"{}","nr":"5"}}'),
        ("Ottakringer Strasse", "<StrtNm>{}</StrtNm><BldgNb>112</BldgNb><PstCd>1160</PstCd>"),
        ("Larkspur Close", "INSERT INTO homes (street, house_no) VALUES ('{}', '14');"),
        ("Ottakringer Straße", "Straße;Hausnr;PLZ;Ort\n{};12;1160;Wien\n"),
    ],
)
def test_a_street_whose_number_has_a_field_of_its_own_is_hidden(street: str, fields: str) -> None:
    assert addresses(fields.format(street)) == [street]


@pytest.mark.parametrize(
    "text", ['{"via": "Gateway"}', '{"address": "by the way"}', '{"street": "Gasse"}', "address: place the order"]
)
def test_what_only_ends_like_a_street_is_none(text: str) -> None:
    assert addresses(text) == []
