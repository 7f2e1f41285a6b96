"""Records in many languages: whatever stands under a key is hidden, and the key is not."""

from __future__ import annotations

import json
import re

import pytest

from cloakllm_gateway.detection.catalogue import CATALOGUE
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.foreign_keys import KEYS, NAMES, SHORT
from cloakllm_gateway.detection.keys import NAME, classify, normalise
from cloakllm_gateway.detection.name_runs import Found
from cloakllm_gateway.detection.names import spread
from cloakllm_gateway.spans import Text

RECORDS = {
    "ru": {"Фамилия": "Смирнова", "Имя": "Анна", "Отчество": "Сергеевна", "Дата рождения": "12.04.1985",
           "Адрес": "г. Казань, ул. Баумана, д. 5, кв. 12", "Телефон": "+7 (916) 123-45-67",
           "Паспорт": "45 12 345678", "СНИЛС": "112-233-445 95", "ИНН": "500100732259"},
    "ru, in one": {"ФИО": "Смирнова Анна Сергеевна", "Дата рождения": "12 апреля 1985 г.",
                   "Номер телефона": "8 916 123-45-67", "Серия и номер паспорта": "4512 345678"},
    "uk": {"Прізвище": "Шевченко", "Ім'я": "Олена", "По батькові": "Іванівна", "Дата народження": "12.04.1985",
           "Адреса": "м. Київ, вул. Хрещатик, 22", "Телефон": "+380 44 123 45 67", "Номер паспорта": "МН 123456"},
    "bg": {"Име": "Мария", "Презиме": "Иванова", "Фамилия": "Петрова", "Дата на раждане": "12.04.1985",
           "Адрес": "гр. София, ул. Витоша 15", "Телефон": "+359 2 123 4567", "ЕГН": "7523169263"},
    "sr": {"Ime": "Ivana", "Prezime": "Horvat", "Datum rođenja": "12.04.1985.", "Adresa": "Ilica 10, Zagreb",
           "Broj telefona": "+385 1 234 5678"},
    "el": {"Επώνυμο": "Παπαδοπούλου", "Όνομα": "Ελένη", "Πατρώνυμο": "Γεώργιος", "Ημερομηνία γέννησης": "12/04/1985",
           "Διεύθυνση": "Ερμού 15, Αθήνα", "Τηλέφωνο": "+30 210 123 4567", "ΑΜΚΑ": "01013099997"},
    "ar": {"الاسم الكامل": "فاطمة الزهراء", "اسم العائلة": "العلوي", "تاريخ الميلاد": "12/04/1985",
           "العنوان": "شارع التحرير 15، القاهرة", "رقم الهاتف": "+20 2 2345 6789", "رقم الهوية": "28504120101234"},
    "fa": {"نام": "مریم", "نام خانوادگی": "احمدی", "تاریخ تولد": "1985/04/12", "تلفن": "+98 21 1234 5678"},
    "he": {"שם פרטי": "נועה", "שם משפחה": "כהן", "תאריך לידה": "12.04.1985", "כתובת": "רחוב הרצל 15, תל אביב",
           "טלפון": "03-123-4567", "תעודת זהות": "39337423"},
    "th": {"ชื่อ": "สมหญิง", "นามสกุล": "ใจดี", "วันเกิด": "12/04/2528", "ที่อยู่": "123/45 ถนนสุขุมวิท กรุงเทพฯ",
           "เบอร์โทรศัพท์": "02-123-4567"},
    "hi": {"नाम": "प्रिया", "उपनाम": "शर्मा", "जन्म तिथि": "12/04/1985", "पता": "15 गांधी मार्ग, दिल्ली",
           "फ़ोन": "011 2345 6789", "मोबाइल नंबर": "98765 43210"},
    "ja": {"姓": "山田", "名": "花子", "フリガナ": "ヤマダ ハナコ", "生年月日": "1985年4月12日",
           "住所": "大阪府大阪市北区梅田3-1-1", "電話番号": "06-6345-1234", "メールアドレス": "hanako@example.jp"},
    "zh": {"姓名": "王小明", "出生日期": "1985年4月12日", "地址": "北京市朝阳区建国路88号", "联系电话": "010-6512-3456",
           "护照号": "E12345678"},
    "ko": {"성명": "김민지", "생년월일": "1985년 4월 12일", "주소": "서울특별시 강남구 테헤란로 152",
           "전화번호": "02-345-6789", "여권번호": "M12345678"},
    "cs": {"Příjmení": "Dvořáková", "Jméno": "Tereza", "Datum narození": "12. 4. 1985",
           "Adresa": "Dlouhá 15, Praha", "Telefon": "+420 221 234 567", "Číslo pasu": "39512345"},
    "hu": {"Vezetéknév": "Szabó", "Keresztnév": "Ilona", "Születési dátum": "1985. 04. 12.",
           "Lakcím": "Budapest, Váci utca 15", "Telefonszám": "+36 1 234 5678"},
    "fi": {"Sukunimi": "Virtanen", "Etunimi": "Aino", "Syntymäaika": "12.4.1985",
           "Osoite": "Mannerheimintie 5, Helsinki",
           "Puhelin": "09 1234 5678"},
    "sv": {"Efternamn": "Lindqvist", "Förnamn": "Astrid", "Födelsedatum": "1985-04-12", "Adress": "Storgatan 5, Umeå",
           "Telefon": "090-123 45 67"},
    "da": {"Efternavn": "Sørensen", "Fornavn": "Freja", "Fødselsdato": "12.04.1985", "Adresse": "Nørregade 5, Odense",
           "Tlf": "66 12 34 56"},
    "nb": {"Etternavn": "Haugen", "Fornavn": "Ingrid", "Fødselsdato": "12.04.1985", "Adresse": "Storgata 5, Tromsø",
           "Telefon": "77 61 23 45"},
    "is": {"Fullt nafn": "Guðrún Jónsdóttir", "Fæðingardagur": "12.04.1985", "Heimilisfang": "Laugavegur 5, Reykjavík",
           "Farsími": "551 2345"},
    "tr": {"Adı": "Ayşe", "Soyadı": "Yıldırım", "Doğum Tarihi": "12.04.1985", "Adres": "Bağdat Caddesi 15, İstanbul",
           "Cep telefonu": "0532 123 45 67"},
    "ro": {"Nume": "Popescu", "Prenume": "Ioana", "Data nașterii": "12.04.1985", "Adresă": "Strada Lungă 15, Brașov",
           "Telefon": "0268 123 456"},
    "vi": {"Họ tên": "Nguyễn Thị Lan", "Ngày sinh": "12/04/1985", "Địa chỉ": "15 Lê Lợi, Quận 1",
           "Điện thoại": "028 3823 4567",
           "CCCD": "079185001234"},
    "id": {"Nama lengkap": "Siti Rahayu", "Tanggal lahir": "12-04-1985", "Alamat": "Jalan Merdeka 15, Bandung",
           "Nomor telepon": "022 423 4567"},
}  # fmt: skip


