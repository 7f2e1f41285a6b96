"""What systems call somebody: in paths, logs, listings and profiles; accounts of the systems themselves are nobody."""

from __future__ import annotations

from cloakllm_gateway.detection.catalogue.contact import LETTERS
from cloakllm_gateway.detection.catalogue.model import CONTEXT, Category, Pattern, example
from cloakllm_gateway.patterns import lazy

#: Accounts that belong to a machine and not to a person.
SYSTEM_USERS = frozenset(
    "root admin administrator user users username runner ubuntu debian node app www www-data nobody daemon "
    "system public "
    "default shared guest test vscode jovyan postgres mysql nginx git jenkins circleci travis ec2-user docker "
    "linuxbrew "
    "anonymous none null true false string unknown all any your-username youruser yourname example".split()
)

#: Accounts that programs bring along, which own files and processes.
_SERVICES = frozenset(
    "bin sys sync games man lp mail news uucp proxy backup list irc gnats operator halt shutdown ftp sshd ntp chrony "
    "messagebus dbus polkitd avahi colord rtkit geoclue gdm pulse saned usbmux lxd uuidd tss sssd rpc rpcuser "
    "nfsnobody dnsmasq qemu kvm apache httpd tomcat jetty haproxy squid named bind unbound postfix dovecot exim clamav "
    "redis memcache memcached rabbitmq kafka zookeeper cassandra mongodb mongod couchdb influxdb elasticsearch kibana "
    "logstash grafana prometheus telegraf collectd statsd nagios zabbix icinga consul vault etcd nomad gitlab gitea "
    "nexus sonar sonarqube airflow superset spark hadoop hdfs yarn hive mariadb pgbouncer celery gunicorn uwsgi "
    "wildfly keycloak minio traefik caddy deploy deployer build builder ci ansible puppet chef salt "
    "service svc nonroot bitnami centos fedora rocky pi staff wheel".split()
)

#: Accounts that images of clouds have, and what manuals write for anybody's.
_ANYBODY = frozenset(
    "opc core azureuser ec2user alpine almalinux cloud-user vagrant myuser my-user your_user your-user your_username "
    "remote_user remote-user remoteuser dbuser db_user username1 user1 user2 you me login name usr foo bar host "
    "youruserid userid someuser".split()
)

#: First segments of the paths of sites where people have profiles that are none.
_SITE_PAGES = frozenset(
    "intent share sharer home login explore search about help privacy terms settings hashtag groups events pages "
    "watch marketplace policies legal jobs joinchat addstickers reel reels stories sharer.php profile.php dialog "
    "plugins tr".split()
)

#: How files end that lie in a folder called ``home`` and are nobody's.
_PAGE = lazy(r".*\.(?:[cm]?[jt]sx?|html?|php|aspx?|jsp|vue|svelte|s?css|json|ya?ml|xml|md|txt|csv|py|rb|go|png|jpg)")


def _no_system(text: str) -> int:
    """The name of a user that no system brings along."""
    return 0 if text.lower() in SYSTEM_USERS else len(text)


def _account(text: str) -> int:
    """A folder of a person among the home folders of a system."""
    return 0 if text.lower() in SYSTEM_USERS or _PAGE.fullmatch(text) else len(text)


def _owner(text: str) -> int:
    """Whom a file or a process belongs to, where that is no program: those often begin with a line or end cut off."""
    low = text.lower()
    if low in SYSTEM_USERS | _SERVICES or text.startswith(("_", "systemd")) or text.endswith("+"):
        return 0
    return len(text)


def _logs_in(text: str) -> int:
    """Whoever is no account of a system, of a program or of a manual."""
    return 0 if text.lower() in _ANYBODY else _owner(text)


def _is_account_name(text: str) -> int:
    """What nobody says of a user in a sentence: no word of every day, and no account of a system."""
    name = text.rstrip(".")
    return len(name) if name.lower() not in SYSTEM_USERS | _SAID_OF_USERS else 0


_SAID_OF_USERS = frozenset(
    "the a an another different this that who not never must should can may will has is was were are and or "
    "had currently recently still just also ever previously automatically yet once only actually last first "
    "successfully already normally above below shown owner member someone somebody anyone everyone "
    "superuser sudo nonroot".split()
)


