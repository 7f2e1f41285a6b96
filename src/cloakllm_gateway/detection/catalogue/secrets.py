"""Passwords and what else lets somebody in: in addresses, commands and headers, and under a secret's name."""

from __future__ import annotations

from base64 import b64decode

from cloakllm_gateway.detection.catalogue import commands
from cloakllm_gateway.detection.catalogue.checks import has_digit, whole
from cloakllm_gateway.detection.catalogue.model import (
    CERTAIN,
    CONTEXT,
    SECRET_KEYED,
    Category,
    Example,
    Pattern,
    example,
)
from cloakllm_gateway.detection.catalogue.randomness import is_placeholder, is_random, plausible_secret, random_length
from cloakllm_gateway.patterns import lazy

#: How the names of secrets end.
_SECRETIVE = (
    r"(?:secret|token|passw(?:or)?d|passphrase|(?:api|app|access|auth|private|secret|master|signing|encryption|storage|sdk"
    r"|license|service|admin|account|webhook)[_-]?key(?:_base)?)"
)
_VALUE = r"[^\s\x1c\"'<>|,;()\[\]{}\\]{8,}"
_ENVIRONMENT = (
    r"[A-Z][A-Z0-9_]{0,40}(?:TOKEN|SECRET|KEY|PASSWORD|PASSWD|PWD|PASSPHRASE|CREDENTIALS|KEY_BASE|_PASS|_PAT)"
)


_SECRET_NAME = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|(?:api|access|secret) key|passwort|kennwort|contrase[nñ]a"
    r"|mot de passe|senha|haslo)"
)


def _is_made_up(text: str) -> int:
    """What somebody made up behind ``password``: digits among letters, and no name of a way to hash or to encode."""
    size = _said_length(text)
    return size if size >= 8 and not _METHOD.match(text) else 0


def _said_length(text: str) -> int:
    """The length of what is random, less what ends a sentence: passwords may end with an exclamation mark."""
    value = text.rstrip(".?")
    return len(value) if is_random(value) else 0


_METHOD = lazy(
    r"(?i)(?:sha|md|base|utf|hmac|pbkdf|argon|bcrypt|scrypt|oauth|aes|rsa|ntlm|crypt|version|page|chapter)-?_?\d"
)


def _is_encoded_pair(text: str) -> int:
    """``user:password`` in base64."""
    try:
        decoded = b64decode(text, validate=True)
    except ValueError:
        return 0
    user, mark, password = decoded.partition(b":")
    is_pair = mark and user and len(password) > 3 and decoded.isascii() and decoded.decode().isprintable()
    return len(text) if is_pair else 0


_SEED_LENGTHS = frozenset((12, 15, 18, 21, 24))
#: Words that no list for seeds has, and most sentences have.
_SAYING = frozenset("the and for are was were from not has its our your his her but their which".split())


def _is_seed(text: str) -> int:
    words = text.split()
    return len(text) if len(words) in _SEED_LENGTHS and _SAYING.isdisjoint(words) else 0


#: Numbers that somebody types in to be let in.
_PIN_NAME = (
    r"pin|puk|otp|one-?time (?:code|passcode|password)|(?:verification|confirmation|2fa|mfa"
    r"|log-?in|sign-?in|authentication|access) code"
    r"|best[aä]tigungscode|code (?:de v[eé]rification|pin)|c[oó]digo (?:de verificaci[oó]n|pin)"
    r"|codice (?:di verifica|pin)|c[oó]digo de verifica[cç][aã]o|kod (?:weryfikacyjny|pin)|verificatiecode|pincode"
)