def as_json(record: dict[str, str]) -> str:
    return json.dumps([{"id": 1, **record}], ensure_ascii=False, indent=1)


def as_escaped_json(record: dict[str, str]) -> str:
    return json.dumps({"id": 1, **record})


def as_lines(record: dict[str, str]) -> str:
    return "".join(f"{key}: {value}\n" for key, value in record.items())


def as_columns(mark: str, record: dict[str, str]) -> str:
    cells = [f'"{value}"' if mark in value else value for value in record.values()]
    return f"{mark.join(record)}\n{mark.join(cells)}\n"


def as_markdown(record: dict[str, str]) -> str:
    rows = (record.keys(), ["---"] * len(record), record.values())
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


FORMS = {
    "JSON": as_json,
    "escaped JSON": as_escaped_json,
    "lines": as_lines,
    "CSV": lambda record: as_columns(",", record),
    "CSV of a spreadsheet": lambda record: as_columns(";", record),
    "TSV": lambda record: as_columns("\t", record),
    "Markdown": as_markdown,
}


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("language", RECORDS)
def test_every_value_of_a_record_is_hidden_and_no_key_of_it(language: str, form: str, detector: Detector) -> None:
    record, write = RECORDS[language], FORMS[form]
    hidden = text = write(record)
    for span in reversed(detector.find([Text(text)])[0]):
        hidden = hidden[: span.start] + hidden[span.end :]
    assert unquoted(hidden) == unquoted(write(dict.fromkeys(record, "")))


