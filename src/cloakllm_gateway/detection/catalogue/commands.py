"""Passwords on command lines: which programs take one, and how it is written there.

Histories, scripts, documentation of operations and logs of builds are full of them, and no key says what they are:
``-p`` is a password to one program and a port to the next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cloakllm_gateway.detection.catalogue.checks import has_digit
from cloakllm_gateway.detection.catalogue.model import CERTAIN, Extent, Pattern, example
from cloakllm_gateway.detection.catalogue.randomness import plausible_secret
from cloakllm_gateway.patterns import lazy

_START = r"(?<![A-Za-z0-9_.-])"
#: What else stands on the line before; another command is none of it.
_REST = r"(?: [^\n\x1c|;&]{0,120}?)?"
#: In quotes it may have blanks.  What the shell puts in, and the next option, are no passwords.
_VALUE = r"[\"']?((?<=[\"'])(?![$<%])[^\"'\n\x1c]{4,200}(?=[\"'])|(?![-$<%/@\"'])[^\s\x1c\"'|;&<>]{4,128})"
#: The same where it stands in a word with something else.
_PART = r"((?![-$<%/@\"'])[^\s\x1c\"'|;&<>@]{4,128})"
_NAME = r"[\w.$\\+-]{1,64}"

#: Programs by the option behind which they take a password, with a blank or ``=`` between.
_APART = {
    "-p|--password": (
        "sshpass|(?:docker|podman|registry|nerdctl|skopeo|buildah|oras|az|oc|argocd) login|twine upload|rdesktop"
        "|mongo(?:sh|dump|restore|export|import|stat|files)?|cqlsh|impala-shell|beeline|hdbsql|(?i:psexec(?:64)?)"
        "|crackmapexec|netexec|nxc|evil-winrm|hydra|medusa|smbmap"
    ),
    "-P": "sqlcmd|bcp|osql|tsql|zip|unzip|ipmitool",
    "-w": "ldap(?:search|modify|add|delete|passwd|whoami|compare)|vsql",
    "-a|--pass": "redis-cli",
    "-k|-K": "openssl enc",
    "-A|-X": "snmp(?:get|walk|set|getnext|bulkget|bulkwalk|trap|table)",
    "/p": "signtool",
}
#: ... and those with nothing between.
_ATTACHED = {
    "-p": (
        "mysql(?:dump|admin|import|check|show|slap|pump|sh)?|mariadb(?:-dump|-admin|-import|-check)?|7z[arz]?|(?:un)?rar"
        "|sshpass"
    ),
    "-P": "sqlcmd|bcp",
    "/p:": "[xw]freerdp3?",
}
#: Those that take it by its place, or behind the name of who it is of.
_PLACED = (
    rf"htpasswd -[A-Za-z]{{0,6}}b[A-Za-z]{{0,6}}(?: -\w)? [^\s\x1c]{{1,100}} {_NAME} {_VALUE}",
    rf"wpa_passphrase (?:\"[^\"\n\x1c]{{1,32}}\"|[^\s\x1c\"]{{1,32}}) {_VALUE}",
    rf"(?:smbclient|smbmap|smbget|rpcclient|net ads){_REST} -U[ =]?[\"']?{_NAME}%{_PART}",
    rf"lftp{_REST} -u [\"']?{_NAME},{_PART}",
    rf"(?:https?|xh) (?:-a|--auth)[ =][\"']?{_NAME}:{_PART}",
    rf"ConvertTo-SecureString (?:-String )?{_VALUE}",
    rf"(?:impacket-\w{{3,20}}|(?:psexec|wmiexec|smbexec|atexec|secretsdump|smbclient)\.py){_REST} "
    rf"[\"']?(?:[\w.-]{{1,64}}/)?{_NAME}:{_PART}(?=@)",
    rf"aws configure set (?:[\w.-]{{1,64}}\.)?aws_(?:secret_access_key|session_token) {_VALUE}",
    rf"netsh wlan [^\n\x1c]{{1,200}}?keyMaterial={_VALUE}",
    # of routers: behind the number that says how it is stored, and what lets a station in
    rf"(?:username {_NAME}|enable|neighbor [^\s\x1c]{{1,64}})[^\n\x1c]{{0,40}}? (?:password|secret) "
    rf"(?:level \d{{1,2}} )?[056789] {_VALUE}",
    rf"snmp-server community {_VALUE}(?= (?:RO|RW|ro|rw|view)(?![A-Za-z]))",
)
#: The same with words of prose, or of something else, where a password may stand.
_PLACED_IN_PROSE = (
    rf"(?i:net user) {_NAME} {_VALUE}",
    r"(?i:net use)[^\n\x1c]{1,100}? ((?![-/\\*])[^\s\x1c\"']{4,128}) /(?i:user):",
    rf"vault login (?:token=)?{_VALUE}",
    rf"(?i:db2 connect to) [^\s\x1c]{{1,64}} (?i:user) {_NAME} (?i:using) {_VALUE}",
    rf"isql(?: -v)? [^\s\x1c-]{{1,64}} {_NAME} {_VALUE}",
    rf"AUTH(?: {_NAME})? {_VALUE}(?=\r?\n|\x1c|$)",  # of Redis as well
    rf"(?<![^\n\x1c])[A-Za-z]{{0,4}}\d{{1,6}} LOGIN \"?[\w.@+-]{{1,64}}\"? {_VALUE}",  # of IMAP
    r"PASSWORD ?\('([^'\n\x1c$<%]{4,100})'\)",
    rf"rabbitmqctl(?: -\w [^\s\x1c]{{1,64}})? (?:add_user|change_password|authenticate_user) {_NAME} {_VALUE}",
    rf"(?:sqlplus|expdp|impdp|sqlldr) (?:-\w{{1,2}} )?[\"']?{_NAME}/{_PART}",
    rf"(?:requirepass|masterauth) {_VALUE}",  # of Redis, as its lists of access are:
    rf"(?i:acl setuser|user) {_NAME} (?:(?:on|off|reset|resetpass) ){{1,3}}>{_PART}",
)
#: What reads one from standard input: programs to log in, and those that change passwords.
_READERS = "--password-stdin|--with-token|--passphrase-fd 0|-passin stdin|passwd --stdin|sudo -S|chpasswd|vncpasswd -f"
_PIPED = (
    rf"(?:echo(?: -n)?|printf)(?: \"?%s\"?)? [\"']?(?:{_NAME}:)?{_PART}[\"']? ?\|[^\n\x1c|;&]{{0,100}}?(?:{_READERS})",
    rf"(?:{_READERS})[^\n\x1c|;&<]{{0,64}}<<< ?[\"']?(?:{_NAME}:)?{_PART}",
)
#: Options that say what they are without two hyphens before them, and what scripts and protocols send.
_OPTIONS = (
    rf"(?<![A-Za-z0-9-])-(?:src|dest|old|new)?(?:store|key)pass(?:wd)? {_VALUE}",
    rf"(?<![A-Za-z0-9-])-D[\w.-]{{0,64}}(?i:password|passwd|passphrase|secret|token)=\"?{_PART}",
)
#: ... those of Windows, in programs that take an account, and those in quotes, which may have blanks.
_OTHERS = (
    rf"(?<=\s)/(?i:u|ru|user):? ?[^\s\x1c]{{1,64}} /(?i:p|pass|password|pwd|rp)[: ]{_VALUE}",
    r"(?<![A-Za-z0-9-])--(?:[a-z]{1,16}-){0,3}(?:password|passphrase|passwd)[= ]"
    r"[\"']([^\"'\n\x1c$<%]{4,100})[\"']",
)
_OPTION_IN_PROSE = rf"(?<![A-Za-z0-9-])-(?:password|passwd|passphrase|passw) {_VALUE}"
_SENT = (
    r"(?i:assw(?:or)?d|assphrase)[^\n\x1c]{0,24}[\n;}{ \t]{1,16}send (?:-- )?\"([^\"\n\x1c\\]{4,128})\\[rn]\"",
    r"(?<![A-Za-z])USER [^\s\x1c]{1,64}\r?\n(?:[^\n\x1c]{0,100}\r?\n)?[^\n\x1c]{0,16}?(?<![A-Za-z])PASS "
    r"([^\s\x1c]{4,128})",
)


#: How far a value goes on that is longer than the expressions foresee.
_LONGEST = 128
_GOES_ON, _PART_GOES_ON = lazy(r"[^\s\x1c\"'|;&<>]*"), lazy(r"[^\s\x1c\"'|;&<>@]*")


def _all_of(is_one: Callable[[str], bool], more: re.Pattern[str]) -> Extent:
    """The whole of a value: the token of a session may have a thousand characters."""

    def extent(text: str, start: int, end: int, limit: int) -> int:
        if not is_one(text[start:end]):
            return 0
        longer = more.match(text, end, limit) if end - start == _LONGEST else None
        return longer.end() if longer else end

    return extent


def _made_up(text: str) -> bool:
    """Whether a text has a digit in it, as words of prose have none."""
    return plausible_secret(text) and has_digit(text)


def _patterns() -> Iterator[Pattern]:
    certain = [rf"{_START}(?:{programs})(?:\.exe)?{_REST} (?:{o})[ =]{_VALUE}" for o, programs in _APART.items()]
    certain += [rf"{_START}(?:{programs})(?:\.exe)?{_REST} {o}{_VALUE}" for o, programs in _ATTACHED.items()]
    certain += [_START + expression for expression in (*_PLACED, *_PIPED)]
    in_prose = [*(_START + expression for expression in _PLACED_IN_PROSE), _OPTION_IN_PROSE]
    for expressions, is_one in (((*certain, *_OPTIONS, *_OTHERS, *_SENT), plausible_secret), (in_prose, _made_up)):
        for expression in expressions:
            more = _PART_GOES_ON if _PART in expression else _GOES_ON
            yield Pattern(expression, rank=CERTAIN, extent=_all_of(is_one, more))


PATTERNS = (*_patterns(),)
EXAMPLES = (
    example("sshpass -p «Passw0rd9» ssh x"),
    example("docker login -u jdoe -p «geheim99x» ghcr.io"),
    example("mongosh --host db -u jdoe -p '«geheim 99x»' shop"),
    example("sqlcmd -S db -U sa -P «geheim99x» -Q 'select 1'"),
    example("ldapsearch -x -D cn=admin,dc=x -w «geheim99x» -b dc=x"),
    example("redis-cli -h db -a «geheim99x» ping"),
    example("openssl enc -aes-256-cbc -k «geheim99x» -in a"),
    example("snmpget -v3 -u jdoe -A «geheim99x» host"),
    example("signtool sign /f a.pfx /p «geheim99x» a.exe"),
    example("mysql -u root -p«geheim99x» shop"),
    example("mysqldump -uroot -p'«geheim 99x»' shop"),
    example("bcp t out f -U sa -P«geheim99x»"),
    example("xfreerdp /u:jdoe /p:«geheim99x» /v:host"),
    example("htpasswd -bc .htpasswd jdoe «geheim99x»"),
    example("wpa_passphrase home «geheim99x»"),
    example("net user jdoe «geheim99x» /add"),
    example("net use Z: \\\\db\\share «geheim99x» /user:jdoe"),
    example("vault login «q7RvK3xZ9mTb2WcY5nHf8LpD»"),
    example("rabbitmqctl -n rabbit@db add_user jdoe «geheim99x»"),
    example("psexec \\\\db -u jdoe -p «geheim99x» cmd"),
    example("sqlplus scott/«tiger99»@db"),
    example("smbclient //db/share -U jdoe%«geheim99x»"),
    example("lftp -u jdoe,«geheim99x» ftp.x.io"),
    example("http -a jdoe:«geheim99x» x.io/me"),
    example("echo «geheim99x» | sudo -S ls"),
    example("echo 'jdoe:«geheim99x»' | chpasswd"),
    example("passwd --stdin jdoe <<< «geheim99x»"),
    example('expect "assword:"\nsend "«geheim99x»\\r"'),
    example("keytool -list -storepass «geheim99x»"),
    example("mvn deploy -Drepo.password=«geheim99x»"),
    example("influx -username jdoe -password «geheim99x»"),
    example('ConvertTo-SecureString "«geheim99x»" -AsPlainText -Force'),
    example("requirepass «geheim99x»"),
    example("nxc smb db -u jdoe -p «geheim99x»"),
    example("impacket-psexec corp/jdoe:«geheim99x»@db cmd"),
    example("aws configure set aws_secret_access_key «wJalrXUtnFEMI7K7MDENGbPxRfiCYq2x9Zc8dKe1»"),
    example("netsh wlan set profileparameter name=x keyMaterial=«geheim99x»"),
    example("username jdoe privilege 15 password 7 «0822455D0A16»"),
    example("snmp-server community «geheim99x» RO"),
    example("db2 connect to shop user jdoe using «geheim99x»"),
    example("isql -v shop jdoe «geheim99x»"),
    example("OK\nAUTH default «geheim99x»\nOK"),
    example('* OK ready\na1 LOGIN jdoe "«geheim99x»"'),
    example("SET PASSWORD FOR 'jdoe'@'db' = PASSWORD('«geheim99x»');"),
    example("schtasks /create /tn x /ru jdoe /rp «geheim99x»"),
    example("cmdkey /add:db /user:jdoe /pass:«geheim99x»"),
    example('gpg --batch --passphrase="«geheim 99x»" -c a'),
    example("ACL SETUSER jdoe on >«geheim99x» ~* +@all"),
    example("USER jdoe\r\n331 Password required\r\nPASS «geheim99x»"),
)
LOOKALIKES = (
    "docker login -u jdoe --password-stdin, mysql -u root -p, docker login -p $REGISTRY_PASSWORD",
    'redis-cli -a "$REDIS_PASSWORD" and az login -p <password>',
    "ssh -p 2222 host, docker run -p 8080:8080 x, mysql -P 3306, mkdir -p /srv/app/releases",
    "net user experience matters, net use of resources",
    "echo done | sudo tee /etc/motd, echo 'select 1' | mysql shop",
    "PASS src/components/Button2.test.tsx\nUSER node\nRUN npm ci",
    "cmake -DUSE_TOKEN=ON -DENABLE_PASSWORD=FALSE .. && sqlplus / as sysdba",
    "unzip -P is for passwords, vault login -method=github",
    "AUTH PLAIN and AUTH LOGIN are told, a1 LOGIN takes a name, snmp-server community string RO, PASSWORD(expr)",
    'robocopy a b /s /e /p, net use /user:jdoe /persistent:no, --password "$PASSWORD" and --password="<password>"',
    "rabbitmqctl add_user takes a name, rabbitmqctl list_users --formatter json, psexec -p <password>",
)