SECRET = Category(
    "SECRET",
    examples=(
        example("postgres://admin:«hunter2xyz»@db.internal/prod"),
        example("password=«tr0ub4dor&3» next"),
        example('dbPass: "«gK2$lL9%@!Fp%»",'),
        example('{"client_secret": "«s3cr3t value»"}'),
        Example('{"secret_key": "/q7RvK3xZ9mTb2W/cY5nHf8LpD4sGj6aeE0d1"}', "/q7RvK3xZ9mTb2W/cY5nHf8LpD4sGj6aeE0d1"),
        example('{"password": "«newYork!2019»"}'),
        example("password: «TheBeatles64»"),
        example("DB_PASSWORD=«my$tr0ngPw»"),
        example("Authorization: Bearer «q7RvK3xZ9mTb2WcY5nHf8LpD»"),
        example("https://api.example.com/v1?client_secret=«9f8e7d6c5b4a39281706»&q=x"),
        example("Authorization: Basic «a2ltOmh1bnRlcjJ4eXo=»"),
        example('proxy_set_header Authorization "Basic «a2ltOmh1bnRlcjJ4eXo=»";'),
        example("CREATE USER x IDENTIFIED BY '«HaOBi8eIa»';"),
        example("the password is «Tr0ub4dor3» now"),
        example("export DB_PASSWORD='«pa55 w0rd»'"),
        example("CREATE USER x WITH PASSWORD '«Blue#Sky42»';"),
        example("curl -u x:«Passw0rd9» https://example.com"),
        example("SignedHeaders=host, Signature=«" + "fe5f80f77d5fa3be" * 4 + "»"),
        example('qop=auth, response="«6629fae49393a05397450978507c4ef1»"'),
        *commands.EXAMPLES,
        example("define( 'NONCE_SALT',       '«(B` )>&$ q7RvK3x|Z9m[T b2WcY5nHf8»' );"),
        example("Recovery codes: «1a2b-3c4d, 5e6f-7a8b»\n"),
        example("The password for the old VPN is: «geheim99x»"),
        Example("x:$" + "apr1$H6uskkkW$" + "q7RvK3xZ9mTb2WcY5nHf8L", "$" + "apr1$H6uskkkW$" + "q7RvK3xZ9mTb2WcY5nHf8L"),
        example("Password for jdoe is «geheim99x»."),
        example("log in with username jdoe and password «geheim99x» there"),
        example("Customer (a new one) can't log in. Temp password: «Xy7!kPq2», ok"),
        example("use API key «9f8e7d6c5b4a3928» for it"),
        example("the token «9f8e7d6c5b4a39281706» expired"),
        example("Authorization: AWS4-HMAC-SHA256 Credential=x/20130524/us-east-1/s3/aws4_request, Signature=«"
                + "9f8e7d6c5b4a3928" * 4 + "»"),
        example('Authorization: Digest username="x", response="«6629fae49393a05397450978507c4ef1»"'),
        example("GET /cb?code=«4/0AX4XfWh2Q7RvK3xZ9mTb2WcY5nHf8LpD»&state=xyz"),
        example("WIFI:T:WPA;S:home;P:«geheim99x»;;"),
        example('<add name="x" connectionString="Data Source=x;User ID=sa;Password=«geheim99x»" />'),
        example('{"auths": {"ghcr.io": {"auth": "«amRvZTpnZWhlaW05OXg=»"}}}'),
        example("GET /x HTTP/1.1 JSESSIONID=«9F8E7D6C5B4A39281706F5E4D3C2B1A0»"),
        example("seed phrase: «legal winner thank year wave sausage worth useful legal winner thank yellow»"),
        example('{"mnemonic": "«legal winner thank year wave sausage worth useful legal winner thank yellow»"}'),
        example("x:«$2b$12$" + "q7RvK3xZ9mTb2WcY5nHf8L" * 2 + "pD4sGj6ae»:1"),
        example("x:«$6$q7RvK3xZ$" + "q7RvK3xZ9mTb2WcY5nHf8LpD" * 3 + "»:19000:0:99999:7"),
    ),
    lookalikes=(
        *commands.LOOKALIKES,
        "password: required",
        '{"errors": {"password": "Password must be at least 8 characters"}}',
        'password = os.environ["X"]',
        "password=${DB_PASSWORD}",
        '{"token_count": 5, "max_tokens": 4096, "next_page_token": ""}',
        "https://example.com:8080/path",
        "def login(password: str, token: bytes): ...",
        "Authorization: Bearer <token>",
        "HANDLE_KEY = ctypes.POINTER(HKEY)",
        "docker run -u 1000:1000 x --user www-data:www-data, CREATE USER x WITH PASSWORD NULL",
        "mysql -h db -port 3306, mysql -u root -p$PASSWORD and backup code re-use-later",
        'x["token"] = "required" and --token TOKEN or ENV API_KEY $VALUE_1',
        "a password sha512-crypt, the password must8, password SHA256 and password base64encoded",
        "the token tokenExpirationTimeInSeconds, an API key configuration-2024-01",
        'auth: "oauth2pkce", auth=basicauth12',
        "my $pwd = `pwd`;",
        "PWD=/home/app/releases/20261130120000, OLDPWD=/srv/app",
        "password: your-password, PASSWORD=new_password",
        '{"password": "mySecretPassword1", "token": "YOUR_TOKEN_HERE", "secret": "some secret value"}',
    ),
    patterns=(
        Pattern(
            r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\x1c/:\"'<>?#\\]{0,64}:([^\s\x1c/@\"'<>\\]{1,4096})@",
            lambda text: 0 if is_placeholder(text) else len(text),
            rank=CERTAIN,
        ),
        Pattern(
            r"(?i:authorization)[\"']?(?:[ ]{0,2}[:=,][ ]{0,2}|[ ](?=[\"']))[\"']?"
            r"(?i:bearer|basic|token|apikey|digest) {1,2}([A-Za-z0-9+/=_.~-]{8,})",
            _said_length,
            rank=CERTAIN - 5,
        ),
        Pattern(
            r"(?<![A-Za-z])[Bb]earer ([A-Za-z0-9+/=_.~-]{16,})",
            _said_length,
            rank=CERTAIN - 5,
        ),
        Pattern(r"(?i:identified (?:with \w{1,40} )?by) [\"']([^\"'\n]{4,128})[\"']", rank=CERTAIN),
        Pattern(  # CREATE USER x WITH PASSWORD
            r"(?i:(?:user|role) \S{1,64} (?:with )?(?:(?:encrypted|login) ){0,2}password) '([^'\n]{4,128})'",
            rank=CERTAIN,
        ),
        Pattern(  # curl -u name:password
            r"(?<![A-Za-z0-9-])(?:-u|--user|--proxy-user|-U)[ =][\"']?[\w.@+-]{1,64}:([^\s\x1c\"':]{8,128})",
            random_length,
            rank=CERTAIN,
        ),
        *commands.PATTERNS,
        Pattern(  # what lets in who has lost all else: GitHub has sixteen on a page
            r"(?i:(?:recovery|backup)[ -]codes?)[^A-Za-z0-9]{1,4}"
            r"([a-z0-9]{4,5}-[a-z0-9]{4,5}(?:[,;\s]{1,4}[a-z0-9]{4,5}-[a-z0-9]{4,5}){0,20})(?![A-Za-z0-9-])",
            whole(has_digit),
            rank=SECRET_KEYED,
        ),
        Pattern(  # the salts of WordPress, any characters
            r"define\([ ]?'(?:(?:SECURE_)?AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)',[ ]{1,12}'([^'\n\x1c]{24,80})'",
            whole(has_digit),
            rank=CERTAIN,
        ),
        # Hashes of passwords, as crypt and its like write them.
        Pattern(r"\$2[abxy]\$\d\d\$[A-Za-z0-9./]{53}(?![A-Za-z0-9./])", rank=CERTAIN),
        Pattern(
            r"\$(?:[156y]|apr1|argon2(?:id|i|d)|scrypt|gy|7)\$(?:[A-Za-z0-9=,./]{1,48}\$){1,3}[A-Za-z0-9./+]{22,128}(?![A-Za-z0-9./+])",
            rank=CERTAIN,
        ),
        Pattern(
            rf"(?<![A-Za-z])(?i:{_SECRET_NAME})(?: for [^\n\x1c:\"']{{1,64}}?)? (?:is|was|ist|lautet|est|es):? [\"'`]?"
            r"([^\s\x1c\"'`,;]{6,128})",
            _said_length,
            rank=SECRET_KEYED,
        ),
        Pattern(
            r"(?<![A-Za-z_-])(?i:password|passwd|passcode|passwort|kennwort|mot de passe|contrase[nñ]a|senha) "
            r"[\"'`]?([^\s\x1c\"'`,;:=()<>{}\[\]|/-]{8,64})(?![\w:=(\[-])",
            _is_made_up,
            rank=CONTEXT,
        ),
        Pattern(  # in the middle of a line, where no structure says so
            r"(?<![A-Za-z_.-])(?i:password|passwort|kennwort|mot de passe|contrase[nñ]a|senha|wachtwoord) ?: {1,2}"
            r"[\"'`]?([^\s\x1c\"'`,;:=()<>{}\[\]|/]{8,64})(?![\w:=(\[{])",
            _is_made_up,
            rank=CONTEXT,
        ),
        Pattern(
            r"(?<![A-Za-z_-])(?i:api[ -]?key|(?:access|auth|bearer|api|session|refresh) token|token|secret key|secret) "
            r"[\"'`]?([A-Za-z0-9_+/=]{16,128})(?![A-Za-z0-9_+/=(\[-])",
            lambda text: len(text) if sum(map(str.isdigit, text)) > 2 and is_random(text) else 0,
            rank=CONTEXT,
        ),
        # What signs a request and answers a challenge: AWS in its header and in an address, the digest of RFC 7616.
        Pattern(r"(?<![A-Za-z])(?:Signature=|(?:r|cn)?response=\")([a-f0-9]{32,64})(?![A-Za-z0-9])", rank=CERTAIN),
        Pattern(r"[?&](?:code|ticket|nonce)=([A-Za-z0-9%/_.~-]{16,512})", random_length, rank=SECRET_KEYED),
        Pattern(r"(?<![A-Za-z])WIFI:[^\n\x1c]{0,80}?(?<=[:;])P:([^;\n\x1c]{4,63});", rank=CERTAIN),
        Pattern(  # user and password for a registry, in base64
            r"(?<![A-Za-z])auth[\"']?[ ]?[:=][ ]?[\"']?([A-Za-z0-9+/]{8,512}={0,2})(?![A-Za-z0-9+/=])",
            _is_encoded_pair,
            rank=SECRET_KEYED,
        ),
        Pattern(  # the words that a wallet is made of
            r"(?i:mnemonic|(?:seed|recovery|backup|secret|wallet) ?(?:phrase|words?)|seed)"
            r"(?: is)?[\"']?[ ]?[:= ][ ]?[\"'`]?([a-z]{3,8}(?: [a-z]{3,8}){11,23})(?![A-Za-z ])",
            _is_seed,
            rank=SECRET_KEYED,
        ),
        # Under a secret's name, where no structure says so: x["secret"] = "...", <add key="" value="">, a default of
        # Terraform, the environment of Kubernetes, a row of Markdown.
        Pattern(
            rf"(?i:{_SECRETIVE})(?:[\"']\][ ]?=[ ]?[\"']|[\"'] value=[\"']"
            rf"|[\"'] \{{\s{{1,4}}default[ ]{{0,4}}=[ ]{{0,4}}\"|[\"']?\r?\n[ ]{{1,16}}value:[ ][\"']?|[ ]?\|[ ]?)"
            rf"({_VALUE})",
            random_length,
            rank=SECRET_KEYED,
        ),
        Pattern(
            rf"(?<![A-Za-z0-9-])--[a-z-]{{0,24}}(?i:{_SECRETIVE})[= ][\"']?({_VALUE})", random_length, rank=SECRET_KEYED
        ),
        Pattern(
            rf"(?<![A-Za-z0-9_$])(?:ENV|setx|set -gx|setenv|secret set|config:set) [\"']?{_ENVIRONMENT}[\"']?"
            rf"(?: --body| -b)?[= ][\"']?({_VALUE})",
            random_length,
            rank=SECRET_KEYED,
        ),
        Pattern(
            rf"(?<![A-Za-z0-9_$]){_ENVIRONMENT}[\"']?\]?[ ]?[:=][ ]?[\"']?({_VALUE})", random_length, rank=SECRET_KEYED
        ),
        Pattern(  # .netrc
            r"(?<![A-Za-z])login [^\s\x1c]{1,64}\s{1,4}password ([^\s\x1c]{4,128})",
            whole(plausible_secret),
            rank=SECRET_KEYED,
        ),
        Pattern(  # a key for a user, and no password
            r"(?<![A-Za-z0-9])https?://([^\s\x1c/@:\"'<>?#\\]{8,256}):@", random_length, rank=CERTAIN
        ),
    ),
    keys=(
        "securityanswer", "recoverycode", "backupcode", "accesscode", "doorcode", "gatecode", "passwordhash",
        "seedphrase", "recoveryphrase", "geheimzahl", "wlanschlussel", "motdepassewifi", "phrasesecrete",
        "reponsesecrete", "clesecrete", "codeacces", "codeconfidentiel", "clavesecreta", "contrasenawifi",
        "codigosecreto", "respuestasecreta", "parolachiave", "codicesegreto", "codiceaccesso", "frasesegreta",
        "chavesecreta", "senhawifi", "toegangscode", "geheimesleutel", "haslowifi", "koddostepu", "tajnyklucz",
        "motpasse", "motsecret", "codesecret", "palabraclave", "contrasenia", "claveacceso", "parolaordine",
        "paroladaccesso", "chiavesegreta", "senhaacesso", "palavrapasse", "palavrachave", "wachtzin", "geheim",
        "inlogcode", "haslouzytkownika", "hasla", "geheimnis", "zugangscode", "passwd1", "password", "passwd", "pwd",
        "pass", "passphrase", "passcode", "secret", "clientsecret", "appsecret", "dbpassword", "dbpass", "userpassword",
        "secretkey", "encryptionkey", "authtoken", "accesstoken", "refreshtoken", "bearertoken", "sessiontoken",
        "csrftoken", "securitytoken", "credential", "credentials", "passwort", "kennwort", "motdepasse", "contrasena",
        "clave", "senha", "parola", "wachtwoord", "haslo", "connectionstring", "databaseurl", "dsn", "sharedsecret",
        "webhooksecret", "consumersecret", "smtppass", "masterkey", "rootpassword", "adminpassword", "mdp",
        "wifipassword", "token", "authorization", "cookie", "sessionid", "setcookie", "session", "bottoken",
        "personalaccesstoken", "oauthtoken", "usertoken", "sastoken", "pgpassword", "sshpass", "redisauth",
        "jsessionid", "phpsessid", "aspnetsessionid", "sessid", "sessionkey", "mnemonic", "mysqlpwd", "accesssecret",
        "signingsecret", "pw", "psk", "presharedkey",
    ),
    shape=r"[^\x00-\x1f]{4,}",
    plausible=plausible_secret,
    canonical=str,
    sensitive=True,
    keyed_rank=SECRET_KEYED,
)  # fmt: skip