#: What home folders may lie below: the root of a system, also of one that is elsewhere or mounted.  `src/home/x`,
#: `/data/myhome/x` and `https://example.com/home/about` are nobody's.
_ROOT = (
    r"(?:(?:file|s?ftp|ssh)://[\w.@:-]{0,60})?"
    r"(?:/(?:(?:mnt|Volumes|net|hosts)/[\w.@-]{1,40}|(?:run/)?media/[\w.@-]{1,40}(?:/[\w.@-]{1,40})?"
    r"|System/Volumes/Data|cygdrive/[a-z]|[a-z]|export|usr|var|nfs|srv|data|storage|cluster|backups?|host|hostfs|rootfs)"
    r"|//wsl(?:\$|\.localhost)/[\w.-]{1,40})?"
)
#: The same where names are separated by backslashes: behind a drive, nothing, a share or a device.
_WINDOWS_ROOT = r"(?:(?<!:)\\{2,4}[\w.-]{1,40}|\\{1,2}Device\\{1,2}HarddiskVolume[0-9]{1,3})?"
#: What a command has before the name: options and files; a name on a command line.
_ARGUMENTS, _LOGIN = r"(?: [^\s\x1c@\"'`<>]{1,40}){0,5}?", r"([A-Za-z_][A-Za-z0-9_.-]{1,31})"
#: A name in a path, as systems give them to people.
_FOLDER = rf"([a-z_A-Z{LETTERS}][A-Za-z0-9{LETTERS}_.-]{{1,31}})(?=[/\\\s\x1c\"'`):,;\]]|$)"

