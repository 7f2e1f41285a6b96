"""What fields about a person are called, language by language; the catalogue has those of Western Europe and Polish.

Keys are written as people write them, several divided by commas; :mod:`.keys` takes accents and blanks off.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Category to keys, by ISO 639 code.
KEYS: Mapping[str, Mapping[str, str]] = {
    "ru": {
        "PERSON": "фамилия, отчество, фио, полное имя, имя и фамилия, фамилия и имя, фамилия имя отчество, "
        "имя клиента, имя пациента, имя сотрудника, девичья фамилия",
        "DATE_OF_BIRTH": "дата рождения, дата рожд, день рождения, родился, родилась, д.р.",
        "ADDRESS": "адрес, домашний адрес, адрес проживания, адрес регистрации, адрес доставки, место жительства",
        "PHONE": "телефон, номер телефона, мобильный, мобильный телефон, тел, сотовый",
        "EMAIL": "почта, эл почта, электронная почта, адрес электронной почты, имейл",
        "PASSPORT": "паспорт, номер паспорта, серия и номер паспорта, паспортные данные",
        "NATIONAL_ID": "снилс",
        "INN_RU": "инн",
        "SECRET": "пароль",
    },
    "uk": {
        "PERSON": "прізвище, по батькові, піб, повне ім'я, прізвище та ім'я, ім'я та прізвище, ім'я клієнта",
        "DATE_OF_BIRTH": "дата народження, день народження",
        "ADDRESS": "адреса, домашня адреса, адреса проживання, місце проживання",
        "PHONE": "номер телефону, мобільний телефон, мобільний номер",
        "EMAIL": "пошта, електронна пошта, ел пошта",
        "PASSPORT": "номер паспорта, номер паспорту, серія та номер паспорта",
        "EDRPOU_UA": "іпн, рнокпп",
    },
    "bg": {
        "PERSON": "презиме, собствено име, бащино име, име и фамилия, пълно име, трите имена, имена",
        "DATE_OF_BIRTH": "дата на раждане, рождена дата, роден на, родена на",
        "ADDRESS": "постоянен адрес, домашен адрес",
        "PHONE": "телефонен номер, мобилен телефон, мобилен, gsm номер",
        "EMAIL": "имейл, имейл адрес, електронна поща",
        "EGN_BG": "егн",
        "PASSPORT": "номер на паспорт",
    },
    "sr": {
        "PERSON": "презиме, име и презиме, prezime, ime i prezime",
        "DATE_OF_BIRTH": "датум рођења, datum rođenja, datum rojstva",
        "ADDRESS": "adresa, kućna adresa, naslov prebivališta",
        "PHONE": "broj telefona, mobitel, број телефона, telefonska številka",
        "EMAIL": "e-pošta, elektronska pošta",
        "PASSPORT": "broj pasoša, broj putovnice, putovnica",
    },
    "el": {
        "PERSON": "επώνυμο, επίθετο, ονοματεπώνυμο, πατρώνυμο, μητρώνυμο, όνομα πελάτη, πλήρες όνομα",
        "DATE_OF_BIRTH": "ημερομηνία γέννησης, ημ γέννησης, γενέθλια",
        "ADDRESS": "διεύθυνση, διεύθυνση κατοικίας, οδός",
        "PHONE": "τηλέφωνο, κινητό, αριθμός τηλεφώνου, κινητό τηλέφωνο, τηλ",
        "EMAIL": "ηλεκτρονικό ταχυδρομείο, ηλεκτρονική διεύθυνση",
        "PASSPORT": "διαβατήριο, αριθμός διαβατηρίου",
        "AMKA_GR": "αμκα",
        "TAX_ID": "αφμ, αριθμός φορολογικού μητρώου",
    },
    "ar": {
        "PERSON": "الاسم الكامل, الاسم الأول, الاسم الاول, اسم العائلة, اللقب, اسم الأب, الاسم الأخير, الاسم الثلاثي, "
        "اسم العميل, اسم المريض, الاسم الأوسط",
        "DATE_OF_BIRTH": "تاريخ الميلاد, تاريخ الولادة",
        "ADDRESS": "العنوان, عنوان السكن, عنوان المنزل, عنوان الإقامة",
        "PHONE": "الهاتف, رقم الهاتف, الجوال, رقم الجوال, هاتف, رقم الهاتف المحمول, الموبايل",
        "EMAIL": "البريد الإلكتروني, البريد الالكتروني, الإيميل, بريد إلكتروني",
        "PASSPORT": "جواز السفر, رقم جواز السفر",
        "NATIONAL_ID": "رقم الهوية, الرقم القومي, الرقم الوطني, الهوية الوطنية",
    },
    "fa": {
        "PERSON": "نام خانوادگی, نام و نام خانوادگی, نام کامل, نام پدر",
        "DATE_OF_BIRTH": "تاریخ تولد",
        "ADDRESS": "آدرس, نشانی",
        "PHONE": "تلفن, شماره تلفن, موبایل, شماره موبایل, تلفن همراه",
        "EMAIL": "ایمیل, پست الکترونیک",
        "NATIONAL_ID": "کد ملی, شماره ملی",
    },
    "he": {
        "PERSON": "שם, שם פרטי, שם משפחה, שם מלא, שם האב, שם הלקוח, שם המטופל",
        "DATE_OF_BIRTH": "תאריך לידה, ת.לידה, יום הולדת",
        "ADDRESS": "כתובת, כתובת מגורים, כתובת בית",
        "PHONE": "טלפון, מספר טלפון, נייד, טלפון נייד, סלולרי",
        "EMAIL": 'דוא"ל, דוא״ל, אימייל, מייל, דואר אלקטרוני',
        "PASSPORT": "דרכון, מספר דרכון",
        "TEUDAT_ZEHUT_IL": "תעודת זהות, ת.ז., מספר זהות, מספר תעודת זהות",
    },
    "th": {
        "PERSON": "ชื่อ-นามสกุล, ชื่อและนามสกุล, นามสกุล, ชื่อจริง, ชื่อลูกค้า, ชื่อผู้ป่วย, ชื่อเต็ม",
        "DATE_OF_BIRTH": "วันเกิด, วันเดือนปีเกิด, วัน/เดือน/ปีเกิด",
        "ADDRESS": "ที่อยู่, ที่อยู่ปัจจุบัน, ที่อยู่จัดส่ง",
        "PHONE": "โทรศัพท์, เบอร์โทร, เบอร์โทรศัพท์, หมายเลขโทรศัพท์, มือถือ, เบอร์มือถือ, โทร",
        "EMAIL": "อีเมล, อีเมล์",
        "PASSPORT": "หนังสือเดินทาง, เลขที่หนังสือเดินทาง, หมายเลขหนังสือเดินทาง",
        "TIN_TH": "เลขบัตรประชาชน, เลขประจำตัวประชาชน, บัตรประชาชน",
    },
    "hi": {
        "PERSON": "पूरा नाम, उपनाम, कुलनाम, पहला नाम, अंतिम नाम, पिता का नाम, माता का नाम, ग्राहक का नाम",
        "DATE_OF_BIRTH": "जन्म तिथि, जन्मतिथि, जन्म दिनांक, जन्म तारीख",
        "ADDRESS": "पता, घर का पता, स्थायी पता",
        "PHONE": "फ़ोन, फोन, फ़ोन नंबर, फोन नंबर, मोबाइल, मोबाइल नंबर, दूरभाष, टेलीफोन",
        "EMAIL": "ईमेल, ई-मेल, ईमेल पता",
        "PASSPORT": "पासपोर्ट, पासपोर्ट नंबर, पासपोर्ट संख्या",
        "AADHAAR_IN": "आधार, आधार नंबर, आधार संख्या",
    },
    "ja": {
        "PERSON": "姓, 名, 氏名, 名前, お名前, フルネーム, フリガナ, ふりがな, カナ氏名, 氏名カナ, 氏, 名字, "
        "苗字, セイ, メイ, "
        "顧客名, 患者名, 担当者名, 漢字氏名, 氏名(カナ), 姓(カナ), 名(カナ)",
        "DATE_OF_BIRTH": "生年月日, 誕生日",
        "ADDRESS": "住所, 現住所, ご住所, 自宅住所, お届け先, 送付先住所, 居住地",
        "PHONE": "電話, 電話番号, お電話番号, 携帯, 携帯電話, 携帯番号, 携帯電話番号, 自宅電話, 連絡先電話番号",
        "EMAIL": "メール, メールアドレス, eメール, 電子メール",
        "PASSPORT": "パスポート, パスポート番号, 旅券番号",
        "MYNUMBER_JP": "マイナンバー, 個人番号",
    },
    "zh": {
        "PERSON": "姓名, 名字, 客户姓名, 客戶姓名, 患者姓名, 收件人, 联系人, 聯絡人, 联系人姓名, "
        "真实姓名, 全名, 員工姓名, 员工姓名",
        "DATE_OF_BIRTH": "出生日期, 出生年月, 出生年月日, 生日",
        "ADDRESS": "地址, 住址, 家庭住址, 家庭地址, 收货地址, 收貨地址, 通讯地址, 通訊地址, "
        "联系地址, 聯絡地址, 户籍地址, 居住地址",
        "PHONE": "电话, 手机, 電話, 手機, 电话号码, 電話號碼, 手机号, 手机号码, 手機號碼, 联系电话, 聯絡電話, 移动电话",
        "EMAIL": "邮箱, 郵箱, 电子邮件, 電子郵件, 电子邮箱, 電子郵箱, 邮箱地址, 邮件地址",
        "PASSPORT": "护照, 護照, 护照号, 护照号码, 護照號碼",
        "RESIDENT_ID_CN": "身份证, 身份证号, 身份证号码, 公民身份号码",
        "SECRET": "密码, 密碼",
    },
    "ko": {
        "PERSON": "성명, 고객명, 환자명, 담당자명, 예금주, 고객 이름, 수취인",
        "DATE_OF_BIRTH": "생년월일, 출생일, 생일",
        "ADDRESS": "주소, 집주소, 자택주소, 배송지, 배송지 주소, 거주지",
        "PHONE": "전화, 전화번호, 연락처, 휴대폰, 휴대폰번호, 휴대전화, 핸드폰, 핸드폰번호",
        "EMAIL": "이메일, 이메일주소, 전자우편, 메일주소",
        "PASSPORT": "여권, 여권번호",
        "RRN_KR": "주민등록번호, 주민번호",
    },
    "cs": {  # and Slovak
        "PERSON": "příjmení, jméno a příjmení, jméno klienta, celé jméno, křestní jméno, rodné příjmení, priezvisko, "
        "meno a priezvisko, celé meno, krstné meno",
        "DATE_OF_BIRTH": "datum narození, datum nar., dátum narodenia, narozen, narozena",
        "ADDRESS": "adresa, bydliště, trvalé bydliště, ulice, bydlisko, trvalé bydlisko",
        "PHONE": "telefonní číslo, telefónne číslo, číslo telefonu, mobilní telefon",
        "EMAIL": "e-mailová adresa, emailová adresa",
        "PASSPORT": "číslo pasu, cestovní pas, číslo cestovního pasu, cestovný pas",
        "NATIONAL_ID": "číslo občanského průkazu, občanský průkaz, číslo op",
    },
    "hu": {
        "PERSON": "vezetéknév, keresztnév, családnév, utónév, teljes név, születési név, anyja neve, ügyfél neve",
        "DATE_OF_BIRTH": "születési dátum, születési idő, születésnap, született",
        "ADDRESS": "cím, lakcím, lakhely, állandó lakcím, postai cím, szállítási cím, utca",
        "PHONE": "telefonszám, mobilszám, mobiltelefon",
        "EMAIL": "e-mail cím, email cím",
        "PASSPORT": "útlevél, útlevélszám, útlevél száma",
        "NATIONAL_ID": "személyi szám, személyi igazolvány, személyi igazolvány szám, személyazonosító, tajszám",
    },
    "fi": {
        "PERSON": "sukunimi, etunimi, etunimet, koko nimi, kutsumanimi, asiakkaan nimi",
        "DATE_OF_BIRTH": "syntymäaika, syntymäpäivä, syntynyt",
        "ADDRESS": "osoite, kotiosoite, katuosoite, postiosoite, lähiosoite",
        "PHONE": "puhelin, puhelinnumero, matkapuhelin, matkapuhelinnumero, puh",
        "EMAIL": "sähköposti, sähköpostiosoite",
        "PASSPORT": "passin numero, passinumero",
    },
    "sv": {
        "PERSON": "efternamn, förnamn, fullständigt namn, kundnamn, mellannamn, tilltalsnamn, för- och efternamn",
        "DATE_OF_BIRTH": "födelsedatum, födelsedag, född",
        "ADDRESS": "adress, hemadress, bostadsadress, gatuadress, postadress, leveransadress",
        "PHONE": "mobilnummer, mobiltelefon",
        "EMAIL": "e-postadress, epostadress",
        "PASSPORT": "passnummer",
    },
    "da": {  # and Norwegian
        "PERSON": "efternavn, fornavn, etternavn, fulde navn, fullt navn, mellemnavn, mellomnavn, kundenavn, "
        "for- og efternavn",
        "DATE_OF_BIRTH": "fødselsdato, fødselsdag, født, foedselsdato",
        "ADDRESS": "bopæl, hjemmeadresse, gateadresse, gadeadresse, leveringsadresse",
        "PHONE": "telefonnr, mobilnr, mobiltelefon, tlf, tlfnr",
        "EMAIL": "e-postadresse, mailadresse",
        "PASSPORT": "pasnummer",
    },
    "is": {
        "PERSON": "fullt nafn, eiginnafn, eftirnafn",
        "DATE_OF_BIRTH": "fæðingardagur",
        "ADDRESS": "heimilisfang",
        "PHONE": "símanúmer, farsími",
        "EMAIL": "netfang",
    },
    "tr": {
        "PERSON": "soyadı, soyad, adı soyadı, ad soyad, ad ve soyad, adı ve soyadı, tam adı, müşteri adı, baba adı, "
        "anne adı, hasta adı, isim soyisim, soyisim",
        "DATE_OF_BIRTH": "doğum tarihi, doğum günü",
        "ADDRESS": "ev adresi, ikametgah, teslimat adresi, açık adres",
        "PHONE": "telefon numarası, cep telefonu, telefon no, cep no, cep",
        "EMAIL": "e-posta, e-posta adresi, eposta",
        "PASSPORT": "pasaport, pasaport no, pasaport numarası",
        "TCKIMLIK_TR": "tc kimlik numarası, tc no, tc kimlik no, kimlik numarası",
    },
    "ro": {
        "PERSON": "prenume, nume de familie, nume și prenume, nume complet, nume client, numele complet, nume pacient",
        "DATE_OF_BIRTH": "data nașterii, data naşterii, data de naștere, născut la",
        "ADDRESS": "adresă, domiciliu, adresa de domiciliu, adresa de livrare, strada",
        "PHONE": "număr de telefon, număr telefon, numărul de telefon, telefon mobil",
        "EMAIL": "poștă electronică, adresa de email, adresă email",
        "PASSPORT": "pașaport, număr pașaport",
        "NATIONAL_ID": "carte de identitate, buletin",
        "CNP_RO": "cod numeric personal",
    },
    "vi": {
        "PERSON": "họ tên, họ và tên, tên đầy đủ, họ và tên đệm, tên khách hàng, tên bệnh nhân, họ và tên khách hàng",
        "DATE_OF_BIRTH": "ngày sinh, sinh ngày, ngày tháng năm sinh",
        "ADDRESS": "địa chỉ, nơi ở, địa chỉ nhà, địa chỉ thường trú, nơi cư trú",
        "PHONE": "điện thoại, số điện thoại, sđt, di động, số di động, số máy",
        "EMAIL": "thư điện tử",
        "PASSPORT": "hộ chiếu, số hộ chiếu",
        "NATIONAL_ID": "cccd, cmnd, số cccd, số cmnd, căn cước công dân, chứng minh nhân dân",
    },
    "id": {
        "PERSON": "nama lengkap, nama depan, nama belakang, nama pelanggan, nama pasien",
        "DATE_OF_BIRTH": "tanggal lahir, tarikh lahir",
        "ADDRESS": "alamat, alamat rumah",
        "PHONE": "nomor telepon, no telepon, telepon, nomor hp, no hp, nombor telefon",
        "EMAIL": "alamat email, surel",
        "PASSPORT": "nomor paspor, paspor",
    },
}

#: Words for ``name``: that of a person beside something else about one, and of anything elsewhere.
NAMES = (
    "имя, ім'я, име, ime, όνομα, الاسم, اسم, نام, ชื่อ, नाम, 이름, jméno, meno, név, nimi, namn, navn, nafn, "
    "adı, isim, nume, "
    "họ, tên, nama"
)

#: Words behind a key that say whose field it is: ``Фамилия клиента``.
OWNERS = (
    "клиента, пациента, сотрудника, работника, заказчика, покупателя, получателя, отправителя, владельца, клієнта, "
    "пацієнта, одержувача, отримувача, відправника, πελάτη, ασθενούς, العميل, المريض, الموظف, הלקוח, המטופל, העובד"
)

#: Everyday words and abbreviations elsewhere: only as the whole key.
SHORT = (
    "cep, tlf, tlfnr, puh, cím, strada, buletin, ulice, utca, född, født, "
    "született, narozen, narozena, syntynyt, cccd, "
    "cmnd, sđt, di động, tel, тел, мобильный, мобилен, почта, пошта, родился, родилась, д.р., имена, οδός, "
    "τηλ, κινητό, اللقب, שם, "
    "נייד, מייל, आधार, पता, 姓, 名, 氏, セイ, メイ, 名字, 全名, โทร, alamat, surel, paspor"
)
