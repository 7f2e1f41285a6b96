"""Who somebody is: names under a key, birth dates.  Names in free text are the recogniser's business."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from cloakllm_gateway.detection.catalogue import file_names
from cloakllm_gateway.detection.catalogue.letters import CAP
from cloakllm_gateway.detection.catalogue.model import CONTEXT, NAMED, Category, Pattern, Proof, example
from cloakllm_gateway.patterns import lazy

#: Signs that letters carry in scripts where they are characters of their own: Hebrew, Arabic, Indic scripts, Thai.
_SIGNS = "\u0300-\u036f\u0591-\u05c7\u0610-\u065f\u0900-\u0dff\u0e31-\u0e4e"
_NAME_WORD = rf"[\"“”'(]?[^\W\d_](?:[^\W\d_]|['’ʼ.\u00ad{_SIGNS}-]){{0,40}}[\"“”)]?"
#: ``inputSchema`` and ``getName`` are identifiers; McDonald, DeVito and O'Brien are not.
_CAMEL = lazy(r"[a-z]+[a-z][A-Z]")
_SURNAME_CAPITALS = lazy(r"(?:Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|O'|D')[A-Z]")
#: Names of modules: ``org.acme.Widget``; ``j.r.smith`` is a person.
_PATH = lazy(r"[a-z]{2,}\.[a-z]{2,}\.[A-Za-z]", re.ASCII)
#: What stands in a name field when nobody does.
NO_NAMES = frozenset(
    "null none nil n/a na unknown undefined anonymous string text name names value true false yes no test admin user "
    "default empty example sample placeholder tbd todo object array number integer boolean required optional email "
    "phone address id type title description data content result error main index all any other self system root "
    "varchar nvarchar bigint int32 int64 utf8 "
    "first last full customer client person people guest everyone nobody various multiple deleted redacted "
    "hidden private public dr mr mrs ms male female str int bool float bytes dict list set tuple self cls func "
    "the der die das dem den des ein eine einen kunde kundin "
    "нет не указано указана неизвестно отсутствует немає невідомо няма "
    "なし 未設定 未入力 不明 无 無 未知 없음 미입력".split()
)


def plausible_name(text: str) -> bool:
    """Whether a field's value reads as a person's name and not as an identifier or a placeholder."""
    words = text.lower().rstrip("0123456789").replace(",", " ").split()
    if len(words) > 6 or NO_NAMES.issuperset(words) or (len(words) > 1 and _is_wording(words)):
        return False
    if text.istitle():  # and so has no capital inside of a word
        return True
    return not any(
        (_CAMEL.match(word) and not _SURNAME_CAPITALS.match(word)) or _PATH.match(word)
        for word in text.replace(",", " ").split()
    )


def _is_wording(words: Sequence[str]) -> bool:
    """Whether several words in lower case are all everyday ones: ``tests must be patient``, ``full time``."""
    common, given = _common_words()
    return common.issuperset(words) and given.isdisjoint(words) and max(map(len, words)) > 3


@cache
def _common_words() -> tuple[frozenset[str], frozenset[str]]:
    """Words that are no names, and given names, of which some are words as well; for who has a name of several."""
    from cloakllm_gateway.detection.name_words import FIRST_NAMES, NOT_NAMES

    return NOT_NAMES, FIRST_NAMES


def capitalised_name(text: str) -> bool:
    """Stricter, for a key called just ``name``: two words and more in any case, or one that begins as names do."""
    words = [word for word in text.replace(",", " ").split() if len(word) > 3] or text.split()
    if not plausible_name(text) or text[-1:].isdigit():
        return False
    several = 2 <= len(text.split()) <= 4 and all(word.isalpha() for word in text.replace(",", " ").split())
    return several or (all(not word[0].islower() for word in words) and not text.isupper())


@cache
def _told_alone() -> Proof:
    """The rule itself: its word lists are for who has such runs."""
    from cloakllm_gateway.detection.name_rules import told_alone

    return told_alone


def evident_name(text: str) -> int:
    """A run of capitalised words that tells a person by itself: a given name and a surname, a title and a name."""
    return _told_alone()(text)


def uncommon(text: str) -> int:
    """No word of it is common, software, or the end of what a place or a firm is called."""
    from cloakllm_gateway.detection.name_words import NOT_NAMES, PLACES, plain

    common = (plain(word) for word in re.findall(r"[^\W\d_]{2,}", text))
    return 0 if any(word in NOT_NAMES or word in PLACES for word in common) else len(text)


def known_name(text: str) -> int:
    """A full name of which one word is known: proof where a person should stand (:mod:`..name_fields`)."""
    return _known_name()(text)


@cache
def _known_name() -> Proof:
    from cloakllm_gateway.detection.name_fields import known_name

    return known_name


def given_name(text: str) -> int:
    """A known given name, all of a text: proof under a key that only persons stand under (:mod:`..name_fields`)."""
    return _given_name()(text)


@cache
def _given_name() -> Proof:
    from cloakllm_gateway.detection.name_fields import given_name

    return given_name


def _device(text: str) -> int:
    """What is called after somebody: a given name is in it."""
    from cloakllm_gateway.detection.name_words import FIRST_NAMES, plain

    words = {plain(word) for word in re.findall(r"[^\W\d_]+", text)}
    return len(text) if any(word in FIRST_NAMES or word.removesuffix("s") in FIRST_NAMES for word in words) else 0


#: Family names of one character, and how others end that are named before a form of address: 担当者様, 会員様.
_ONE_CHARACTER = frozenset(
    "林森原関堀辻菅星谷岡島堤浜柴東西南北王李张張刘劉陈陳杨楊黄赵趙吴吳周徐孙孫马馬朱胡郭何高罗羅郑鄭梁谢謝宋唐许許韩韓"
    "冯馮邓鄧曹彭曾萧蔡潘田董袁于余叶葉蒋杜苏蘇魏程吕丁沈任姚卢傅钟姜崔谭廖范汪陆金石戴贾韦夏邱方侯邹熊孟秦白江"
)
_NOBODY = lazy(r".*[者員客位主々]|得意|沢山|何.|女王|学生|先生.*|同.*")


def _addressed(text: str) -> int:
    """Who has a form of address behind their name: no 仕様, 同様 and 摂氏, and no 担当者様."""
    is_one = len(text) > 1 or text in _ONE_CHARACTER
    return len(text) if is_one and _NOBODY.fullmatch(text) is None else 0


def name_canonical(text: str) -> str:
    return _canonical()(text)


@cache
def _canonical() -> Callable[[str], str]:
    from cloakllm_gateway.detection.name_words import canonical  # looked up once: there may be millions of names

    return canonical


#: The most common family names of Japan and Korea.
_FAMILY = (
    "(?:佐藤|鈴木|高橋|田中|伊藤|渡辺|渡邊|山本|中村|小林|加藤|吉田|山田|佐々木|山口|松本|井上|木村|斎藤|清水|山崎|池田|橋本|阿部|石川"
    "|山下|中島|石井|小川|前田|岡田|長谷川|藤田|後藤|近藤|村上|遠藤|青木|坂本|福田|太田|西村|藤井|金子|岡本|藤原|中野|三浦|原田|中川|松田)"
)
#: A character of a given name: none of a form of address, none that makes a place of the name before it.
_GIVEN = "(?:(?![様氏殿県市町村区駅都府川山])[一-鿿々])"
_KOREAN = "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진"
_LABEL = (
    r"(?:customer|client|patient|contact|employee|member|guest|tenant|applicant|claimant|insured|passenger|student|attendee"
    r"|cardholder|account holder|kunde|kundin|mandant|versicherter?|mieter|cliente|paciente|paziente|klant|klient"
    r"|pacjent|full|legal|kontakt|ansprechpartner)(?: ?name)?"
)
_FOREIGN_LABEL = (
    r"고객명|성명|환자명|예금주|שם(?: הלקוח| מלא| המטופל)|姓名|氏名|お名前|顧客名"
    r"|[Мм]еня зовут|[Мм]ене звати|اسم العميل|ФИО|Ф\.И\.О\.|Ονοματεπώνυμο"
)
#: Those that are words of every text, and labels before a colon only.
_FOREIGN_WORD = r"이름|담당자|שם|客户|客戶|联系人|聯絡人|收件人|名前|担当者?|الاسم|Имя|Клиент|Пациент|नाम|Όνομα"
_FOREIGN_NAME = (
    r"[가-힣]{2,4}(?![가-힣])|[א-ת'׳-]{2,20}(?: [א-ת'׳-]{2,20}){1,2}|[一-鿿々]{1,4}[ 　]?[一-鿿々ぁ-んァ-ン]{1,4}"
    r"|[ء-ي]{2,15}(?: [ء-ي]{2,15}){1,3}|[А-ЯЁ][а-яё-]{1,20}(?: [А-ЯЁ][а-яё.]{0,20}){1,2}"
    r"|[ऀ-ॿ]{2,20}(?: [ऀ-ॿ]{2,20}){1,2}"
    r"|[Α-ΩΆ-Ώ][α-ωά-ώ]{1,20}(?: [Α-ΩΆ-Ώ][α-ωά-ώ]{1,20}){1,2}"
)
_TITLE = r"(?:Prof|Dr|Rev|Ing|Dipl|Mag|Lt|Col|Gen|Sgt|Capt|Maj|Hon)"
_PARTICLE = r"(?:van|von|de|den|der|da|dos|del|el|al|bin|zu|la|le|di|ten|ter|y)"
#: Who did something or has something: of versions, of tasks, of teams.
_DOER = (
    r"author|committer|assignee|assigner|owner|reporter|maintainer|creator|reviewer|approver|organi[sz]er|attendee|sender"
    r"|recipient|manager|lead|supervisor|requester"
    r"|(?:created|updated|modified|assigned|reported|uploaded|submitted|closed|opened)[ _-]?(?:by|to)"
    r"|(?:authored|signed-off|reviewed|tested|acked|reported|suggested|helped|approved|debugged)-by"
)
#: ... or writes to whom: places stand there as well.
_DOER_OR_END = rf"{_DOER}|from|to|cc|bcc|reply-to"
#: A key of the number that somebody has, as users, customers and patients have one.
_NUMBERED = r"(?:customer|client|patient|user|employee|member|contact|person|guest|tenant|student)_?[iI][dD]"

_WRITER = rf"{CAP}(?:[ ,]{{1,2}}(?:{CAP}|[A-Z]\.?|{_PARTICLE}(?= ))){{0,4}}"

PERSON = Category(
    "PERSON",
    examples=(
        example('{"first_name": "«Siobhán»", "id": 3}'),
        example('{"name": "«Tom O\'Brien»", "email": "tom@example.org"}'),
        example("customer_name=\"«Chiara Conti»\" total=3"),
        example('{"email": "x@example.org", "givenName": "«Nguyễn»"}'),
        example("Author: «Fatima Zahra» <fatima@example.ma>"),
        example("On Mon, 3 Jan 2024 at 10:00, «Zora Quill» wrote:"),
        example("On 3 Jan 2024, at 9:41 AM, «Zora van Quill» <z@example.org> wrote:"),
        example("Am 03.01.2024 um 10:00 schrieb «Zora Quill»:"),
        example("Le lun. 3 janv. 2024 à 10:00, «Zora Quill» a écrit :"),
        example("3f2a1b9c src/app.py («Zora Quill» 2024-01-03 12:00:01 +0100 12) def main():"),
        example("the papers that «Ann Lee» signed"),
        example("by «Dr. Ludwig van der Berg» in May"),
        example("by «Prof. Dr. Ingeborg Stauffenegger» on Monday"),
        example("PASSENGER: «GARCIA LOPEZ/MARIA MS»  PNR X4TZ9Q"),
        example("Record: «J***** T*******», closed"),
        example("ชื่อลูกค้า «สมชาย ใจดี»"),
        example("sent to «由美 田中» at noon"),
        example("«田中»様からの注文"),
        example("Contact «張偉» (Wei Zhang)"),
        example("«김민수»님께"),
        example("고객명: «김민수», 연락처 010-1234-5678"),
        example("Привет, меня зовут «Иван Петров», я"),
        example("שם הלקוח: «יוסי כהן»"),
        example("Patient: «Tova Van Quill», room 4B"),
        example("Patient: «Quillon, Anna», geb. 12.04. in x, room 4B"),
        example("Reviewed by «J. R. K. Osei»"),
        example('To: "«Oduya, Chinedu»" <c.oduya@example.ng>'),
        example("CN=«Doe\\, Jane»,OU=Sales,DC=example"),
        example("subject=C=DE, O=Acme, CN = «Ottilie Brandstetter», emailAddress = o@example.com"),
        example("subject=C = GB, GN = «Jasper», SN = x"),
        example('ATTENDEE;ROLE=CHAIR;CN="«Thistlewood, Jasper»":mailto:j@example.com'),
        example("Co-authored-by: «Xanthe» <xq@example.net>"),
        example("commit 1f2e\nAuthor: «Dev Smith»\nDate: x"),
        example("From: x\nTo: «Li Na»\nSubject: x"),
        example('{"name": "«Dev Smith»", "customer_id": 4}'),
        example('{"patientId": 4, "name": "«Will Young»"}'),
        example('{"assignee": "«Will Young»", "owner": "Platform Team"}'),
        example('{"assignee": "«Erin»", "reviewer": "Release Bot"}'),
        example('<customer first="Noor" last="«Haddad»" id="771"/>'),
        example('"device": "«iPhone von Thorsten»"'),
        example("seen on «Annas-MacBook-Pro.local» and"),
        *file_names.EXAMPLES,
    ),
    lookalikes=(
        '{"name": "Docker Hub", "version": "1.2.3"}',
        "patient: tests must be patient",
        "employee: Full Time",
        "Customer: Premium, Basic\nClient: Berlin, Germany\n",
        '{"fullName": "org.acme.Widget"}',
        '{"file_name": "Report", "host_name": "Web"}',
        "def first_name(self): return name",
        "Docker Hub in Jordan, Grace Period, Martin Luther King Hospital, San Francisco Bay",
        "from Path/Config import Ann",
        "U. S. Department, CN=Domain Users,OU=x, Customer: Premium Plan Basic of 2026",
        "ATTENDEE;CN=Release Planning:x, subject=CN = Root Authority, O = Acme",
        '{"name": "Docker Hub", "user_id": 4}',
        'author: Red Hat\nowner: Sales West\nassignee: Release Bot\n{"created_by": "Data Platform", "to": "New York"}',
        '{"owner": "Phoenix", "lead": "carol", "manager": "Docker", "from": "Florence", "reviewer": "Platform"}',
        "Apple's iPhone, a Galaxy of Andromeda",
        *file_names.LOOKALIKES,
        "**bold** and *** or A** B",
        "この仕様です。同様に多様な模様。皆様へ。摂氏20度。担当者様、会員様、お得意様",
        "이름 대신 PID 이름 영역과 원본 파일 이름 뒤에 붙어",
        "U.S. Taxpayer Identification and U.K. Government",
    ),
    patterns=(
        # The parts of a name in a vCard: family; given; additional; ...
        Pattern(
            rf"(?<![^\n\x1c])N(?:;[^:\n]{{0,40}})?:({CAP}(?: {CAP}){{0,3}};{CAP}(?:[; ]{CAP}){{0,3}})(?=[;\r\n])"
        ),
        # A display name before its address, as mail and git write it.
        Pattern(
            rf"(?<![\w.@/-])({CAP}(?: (?:{CAP}|[A-Z]\.|(?:van|von|de|den|der|da|dos|del|el|al|bin|zu|la|le)"
            rf"(?= ))){{1,4}})"
            r" <[A-Za-z0-9._+-]{1,64}@",
            lambda text: len(text) if plausible_name(text) else 0,
        ),
        # Whoever is plain to see without a model; the whole run of words, for its end may say that it is a street.
        Pattern(
            rf"(?<![A-Za-z0-9._/\\@#$~&%-])(?<!San )(?<!Santa )(?<!Saint )(?<!St\. )(?<!Los )(?<!Port )(?<!Fort )"
            rf"(?:{_TITLE}\. ){{0,2}}{CAP}\.?(?: {_PARTICLE}){{0,2}} (?:[A-Z]\.? |{_PARTICLE} )?{CAP}"
            rf"(?:[ -](?:{CAP}|[A-Z]\.?(?![A-Za-z])|{_PARTICLE}(?= ))){{0,5}}(?![A-Za-z0-9_(/@])",
            evident_name,
            rank=NAMED,
            prose=True,
        ),
        # Who wrote the mail that is quoted below, behind when.
        Pattern(
            rf"\d(?: ?[AP]M)?,? ({_WRITER})(?: [<(\[][^\n<>]{{1,100}}[>)\]])?,?"
            r" (?:wrote|a écrit|escribió|ha scritto|escreveu|napisał(?:a|\(a\))?) ?:",
            uncommon,
            rank=NAMED,
        ),
        Pattern(
            rf"\d(?: Uhr)?,? (?:schrieb|schreef|skrev) ({_WRITER})(?: [<(\[][^\n<>]{{1,100}}[>)\]])?,?"
            r"(?: het volgende)? ?:",
            uncommon,
            rank=NAMED,
        ),
        # ... and the line of a file: git blame.
        Pattern(
            r"(?<![A-Za-z0-9])[0-9a-f]{7,40} (?:[\w./-]{1,200} {1,40})?"
            rf"\(({_WRITER}) {{1,40}}\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{{4}} {{1,8}}\d",
            uncommon,
            rank=NAMED,
        ),
        # Initials and a surname.
        Pattern(
            r"(?<![A-Za-z0-9._/-])(?!U\. ?[KS]\.|E\. ?U\.|T\. ?C\. ?K)"
            rf"(?:[A-Z]\. ?){{2,4}}{CAP}(?![A-Za-z0-9_(/])",
            uncommon,
            rank=NAMED,
            prose=True,
        ),
        # A label and, on its line, a full name.
        Pattern(
            rf"(?<![A-Za-z])(?i:{_LABEL}): ({CAP}(?: {_PARTICLE}){{0,2}}(?: {CAP}){{1,3}})"
            r"(?=[,;|\n(]|$|[ .][^A-Z])",
            uncommon,
            rank=NAMED,
        ),
        Pattern(  # family name first
            rf"(?<![A-Za-z])(?i:{_LABEL}): ({CAP}(?:[ -]{CAP})?, {CAP}(?: (?:{CAP}|[A-Z]\.))?)"
            r"(?=[;|\n(\x1c]|$|  |\.(?:\s|$)|, (?:geb|born|b\.|DOB|né|nat|nac|ur)\b)",
            lambda text: uncommon(text) and _device(text),
            rank=NAMED,
        ),
        Pattern(
            rf"(?:(?:{_FOREIGN_LABEL})[:： ]|(?:{_FOREIGN_WORD}) ?[:：])[:： ]{{0,2}}({_FOREIGN_NAME})", rank=NAMED
        ),
        # Family name first: of who sends a mail, of an entry in a directory; the parts of a name as attributes.
        Pattern(rf"(?<![\w.@/-])({CAP}(?: {CAP})?, {CAP}(?: (?:{CAP}|[A-Z]\.))?)[\"']? <[A-Za-z0-9._+-]{{1,64}}@"),
        Pattern(
            rf"(?<![A-Za-z])CN=({CAP}(?: {CAP}){{0,3}}(?:\\?, ?{CAP}(?: {CAP})?)?)(?=,(?:OU|O|DC|CN|L|C)=)",
            uncommon,
        ),
        # Who a certificate is for: a person if an address follows, or a part of the name.
        Pattern(
            rf"(?<![A-Za-z])CN ?= ?({CAP}(?: (?:{CAP}|[A-Z]\.)){{1,3}})(?=(?:,? ?|/)(?:emailAddress|E) ?=)",
            uncommon,
        ),
        Pattern(rf"(?<![A-Za-z])(?:GN|SN|givenName|surname) ?= ?({CAP}(?:[ -]{CAP})?)(?=, ?[A-Za-z]{{1,20}} ?=)"),
        # Who organises and who attends, in a calendar: a parameter before the address.
        Pattern(
            rf";CN=\"?((?:{CAP}|{_PARTICLE})(?:,? (?:{CAP}|[A-Z]\.|{_PARTICLE})){{0,4}})\"?(?=[;:])",
            lambda text: evident_name(text) or uncommon(text),
        ),
        # Who wrote, signed or reviewed a change: a name of one word before its address as well.
        Pattern(
            rf"(?<![A-Za-z])(?i:author|committer|from|to|cc|reply-to|(?:co-authored|signed-off|reviewed"
            rf"|tested|acked|reported|suggested|helped)-by): ({CAP})"
            r" <[A-Za-z0-9._+-]{1,64}@",
            uncommon,
        ),
        # ... and without an address, where the name says enough.
        Pattern(
            rf"(?<![A-Za-z])(?i:{_DOER_OR_END})[\"']?[ ]?[:=][ ]{{0,8}}[\"']?"
            rf"({CAP}(?: (?:{CAP}|[A-Z]\.?|{_PARTICLE}(?= ))){{1,3}})"
            r"(?=[\"'<,;|)}\r\n\x1c]| {1,2}[(\[]| {0,4}$)",
            known_name,
            rank=NAMED,
        ),
        Pattern(
            rf"(?<![A-Za-z])(?i:(?:{_DOER})s?)[\"']?[ ]?[:=][ ]{{0,8}}[\"']?({CAP})"
            r"(?=[\"'<,;|)}\r\n\x1c]| {1,2}[(\[]| {0,4}$)",
            given_name,
            rank=NAMED,
            keyed=True,
        ),
        # ... and called just a name, beside the number of somebody.
        Pattern(
            rf"[\"']name[\"']\s?:\s?[\"']({CAP}(?: (?:{CAP}|[A-Z]\.?)){{1,3}})[\"']"
            rf"(?=[^{{}}\x1c]{{0,100}}[\"']{_NUMBERED}[\"'])",
            known_name,
            rank=NAMED,
        ),
        Pattern(
            rf"[\"']{_NUMBERED}[\"']\s?:[^{{}}\x1c]{{1,14}}[\"']name[\"']\s?:\s?[\"']"
            rf"({CAP}(?: (?:{CAP}|[A-Z]\.?)){{1,3}})[\"']",
            known_name,
            rank=NAMED,
        ),
        Pattern(rf"(?<![A-Za-z])first=[\"']({CAP})[\"'](?= last=)"),
        Pattern(rf"(?<![A-Za-z])first=[\"']{CAP}[\"'] last=[\"']({CAP}(?:[ -]{CAP})?)[\"']"),
        *file_names.PATTERNS,
        # What phones and computers are called after whom they belong to.
        Pattern(
            rf"(?:iPhone|iPad|MacBook(?: Pro| Air)?|iMac|AirPods|Apple Watch|Galaxy|Pixel|Laptop)"
            rf" (?:von|de|di|of|van|do|af|från) {CAP}(?![A-Za-z])",
            _device,
            rank=CONTEXT,
        ),
        Pattern(
            r"(?<![A-Za-z0-9./-])[A-ZÀ-Þ][a-zß-ÿ]{1,20}['’]?s[ -](?:iPhone|iPad|MacBook|iMac|Mac[ -]?[Mm]ini|AirPods"
            r"|Galaxy|PC|Laptop)(?:[ -](?:Pro|Air|Mini|Max))?(?:\.local)?(?![A-Za-z])",
            _device,
            rank=CONTEXT,
        ),
        # The name of a passenger, as tickets have it.
        Pattern(
            r"(?<![A-Za-z/])[A-Z]{2,20}(?: [A-Z]{2,20}){0,2}/[A-Z]{2,20}(?: [A-Z]{2,20}){0,2} ?"
            r"(?:MR|MRS|MS|MISS|MSTR|DR|CHD)(?![A-Za-z])"
        ),
        # What a redaction left of one: initials and stars.
        Pattern(r"(?<![A-Za-z0-9*])[A-Z][*•]{2,15} (?:[A-Z]\. )?[A-Z][*•]{2,20}(?![A-Za-z0-9*])"),
        # Names in scripts without capitals, told by what is said before or behind them.
        Pattern(r"(?:ชื่อ(?:ลูกค้า|ผู้ป่วย|ผู้ใช้|นักเรียน)?|นาย|นางสาว|นาง|คุณ)[: ]{1,2}([ก-๙]{2,20}(?: [ก-๙]{2,20})?)"),
        Pattern(
            r"((?:(?!先生|女士|小姐)[一-鿿々]){1,4}(?: (?:(?!先生|女士|小姐)[一-鿿々ぁ-んァ-ン]){1,4})?)"
            r"(?:さん|様|氏(?!名)|殿|先生|女士|小姐)",
            _addressed,
            rank=CONTEXT,
        ),
        Pattern(
            rf"(?<![一-鿿々])({_FAMILY}[ 　]?{_GIVEN}{{1,3}}|{_GIVEN}{{1,3}}[ 　]{_FAMILY})(?![一-鿿々])",
            rank=CONTEXT,
        ),
        Pattern(r"(?<![一-鿿])([一-鿿]{2,4}) ?\([A-Z][a-z]{1,12}(?: [A-Z][a-z]{1,12}){1,2}\)", rank=CONTEXT),
        Pattern(
            r"(?<![가-힣])(?!이용자|구매자|신청자|구독자|조합원|정회원|민원인)"
            rf"([{_KOREAN}][가-힣]{{2}})(?= ?(?:님|씨))",
            rank=CONTEXT,
        ),
    ),
    keys=(
        "vollstandigername", "vollstaendigername", "geburtsname", "rufname", "kundinname", "ansprechpartner",
        "patientenname", "mitarbeitername", "nomdefamille", "nomdenaissance", "nomprenom", "prenomnom", "nomclient",
        "nomdupatient", "nombreyapellidos", "nombres", "primerapellido", "segundonombre", "nombredelcliente",
        "nombrepaciente", "nomecognome", "cognomenome", "nomepaziente", "nomedelcliente", "primeironome",
        "ultimonome", "nomedocliente", "nomedopaciente", "nomemae", "volledigenaam", "roepnaam",
        "tussenvoegselachternaam", "geboortenaam", "naamklant", "patientnaam", "pelnanazwa", "imieinazwisko",
        "imienazwiskoklienta", "nazwiskorodowe", "imieojca", "imiematki", "klient", "pacjent",
        "firstname", "lastname", "fullname", "surname", "givenname", "familyname", "middlename", "forename",
        "maidenname",
        "customername", "clientname", "contactname", "patientname", "employeename", "personname", "membername",
        "guestname", "studentname", "recipientname", "sendername", "accountholder", "cardholder", "cardholdername",
        "holdername", "ownername", "authorname", "adminname", "managername", "displayname", "legalname", "namefirst",
        "namelast", "realname", "passenger", "passengername", "beneficiary", "beneficiaryname", "doctorname",
        "applicant",
        "applicantname", "payee", "payeename", "nom", "prenom", "nomfamille", "nomcomplet",
        "vorname", "nachname", "familienname", "kundenname", "kunde", "vollername", "nombre", "apellido", "apellidos",
        "primernombre", "segundoapellido", "nombrecompleto", "nombrecliente", "cognome", "nomecompleto", "nomecliente",
        "sobrenome", "apelido", "nomeproprio", "voornaam", "achternaam", "klantnaam", "imie", "nazwisko",
        "imienazwisko",
        "lname", "fathername", "mothername", "mothersmaidenname", "spousename", "billingname", "shippingname",
        "nextofkin", "emergencycontact", "emergencycontactname", "insuredname", "policyholder", "policyholdername",
        "accountholdername", "subscribername", "tenantname", "candidatename", "contactperson", "preferredname",
        "kontoinhaber", "karteninhaber", "zuname", "notfallkontakt", "titulaire", "titulairecompte", "titulairecarte",
        "nomjeunefille", "nomusage", "titulartarjeta", "titularcuenta", "titularcartao", "nometitular",
        "apellidopaterno", "apellidomaterno", "nombrepadre", "nombremadre", "nomepai", "intestatario",
        "titolarecarta", "familienaam", "meisjesnaam", "rekeninghouder", "kaarthouder", "contactpersoon", "voornamen",
        "drugieimie", "imiona", "posiadaczkarty", "wlascicielrachunku", "nazwiskopanienskie", "osobakontaktowa",
        "fn", "attendees", "patient", "cardname", "nameoncard", "reportedby", "assignedto", "signedby", "employee",
        "givennames", "firstnames", "forenames", "surnames", "lastnames", "familynames", "christianname",
        "patientsname",
        "nameofapplicant", "nameofpatient", "nameofinsured", "nameofcardholder",
        "callername", "displaynamelastfirst",
        "createdby", "updatedby", "modifiedby", "reviewedby", "approvedby", "signedoffby", "testedby", "ackedby",
        "coauthoredby", "requestedby", "uploadedby", "submittedby", "closedby", "lastmodifiedby",
    ),
    shape=rf"{_NAME_WORD}(?:[ ,]{{1,2}}{_NAME_WORD}){{0,5}}|[A-Z ]{{2,62}}/[A-Z ]{{2,62}}|[A-Z*•. ]{{4,40}}"
    rf"|{CAP}(?: {CAP}){{0,2}}[0-9]{{1,6}}|(?:[A-Z]\. ?){{1,4}}{CAP}"
    rf"|{CAP}(?: {CAP})?\\?, ?{CAP}(?: {CAP})?|(?:[A-Z][A-Za-z]{{0,20}}_)?{CAP}(?:_{CAP}){{1,3}}",
    plausible=plausible_name,
    canonical=name_canonical,
)  # fmt: skip

_MONTH = (
    r"(?:Jan(?:uary|uar)?|Feb(?:ruary|ruar)?|Mar(?:ch)?|März|Apr(?:il)?|May|Mai|June?|Juni|July?|Juli|Aug(?:ust)?|"
    r"Sept?(?:ember)?|Oct(?:ober)?|Okt(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?)"
)
#: Names of the object that holds a birth date in parts, up to its brace.
_BORN = (
    r"(?i:birth|dob|geburt|naissance|nacimiento|nascita|nascimento|born)[A-Za-z_]{0,12}[\"']?[ ]?:[ ]?"
    r"\[?\s{0,20}\{(?:[^\[\]]{0,160}?[\"']date[\"'][ ]?:\s{0,20}\{)?[^{}]{0,60}?[\"']"
)
_DATE = (
    r"(?:(?:19|20)\d\d[-./ ]?(?:0?[1-9]|1[0-2])[-./ ]?(?:3[01]|[12]\d|0?[1-9])|"
    r"(?:3[01]|[12]\d|0?[1-9])[-./ ](?:3[01]|[12]\d|0?[1-9])[-./ ](?:(?:19|20)\d\d|\d\d)|"
    rf"\d{{1,2}}(?:st|nd|rd|th|\.)? (?i:{_MONTH})\.?,? (?:19|20)\d\d|(?i:{_MONTH})\.? \d{{1,2}}(?:st|nd|rd"
    rf"|th)?,? (?:19|20)\d\d)"
)
#: A date under its key, in any language's words: 12 апреля 1985 г., 1985年4月12日, 1985. 4. 12., 12 tháng 4 năm 1985.
_KEYED_DATE = (
    rf"{_DATE}(?: ?(?:года|року|[гр]\.?))?(?:[T ]00:00(?::00)?(?:\.0{{1,9}})?(?:Z|[+]00:?00)?)?"
    r"|\d{4} ?[年년.] ?\d{1,2} ?[月월.] ?\d{1,2} ?[日일号.]?|(?:明治|大正|昭和|平成|令和)\d{1,2}年\d{1,2}月\d{1,2}日"
    r"|\d{1,2}\. ?\d{1,2}\. ?\d{4}\.?|\d{1,2}[/.-]\d{1,2}[/.-]2[45]\d\d"
    rf"|(?:ngày )?\d{{1,2}}\.? (?:de )?(?:[^\W\d_]|[{_SIGNS}]){{3,16}}\.?"
    r"(?: \d{1,2})?(?: de| năm)? \d{4}(?: ?(?:года|року|[гр]\.?))?"
    rf"|\d{{4}}\. (?:[^\W\d_]){{3,16}} \d{{1,2}}\."
    # As databases and spreadsheets print it: 12-Mar-1985, 12MAR85, 1985-03-12 00:00:00, 3/12/85 0:00.
    rf"|\d{{1,2}}[-/. ]?(?i:{_MONTH})[-/. ]?(?:(?:18|19|20)?\d\d)|18\d\d-\d\d-\d\d|--?(?:0[1-9]|1[0-2])-?\d\d"
    rf"|{_DATE}[ T][0-2]?\d:[0-5]\d(?::[0-5]\d(?:\.\d{{1,9}})?)?(?:[ ]?(?:[AP]M|Z|UTC|[+-]\d\d:?\d\d))?"
    # In the constructor of a date.
    r"|[12]\d{3}, ?\d{1,2}, ?\d{1,2}(?:, ?\d{1,6}){0,4}"
    # Without a year: 03-15, 15.03., March 15, 15th of March, 15 de marzo.
    r"|(?:0[1-9]|1[0-2])-(?:3[01]|[12]\d|0[1-9])|(?:3[01]|[12]\d|0?[1-9])[./](?:3[01]|[12]\d|0?[1-9])\.?"
    rf"|(?i:{_MONTH})\.? (?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
    rf"|(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th|er|[.º])? (?:of |de )?(?:(?i:{_MONTH})|[a-zß-ÿ]{{3,10}})"
)

#: A date behind words that say it is of a birth: any word may be its month.
_DATE_SAID = (
    rf"{_DATE}|(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th|er|[.º])?[ -]?(?:of |de |d')?[A-Za-zÀ-žΆ-ώЀ-ӿ]{{3,10}}\.?,?[ -]?"
    r"(?:de |del )?(?:19|20)\d\d"
)
_TOWN = r"(?: (?:in|a|à|en|em|te|w|we) [A-Za-zÀ-ž]{2,20}(?:[ '-][A-Za-zÀ-ž]{2,20}){0,2},?)?"
#: What a birth date is called.
_BIRTH_DATE = (
    r"d\.?o\.?b\.?|date of birth|birth ?date|birthday|geburts(?:datum|tag|daten)|date de naissance|fecha de nacimiento"
    r"|cumplea[nñ]os|data di nascita|compleanno|data de nascimento|geboortedatum|verjaardag|data urodzenia|urodziny"
)
#: When a birth date was noted is none.
_OF_RECORD = (
    r"[^\n:=|]{0,20}(?i:\b(?:chang|updat|modif|edit|creat|sent|sync|import|remind|geänd|aktualis|actualiz|aggiorn|zmien"
    r"|gewijz)"
    r"|\b(?:on|at|am|le|il|el)[:=])"
)
_CAPITALISED = r"[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{1,20}(?:-[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{1,20})?"
#: How one says of somebody that they were born, up to the date.
_BIRTH = (
    rf"{_BIRTH_DATE}|ur\.|geb\."
    rf"|(?:born|geboren|urodzon[ya]){_TOWN}(?: (?:on|am|op|dnia|w dniu))?"
    rf"|n[ée](?:e|\(e\)|·e)?{_TOWN} le|(?:nacid[oa]|naci[oó]|nac[íi]){_TOWN} el|nat[oa](?:/a)?{_TOWN} il"
    rf"|(?:nascid[oa](?:\(a\))?|nasceu|nasci){_TOWN} (?:em|a|no dia)"
    rf"|urodzi[łl](?:em|am|a)? si[ęe]{_TOWN}(?: dnia)?"
    r"|född(?: den)?|fødselsdato|født(?: den)?|f\. nac\.|geb\.-?(?:datum|dat\.)|syntynyt|narozen[aá]?"
    r"|născut[aă]?(?: la| în data de)?|született|doğum tarihi|родил(?:ся|ась)|Родил(?:ся|ась)"
    r"|дата рождения|Дата рождения|д\.? ?р\.|Д\.? ?р\."
    r"|народи(?:вся|лася|лась)|Народи(?:вся|лася|лась)|дата народження|Дата народження"
    r"|γεννήθηκε(?: στις)?|Γεννήθηκε(?: στις)?"
)


def _of_a_year(text: str) -> int:
    """A date with all digits of its year."""
    return len(text) if re.search(r"\d{4}", text) else 0


def _born(text: str) -> str:
    """Year first: its digits, of two for each part; else as it is written."""
    text = text.strip()
    if len(text) == 10 and text[4] == text[7] and (written_out := text.replace(text[4], "")).isdecimal():
        return written_out  # nearly all: 1984-07-03
    return "".join(part.zfill(2) for part in re.findall(r"\d+", text)) if text[:4].isdigit() else text.casefold()


DATE_OF_BIRTH = Category(
    "DATE_OF_BIRTH",
    examples=(
        example("DOB «1984-07-03», policy start 2026-07-03"),
        example("born on «3 July 1984»; deployed on 3 July 2026"),
        example('{"dob": "«1990-02-14»"}'),
        example("Date of birth: «14/02/1990»"),
        example("birthday: «March 15»"),
        example('{"birthday": "«03-15»"}'),
        example("geburtstag: «15.03.»"),
        example("geboren am «3. Juli 1984»"),
        example("born in Leeds on the «3rd of July 1984»"),
        example("DOB «3-Jul-1984» and"),
        example("Er ist am «12. März 1970» in Köln geboren."),
        example("Née le «3 septembre 1988», elle"),
        example("né(e) à Lyon le «03/09/1988»"),
        example("Nom : x, Date de naissance : «1er mars 1990»"),
        example("nació el «5 de mayo de 1991»"),
        example("nacida en Madrid el «05/05/1991»"),
        example("Nací el «12 de abril de 1971» y"),
        example("nasci em «14 de julho de 1982»"),
        example("Urodziłam się «12 kwietnia 1971» w"),
        example("Nato a Roma il «21 maggio 1990»"),
        example("nascida em Lisboa em «14 de julho de 1982»"),
        example("nasceu em «14/07/1982»"),
        example("Geboren op «02-10-1993» te"),
        example("geboren te Utrecht op «2 oktober 1993»"),
        example("Urodzony «17 sierpnia 1985» r."),
        example("urodzona w Krakowie dnia «17.08.1985»"),
        example("född den «3 juli 1984» i"),
        example("Født: «03.07.1984»"),
        example("narozen «3. července 1984» v"),
        example("родился «3 июля 1984» года"),
        example("Народилася «3 липня 1984» року"),
        example("γεννήθηκε «3 Ιουλίου 1984»"),
        example("Kim Lee (b. «3 Jul 1984») plays"),
        example("他生于«1984年7月3日»"),
        example("My date of birth for the form: «03.07.1981»"),
        example("Geburtsdatum (laut Pass) «03.07.1981»"),
        example("Fecha de nacimiento según DNI: «03/07/1981»"),
        example("| Data urodzenia (z dowodu) | «03.07.1981» |"),
        example("Patient: Eva Braun *«12.3.1955», Zimmer 4"),
        example("Johann Weber (* «1. Mai 1950»; † 2020)"),
        example("Weber, Johann-Peter *«1.5.1950»"),
    ),
    lookalikes=("due 2026-03-01 14:05Z", "NATO 2024-05-05 summit", "the idea was born in 3 days",
                "am 12. März 2026 geliefert",
                '{"created": "2026-03-01", "birthday_reminder": true}', "newborn 2026-01-01 unit",
                "* 12.3.2024 first release\n * 12.3.2025 second", "Total *12.3.19",
                "Date of birth unknown. Updated: 2024-01-01",
                "Date of birth last changed: 2024-01-01", "Geburtsdatum geändert am: 01.02.2024",
                "Birthday invitation sent: 2024-01-01", "Date of birth verified on: 2024-01-01",
                "Total * 12.3.2019", "Released * 12.3.2019", "Preis *01.01.2024 gültig"),
    patterns=(
        Pattern(
            rf"(?<![A-Za-zÀ-ž])(?i:{_BIRTH})(?![A-Za-z])[^\w\n]{{0,6}}(?:(?:is|was|am|on|the|le|el|il|dnia|ist|der|est|es|é|"
            rf"è|to|:)[^\w\n]{{1,5}}){{0,2}}({_DATE_SAID})(?![\d])",
            rank=CONTEXT,
        ),
        Pattern(  # with a remark on it, or on whose it is
            rf"(?<![A-Za-zÀ-ž])(?i:{_BIRTH_DATE})(?![A-Za-z])"
            rf"(?:[ ]?\([^()\n]{{1,24}}\)[^\w\n]{{1,6}}|(?!{_OF_RECORD})[^\d\n:=|.;!?]{{1,24}}[:=|][^\w\n]{{0,4}})"
            rf"({_DATE_SAID})(?![\d])",
            rank=CONTEXT,
        ),
        Pattern(  # the sign of genealogists, behind a name
            rf"(?<![A-Za-zÀ-ž-]){_CAPITALISED}(?:,?[ ]{_CAPITALISED},?[ ]?\(?|,?[ ]?\(|,[ ]?)"
            rf"\*[ ]?({_DATE_SAID})(?![\d])",
            _of_a_year,
            rank=CONTEXT,
        ),
        Pattern(rf"\(b\. ({_DATE_SAID})(?![0-9])", rank=CONTEXT),
        Pattern(r"(?:生于|出生于)(\d{4} ?年 ?\d{1,2} ?月 ?\d{1,2} ?日?)", rank=CONTEXT),
        Pattern(rf"(?<![A-Za-z])(?i:am) ({_DATE_SAID})(?: in [A-Za-zÀ-ž]{{2,20}})? geboren(?![A-Za-z])", rank=CONTEXT),
        *(
            Pattern(rf"{_BORN}(?i:{part})[\"'][ ]?:[ ]?[\"']?({form})(?![0-9])", rank=CONTEXT)
            for part, form in (
                ("year|jahr|année|año|anno|ano", r"(?:19|20)\d\d"),
                ("month|monat|mois|mes|mese", r"[01]?\d"),
                ("day|tag|jour|día|dia|giorno", r"[0-3]?\d"),
            )
        ),
    ),
    keys=(
        "geburtsdat", "gebdatum", "datenaiss", "neele", "fechanac", "fnac", "datanasc", "dtnascimento",
        "datadenasc", "datumgeboorte", "dataurodz", "geburtstagdatum", "dobdate",
        "naissance", "nacimiento", "nascita", "nascimento", "geboren", "birth", "compleanno", "cumpleanos",
        "verjaardag", "urodziny", "ddn", "fnacimiento", "natoail",
        "dob", "dateofbirth", "birthdate", "birthday", "birthdt", "bday", "geburtsdatum", "geburtstag", "datenaissance",
        "datedenaissance", "fechanacimiento", "fechadenacimiento", "datanascita", "datadinascita", "datanascimento",
        "datadenascimento", "geboortedatum", "dataurodzenia", "born", "nele", "natoil", "natail", "nacidoel",
        "nacidael",
        "nascidoem", "nascidaem", "geborenam", "gebam", "geborenop", "urodzony", "urodzona", "dataur",
        "gebdat", "datenais", "fecnac", "dtnasc",
        "geb", "datgeb", "datumgeb", "nacido", "nacida", "nacidoa", "nac", "nee", "nato", "nata", "natoa", "nascido",
        "nascida", "nascidoa", "nasc", "ur", "urodz",
    ),
    shape=rf"{_KEYED_DATE}|{_DATE_SAID}| ?\d{{8}}",
    canonical=_born,
    sensitive=True,
)  # fmt: skip