def unquoted(text: str) -> str:
    """A text without blanks, the quotes of its cells and the full stops at their ends: a token may take those in."""
    return re.sub(r"[\s\".]", "", text)


@pytest.mark.parametrize("language", KEYS)
def test_the_keys_of_a_language_prove_their_categories(language: str) -> None:
    for category, keys in KEYS[language].items():
        assert category in CATALOGUE
        for key in keys.split(","):
            assert classify(key.strip()) == category, key
            assert classify(key.strip().upper()) == category, key


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("фамилия=Смирнова", "Смирнова"),
        ('const who = {фамилия: "Смирнова"}', "Смирнова"),
        ("<фамилия>Смирнова</фамилия>", "Смирнова"),
        ("INSERT INTO люди (фамилия, город) VALUES ('Смирнова', 'Тверь');", "Смирнова"),
        ('{"фамилия_клиента": "Смирнова"}', "Смирнова"),
        ('{"Паспорт": "серия 4512 № 345678"}', "серия 4512 № 345678"),
        ('{"Дата рождения": "12 апреля 1985 года"}', "12 апреля 1985 года"),
        ('{"ngày sinh": "12 tháng 4 năm 1985"}', "12 tháng 4 năm 1985"),
        ('{"生年月日": "昭和60年4月12日"}', "昭和60年4月12日"),
        ('{"住所": "東京都港区芝公園四丁目2番8号"}', "東京都港区芝公園四丁目2番8号"),
        ("姓：山田\n住所：大阪府大阪市北区梅田3-1-1\n", "大阪府大阪市北区梅田3-1-1"),
        ('{"PRIJMENI": "Dvořáková"}', "Dvořáková"),
        ('{"date_de_naissance": "12 avril 1985"}', "12 avril 1985"),
    ],
)
def test_keys_are_read_in_any_notation_and_values_as_their_language_writes_them(
    text: str, value: str, detector: Detector
) -> None:
    assert value in [span.value for span in detector.find([Text(text)])[0]]


@pytest.mark.parametrize(
    "text",
    [
        '{"Имя файла": "Отчёт", "Модель телефона": "Galaxy S21", "Отчество": "не указано"}',
        '{"Модель": "телефон", "Имя": "Основной сервер", "Адрес": "0x7ffe0000"}',
        '{"파일 이름": "보고서", "이름": "설정", "크기": 3}',
        '{"文件名字": "报告", "address": "テスト用サーバー1"}',
        "住所: 設定なし\n電話番号: 未登録\n",
        'nume = "x"; adi: 5; strada: 5; utca = 3',
    ],
)
def test_settings_and_files_are_nobody(text: str, detector: Detector) -> None:
    assert detector.find([Text(text)])[0] == []


@pytest.mark.parametrize(
    ("text", "name"),
    [("Doğum Tarihi: 12.04.1985", "Doğum Tarihi"), ('{"Địa chỉ": "Hà Nội"}', "Địa"), ("**Họ Tên:** Lan", "Họ Tên")],
)
def test_what_a_model_takes_for_a_name_is_none_in_a_key(text: str, name: str) -> None:
    start = text.index(name)
    assert spread(text, [Found(start, start + len(name), "PERSON")]) == []