USERNAME = Category(
    "USERNAME",
    examples=(
        example('{"username": "«kmensah»"}'),
        example('File "/home/«lena.fischer»/.ssh/config"'),
        example("C:\\Users\\«jane.doe»\\AppData"),
        example("/Users/«jdoe»/src/app/main.py"),
        example("the backup (/mnt/disk/home/«jdoe»), two years old"),
        example("sftp://nas/home/«lena.f»/notes.txt"),
        example("ls /mnt/c/Users/«jane.doe»/Desktop"),
        example(r"open \\filer\Users\«jane.doe»\plan.docx"),
        example('{"path": "C:\\\\Users\\\\«jane.doe»\\\\x"}'),
        example("GRANT ALL ON *.* TO '«ops_3933»'@'localhost'"),
        example("see https://www.linkedin.com/in/«jane-doe-8a123b45»/ for more"),
        example("thanks @«sanne_devries» for the fix"),
        example("CORP\\«asmith2» logged on"),
        example("198.51.100.23 - «anna.schmidt» [29/Nov/2026:20:00:00 +0000]"),
        example("host «DESKTOP-4F8K2L9» is offline"),
        example("sshd[7]: Failed password for invalid user «jdoe» from host port 22"),
        example("x\n«jdoe»   pts/0        2026-03-02 09:41 (192.0.2.7)"),
        example("Host prod\n  HostName prod.example\n  User «jdoe»\n  Port 22\n"),
        example("session opened for user postgres(uid=26) by «jdoe»(uid=1000)"),
        example("imap-login: Login: user=<«jane.doe»>, method=PLAIN"),
        example("dn: uid=«jthistle»,ou=people,dc=example"),
        example("machine api.example.com login «kjohnson» password x"),
        example('FATAL: password authentication failed for user "«svc_billing»"'),
        example("User '«ivega»' not found"),
        example("New session 12 of user «ivega»."),
        example("User «ivega» logged in from host"),
        example("logged in as «maria.gomez»."),
        example('connectionString="Data Source=x;User ID=«ivega»;Password=x"'),
        example("uid=1001(«ivega») groups=27(sudo)"),
        example("sudo:   «ivega» : TTY=pts/0 ; USER=root ; COMMAND=/bin/ls"),
        example("mysqldump --user=«ivega» --all-databases"),
        example("total 8\n-rw-r--r--  1 «jdoe»  staff  1234 Jan  2 12:00 notes.txt"),
        example("drwxr-xr-x+ 2 «lena.f» users 4096 2026-01-02 12:00 plans"),
        example("USER  PID %CPU %MEM VSZ RSS\n«ivega»  4711  0.3  1.2 123456 7890 pts/0 Ss 09:12 0:00 vim"),
        example("ssh -p 2222 «aschmidt»@build01 uptime"),
        example("rsync -av ./ «aschmidt»@build01:/srv/"),
        example("psql -h db -U «aschmidt» shop"),
        example("mysql -u«aschmidt» -p shop"),
        example("ssh -l «aschmidt» build01"),
        example("ssh -J git@bastion «aschmidt»@build01"),
        example("scp root@build01:/srv/x «aschmidt»@build02:/srv"),
        example("mysql -u «aschmidt»@localhost shop"),
        example("clone https://«aschmidt»@git/x.git"),
        example("Owner SID: «S-1-5-21-3623811015-3361044348-30300820-1013»"),
    ),
    lookalikes=("/home/runner/work", "/Users/Shared/x",
                "https://example.com/home/about", "import x from './home/card' and src/home/components/x",
                "/app/home/index.html", "controllers/Users/Listing", "/data/myhome/projects/x",
                "/tmp/newhome/customers", "/mnt/home/backup/2024", r"D:\proj\Users\list",
                "serviceAccountName: checkout", '{"storageAccountName": "acmeprod", "accountName": "acmeprod"}',
                '{"username": "root"}', '{"username": "${USER}"}', "/home/{user}/x",
                "https://x.com/intent/tweet", "by @property and @app.route",
                "HKLM\\software\\x and D\\new", "DESKTOP-ENVIRONMENT",
                "session opened for user root by (uid=0), Failed password for root from host",
                "the user is logged in as the owner, User must be logged in as root. User who logged in",
                "--user USERNAME --user=root pip install --user requests==1",
                "uid=0(root) gid=33(www-data) user 'name' of type",
                "-rw-r--r-- 1 root root 12 Jan 2 12:00 x\ndrwx------ 2 redis redis 4096 Jan 2 12:00 y",
                "ssh user@host, ssh root@localhost, ssh git@server, scp x ec2-user@host:/y, psql -U postgres -l",
                "mysql -u root -p",
                "git clone git@github:acme/x, https://user@host/x, ssh://git@host/x, ssh your_user@host, mysql -u USER",
                "systemd+ 1 0.0 0.1 16 7 ? Ss 09:12 0:00 x\n_apt 22 0.0 0.1 16 7 ? S 09:12 0:00 y",
                "Failed reads for individual files won't stop it. Accepted answers for everybody. Invalid user input"),
    patterns=(
        Pattern(
            r"(?<![\w.~@%+/-])" + _ROOT + r"/(?:home|Users)/{1,2}" + _FOLDER,
            _account,
            rank=CONTEXT,
        ),
        Pattern(
            r"(?<![\w.)\\-])" + _WINDOWS_ROOT + r"\\{1,4}Users\\{1,4}/?" + _FOLDER,
            _account,
            rank=CONTEXT,
        ),
        Pattern(  # profiles
            r"(?:(?:linkedin\.com/in|facebook\.com|instagram\.com|twitter\.com|[/.]x\.com|[/.]t\.me|tiktok\.com"
            r"|threads\.net|/u|/profiles?)/@?|/~)([A-Za-z][A-Za-z0-9_.%-]{2,60}[A-Za-z0-9])(?=[/?#)\]\"'\s\x1c>,;]|\.?$|\.[\s\x1c])",
            lambda text: 0 if text.lower() in SYSTEM_USERS | _SITE_PAGES else len(text),
            rank=CONTEXT,
        ),
        Pattern(  # who logs in to another machine
            rf"(?<![A-Za-z0-9_./-])(?:ssh|scp|sftp|rsync|mosh|sshfs|ssh-copy-id){_ARGUMENTS} "
            rf"{_LOGIN}@(?=[A-Za-z0-9\[])",
            _logs_in,
            rank=CONTEXT,
        ),
        Pattern(  # ... from or by another one: the last of several
            rf"(?<![A-Za-z0-9_./-])(?:ssh|scp|sftp|rsync)(?: [^\s\x1c\"'`<>]{{1,60}}){{1,5}} "
            rf"{_LOGIN}@(?=[A-Za-z0-9\[])",
            _logs_in,
            rank=CONTEXT,
        ),
        Pattern(  # ... and to a database
            rf"(?<![A-Za-z0-9_./-])(?:(?:psql|pg_dump|pg_dumpall|pg_restore|createdb|dropdb|vacuumdb){_ARGUMENTS} -U"
            rf"|(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump){_ARGUMENTS} -u|ssh{_ARGUMENTS} -l)"
            rf" ?{_LOGIN}(?=[\s\x1c\"'`;|)@]|$)",
            _logs_in,
            rank=CONTEXT,
        ),
        Pattern(
            r"(?<![A-Za-z0-9+.-])(?:https?|ssh|git\+ssh|svn\+ssh|s?ftp|postgres|postgresql|mysql|ldaps?)://"
            rf"{_LOGIN}@(?=[A-Za-z0-9\[])",
            _logs_in,
            rank=CONTEXT,
        ),
        Pattern(  # mentions in a chat
            r"(?<![A-Za-z])(?i:cc|ping|thanks|thx|assigned to|reviewed by|reported by)[: ]{1,2}"
            r"@([A-Za-z][A-Za-z0-9_.-]{1,38}[A-Za-z0-9])(?![A-Za-z0-9/(@]|\.[A-Za-z])",
            _no_system,
            rank=CONTEXT,
        ),
        Pattern(r"<@([UW][A-Z0-9]{7,12})>"),
        Pattern(  # a Windows domain and its user
            r"(?<![A-Za-z0-9\\/:])[A-Z][A-Z0-9-]{1,14}\\([a-z][a-z._-]{2,24}[0-9]{0,4})(?![A-Za-z0-9\\/.(*+])",
            lambda text: len(text) if text[-1].isdigit() or "." in text else 0,
            rank=CONTEXT,
        ),
        Pattern(r"(?<![A-Za-z0-9-])S-1-5-21-\d{4,10}-\d{4,10}-\d{4,10}-\d{3,10}(?![A-Za-z0-9-])"),
        Pattern(r"arn:aws[a-z-]{0,10}:[a-z]{2,6}::(\d{12}:user/[A-Za-z0-9+=,.@_/-]{1,64})"),
        Pattern(  # the remote user of an access log
            r" - ([A-Za-z][A-Za-z0-9._@-]{1,40}) \[\d{1,2}/[A-Z][a-z]{2}/\d{4}",
            _no_system,
            rank=CONTEXT,
        ),
        Pattern(  # who a daemon lets in, and who not
            r"(?:(?:Failed|Accepted) (?:password|publickey|none|hostbased|gssapi-[a-z-]{3,20}"
            r"|keyboard-interactive(?:/pam)?) for (?:invalid user |illegal user )?"
            r"|session (?:opened|closed) for user |-login: [^\n<]{0,60}user=<)"
            r"(?!(?:invalid|illegal) )([A-Za-z][A-Za-z0-9._-]{1,40})(?=[ (>@\x1c]|$)",
            _no_system,
        ),
        Pattern(  # who is at a terminal: who, w and last
            r"(?<![^\n\x1c])([a-z_][a-z0-9._-]{1,31}) {1,16}(?:pts/\d{1,4}|tty[A-Za-z0-9]{1,4}) {1,20}[0-9A-Za-z:.]",
            _no_system,
        ),
        Pattern(  # whose files those are: ls -l
            r"(?<![^\n\x1c])[-dlbcps](?:[r-][w-][xsStT-]){3}[.+@]? {1,6}\d{1,6} ([a-z][a-z0-9._-]{1,31}) {1,16}"
            r"[A-Za-z_][\w.-]{0,31} {1,16}\d",
            _owner,
        ),
        Pattern(  # ... and whose processes: ps aux
            r"(?<![^\n\x1c])([a-z][a-z0-9._-]{1,31}) {1,16}\d{1,7} {1,6}\d{1,4}\.\d {1,6}\d{1,3}\.\d {1,9}\d{1,12} ",
            _owner,
        ),
        Pattern(  # of a host, in the configuration of ssh
            r"(?<=\n)[ \t]{1,8}User ([A-Za-z][A-Za-z0-9._-]{1,40})(?=\s|\x1c|$)",
            _no_system,
            rank=CONTEXT,
            near=r"\b(?:hostname|identityfile|host|port) ",
        ),
        Pattern(  # ... and who becomes somebody else
            r"session opened for user [^\s\x1c]{1,64} by ([A-Za-z][A-Za-z0-9._-]{1,40})(?=\(uid=)", _no_system
        ),
        Pattern(  # ... as databases and services say it
            r"(?<![A-Za-z])(?:(?:authentication failed|[Pp]ermission denied|[Aa]ccess denied) for (?:user|role)"
            r"|[Nn]ew session \w{1,12} of user) [\"']?([A-Za-z][A-Za-z0-9._-]{1,40})(?=[\"' .,;\n\x1c]|$)",
            _is_account_name,
            rank=CONTEXT,
        ),
        Pattern(
            r"(?<![A-Za-z])(?:[Uu]ser|[Rr]ole|[Aa]ccount) [\"']([A-Za-z][A-Za-z0-9._-]{1,40})[\"'] "
            r"(?:not found|does not exist|created|deleted|logged|is not|already|has been|was)(?![A-Za-z])",
            _no_system,
            rank=CONTEXT,
        ),
        Pattern(
            r"(?<![A-Za-z])[Uu]ser ([A-Za-z][A-Za-z0-9._-]{2,40}) (?:logged|signed) (?:in|out|on|off)(?![A-Za-z])",
            _is_account_name,
            rank=CONTEXT,
        ),
        Pattern(
            r"(?<![A-Za-z])(?:(?:[Ll]ogged|[Ss]igned) in as |[Aa]uthenticated as |[Ll]ogin (?:ok|succeeded|failed)"
            r" for )(?:user )?[\"']?([A-Za-z][A-Za-z0-9._-]{2,40})(?=[\"' ,;)\n]|\.?(?:[\s\x1c]|$))",
            _is_account_name,
            rank=CONTEXT,
        ),
        Pattern(  # of a database, among other settings
            r"(?i:;[ ]?(?:uid|user ?id)[ ]?=[ ]?)([A-Za-z][A-Za-z0-9_.@\\-]{2,63})(?=[;\"'\s\x1c]|$)",
            _no_system,
            rank=CONTEXT,
        ),
        Pattern(r"(?<![A-Za-z])[ug]id=\d{3,10}\(([A-Za-z_][A-Za-z0-9._-]{1,40})\)", _no_system),  # id
        Pattern(r"(?<![A-Za-z])sudo: {1,8}([a-z_][a-z0-9._-]{1,31}) : TTY=", _no_system),
        Pattern(
            r"(?<![A-Za-z-])--(?:user(?:name)?=|username )[\"']?([A-Za-z][A-Za-z0-9._-]{1,40})(?=[\"'\s\x1c]|$)",
            _is_account_name,
        ),
        Pattern(r"(?:Invalid|Illegal) user ([A-Za-z][A-Za-z0-9._-]{1,40}) from ", _no_system),
        # what Windows calls a computer
        Pattern(r"(?<![A-Za-z0-9.-])(?:DESKTOP|LAPTOP)-(?=[A-Z]{0,6}[0-9])[A-Z0-9]{7}(?![A-Za-z0-9])"),
        Pattern(  # an entry of a directory
            r"(?<![A-Za-z])(?:uid|UID|sAMAccountName)=([A-Za-z][A-Za-z0-9._-]{1,40})(?=,[A-Za-z]{1,2}=)",
            _no_system,
        ),
        Pattern(r"(?<![A-Za-z])machine \S{1,100}\s{1,8}login ([A-Za-z][A-Za-z0-9._@-]{1,64})(?=\s)", _no_system),
        Pattern(  # 'name'@'host' of MySQL
            r"(?<![A-Za-z0-9])[\"'`]([A-Za-z_][A-Za-z0-9_.-]{2,31})[\"'`]@[\"'`]",
            _no_system,
        ),
    ),
    keys=(
        "nutzername", "benutzerkennung",
        "identifiant", "identifiantutilisateur", "nomdutilisateur", "nombredeusuario", "nomedeusuario",
        "nomedoutilizador", "nomeutilizador", "nomedeutilizador", "loginuzytkownika", "inlognaam", "anmeldename",
        "loginid",
        "username", "user", "login", "loginname", "userlogin", "screenname", "benutzername", "benutzer",
        "nomutilisateur",
        "utilisateur", "usuario", "nombreusuario", "nomeutente", "utente", "utilizador", "gebruikersnaam", "gebruiker",
        "uzytkownik", "nazwauzytkownika", "samaccountname", "dbuser", "smtpuser", "remoteuser", "administratorlogin",
    ),
    shape=r"[^\W_][\w.@+-]{2,63}",
    plausible=lambda text: text.lower() not in SYSTEM_USERS and not text.isdigit(),
    canonical=str.casefold,
)  # fmt: skip