PIN = Category(
    "PIN",
    examples=(
        example('{"pin": "«4711»"}'),
        example('{"pin": «4711», "id": 3}'),
        example("PIN: «4711»"),
        example('{"otp": "«482913»"}'),
        example("with PIN «4711», or PUK 12345678"),
        example("Kod PIN: «0815»"),
        example("the PIN is «4711», and"),
        example("your verification code is «482913»."),
        example("«G-482913» is your Google verification code."),
        example("Use «482913» as your login code"),
        example("«482913» is your Acme code"),
    ),
    lookalikes=('{"pin": 13, "mode": "OUTPUT"}', "pin: required", "GPIO pin: 1234", "#define PIN 1234",
                "gpio_pin = 1024", "the PIN is 4 digits long", "PIN 12345678901 of 2026", "verification code is 12",
                "8080 is your default port code, use 1234 as your port"),
    patterns=(
        Pattern(
            rf"(?<![A-Za-z0-9_])(?<![Gg][Pp][Ii][Oo] )(?i:{_PIN_NAME})(?: code)?"
            r"(?: (?:is|was|ist|lautet|est|es)[: ]{1,2}|[ ]?[:=#][ ]?)(\d{4,8})(?![A-Za-z0-9]|[-./:]\d)",
            rank=CONTEXT,
        ),
        Pattern(
            rf"(?<![A-Za-z0-9#./:-])((?:G-)?\d{{4,8}})(?= (?:is your|as your|ist (?:dein|Ihr)|est votre|es (?:tu|su)) "
            rf"(?:(?:[A-Za-z]{{1,20}} ){{0,2}}(?i:{_PIN_NAME})|(?:[A-Z][A-Za-z]{{1,20}} ){{1,2}}code)(?![A-Za-z0-9]))",
            rank=CONTEXT,
        ),
        Pattern(r"(?<![A-Za-z0-9_])(?<!define )(?:PIN|PUK) (\d{4,8})(?![A-Za-z0-9]|[-./:]\d)", rank=CONTEXT),
    ),
    keys=(
        "pin", "pincode", "pinnumber", "cardpin", "userpin", "kodpin", "pinkod", "codepin", "codigopin", "codicepin",
        "otp", "otpcode", "onetimecode", "onetimepassword", "verificationcode", "mfacode", "puk", "pukcode",
    ),
    shape=r"\d{4,8}|[^\s\"'<>]{8,128}",
    plausible=lambda text: text.isdecimal() or is_random(text),
    sensitive=True,
)  # fmt: skip

#: Keys of SECRET that also name something harmless: their value must look random.
AMBIGUOUS = frozenset((
    "token", "authorization", "cookie", "sessionid", "setcookie", "session", "pass", "secret", "credential",
    "credentials", "clave", "parola", "dsn", "databaseurl", "connectionstring",
))  # fmt: skip