@pytest.mark.parametrize("text", ["Calle: see you", "Kim Lee: see you", "Tarihi, Doğum Tarihi wrote: see you"])
def test_who_speaks_is_no_key(text: str) -> None:
    end = text.index(":")
    assert [span.value for span in spread(text, [Found(0, end, "PERSON")])] == [text[:end]]


def test_the_words_for_a_name_prove_one_only_beside_something_personal(detector: Detector) -> None:
    assert {classify(name.strip()) for name in NAMES.split(",")} == {NAME}
    assert detector.find([Text('{"Имя": "Основной", "Размер": 3}')])[0] == []


def test_no_word_that_counts_alone_is_unknown() -> None:
    assert [word for word in SHORT.split(",") if not classify(word.strip())] == []


def test_everyday_words_of_code_are_no_keys() -> None:
    for key in ("often", "ten", "adi", "nume_items", "numeric", "concept_adi", "precep", "max_cep", "time", "regime"):
        assert classify(key) in ("", NAME), key


def test_accents_come_off_letters_and_scripts_stay_what_they_are() -> None:
    assert normalise("Địa chỉ") == ("dia", "chi")
    assert normalise("DOĞUM TARİHİ") == normalise("doğum tarihi") == ("dogum", "tarihi")
    assert normalise("Мобильный телефон 2") == ("мобильныи", "телефон", "2")
    assert normalise("ﾌﾘｶﾞﾅ") == ("フリガナ",)
    assert normalise("氏名（カナ）") == ("氏名", "カナ")
    assert normalise("customerE-Mail") == ("customer", "e", "mail")


BIRTHS = (
    "geb", "Geb.", "geb.", "GEB", "geboren", "geb_am", "dat_geb", "nacido", "nacida", "nac.",
    "né(e) le", "né le", "née le", "Née", "nato", "nata", "nato il", "nascido", "nascida", "nasc.",
    "ur.", "urodz.", "дата рожд.", "д.р.", "datum nar.",
)  # fmt: skip


@pytest.mark.parametrize("key", BIRTHS)
def test_a_birth_goes_by_the_short_keys_of_forms(key: str, detector: Detector) -> None:
    for text in (
        json.dumps({key: "05.05.1965"}, ensure_ascii=False),
        json.dumps([{"id": 7, key: "1965-05-05", "stand": "2026-01-01"}], indent=1, ensure_ascii=False),
        f"id: 7\n{key}: 05.05.1965\n",
        f"Name;{key};Tel\nKrause;05.05.1965;030 901820\n",
        f"{key}\tStand\n05.05.1965\tneu\n06.06.1966\talt\n",
    ):
        dates = [span.value for span in detector.find([Text(text)])[0] if span.category == "DATE_OF_BIRTH"]
        assert dates[:1] in (["05.05.1965"], ["1965-05-05"]), text


def test_a_birth_goes_by_an_abbreviation_and_a_preposition(detector: Detector) -> None:
    for text in (
        '{"Geb. am": "05.05.1965"}',
        "Geb. am: 05.05.1965",
        "Name;Geb. am;Tel\nKrause;05.05.1965;030 901820\n",
    ):
        spans = detector.find([Text(text)])[0]
        assert ("DATE_OF_BIRTH", "05.05.1965") in [(span.category, span.value) for span in spans], text


def test_short_keys_of_births_count_only_whole_and_over_a_date(detector: Detector) -> None:
    for text in (
        '{"nato": "member since 1955", "ur": "https://acme.io", "geb": 5, "nacida": "Madrid", "nasc": "1.2.3"}',
        '{"signato": "2026-01-01", "ausgeb": "2026-01-01", "data_ur_l": "2026-01-01", "nato_summit": "2026-07-07"}',
        "cur: 2026-01-01\nvia_ur: 2026-01-01\nin_nato: 2026-01-01\n",
    ):
        assert detector.find([Text(text)])[0] == [], text
