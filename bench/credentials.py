"""A labelled set of made-up credentials: each format of a vendor in the places where credentials stand.

The formats are those that vendors document and that public scanners look for, written down here by themselves: a
table derived from the expressions of the catalogue would prove nothing.  ``<36a>`` in a form stands for 36 random
characters of the alphabet ``a``.  A form that says by itself what it is stands in any place, one that is nothing but
random characters under the name that its vendor's documentation gives it.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Iterator
from typing import Any, NamedTuple

_LOWER, _UPPER, _DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALPHABETS = {
    "d": _DIGITS,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "l": _LOWER + _DIGITS,
    "U": _UPPER + _DIGITS,
    "a": _LOWER + _UPPER + _DIGITS,
    "i": _LOWER + _UPPER,
    "w": _LOWER + _UPPER + _DIGITS + "_-",
    "b": _LOWER + _UPPER + _DIGITS + "+/",
    "t": _UPPER + "234567",
    "z": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
UUID = "<8h>-<4h>-<4h>-<4h>-<12h>"

#: What says by itself what it is.
FORMS = {
    # models
    "openai": "sk-<20a>T3BlbkFJ<20a>", "openai project": "sk-proj-<74w>T3BlbkFJ<74w>",
    "openai service account": "sk-svcacct-<58w>T3BlbkFJ<58w>", "openai admin": "sk-admin-<58w>T3BlbkFJ<58w>",
    "anthropic": "sk-ant-api03-<93w>AA", "anthropic admin": "sk-ant-admin01-<93w>AA", "openrouter": "sk-or-v1-<64h>",
    "groq": "gsk_<52a>", "xai": "xai-<80a>", "perplexity": "pplx-<48a>", "replicate": "r8_<37a>",
    "hugging face": "hf_<34i>", "hugging face organisation": "api_org_<34i>", "nvidia": "nvapi-<64w>",
    "cerebras": "csk-<48l>", "pinecone": "pcsk_<6a>_<63a>", "tavily": "tvly-dev-<32a>", "deepseek": "sk-<32h>",
    "langsmith": "lsv2_pt_<32h>_<10h>", "langsmith service": "lsv2_sk_<32h>_<10h>", "e2b": "e2b_<40h>",
    "voyage": "pa-<43w>", "jina": "jina_<32h><28w>", "fireworks": "fw_<24a>", "elevenlabs": "sk_<48h>",
    "together": "tgp_v1_<43w>", "firecrawl": "fc-<32h>", "wandb": "wandb_v1_<64w>",
    # forges and registries
    "github personal": "ghp_<36a>", "github oauth": "gho_<36a>", "github user": "ghu_<36a>",
    "github server": "ghs_<36a>", "github refresh": "ghr_<36a>", "github fine-grained": "github_pat_<22a>_<59a>",
    "gitlab personal": "glpat-<20w>", "gitlab routable": "glpat-<27w>.01.<9l>", "gitlab deploy": "gldt-<20w>",
    "gitlab runner": "glrt-<20w>", "gitlab registration": "GR1348941<20w>", "gitlab trigger": "glptt-<40h>",
    "gitlab job": "glcbt-<2h>_<20w>", "gitlab feed": "glft-<20w>", "gitlab scim": "glsoat-<20w>",
    "gitlab mail": "glimt-<25w>", "gitlab agent": "glagent-<50w>", "gitlab oauth": "gloas-<64w>",
    "gitlab feature flags": "glffct-<20w>", "bitbucket app password": "ATBB<32a>",
    "atlassian": "ATATT3xFfGF0<180w>=<8H>", "bitbucket access": "ATCTT3xFfGN0<180w>=<8H>", "npm": "npm_<36a>",
    "pypi": "pypi-AgEIcHlwaS5vcmc<150w>", "test pypi": "pypi-AgENdGVzdC5weXBpLm9yZw<150w>",
    "rubygems": "rubygems_<48h>", "crates": "cio<32a>", "docker": "dckr_pat_<27w>",
    "docker organisation": "dckr_oat_<32w>", "clojars": "CLOJARS_<60l>", "nuget": "oy2<43l>",
    "artifactory": "AKCp<69a>", "artifactory reference": "cmVmdGtu<56a>", "sourcegraph": "sgp_<16h>_<40h>",
    "sonar": "sqp_<40h>", "sonar user": "squ_<40h>", "buildkite": "bkua_<40h>", "circleci": "CCIPAT_<22a>_<40h>",
    # clouds
    "aws": "AKIA<16t>", "aws session": "ASIA<16t>", "aws bedrock": "ABSKQmVkcm9ja0FQSUtleS<110b>",
    "google": "AIza<35w>", "google oauth secret": "GOCSPX-<28w>", "google access": "ya29.a0<140w>",
    "google refresh": "1//0<2h>-<60w>", "azure client secret": "<3a>8Q~<34w>", "azure devops": "<76a>AZDO<4a>",
    "digitalocean": "dop_v1_<64h>", "digitalocean oauth": "doo_v1_<64h>", "digitalocean refresh": "dor_v1_<64h>",
    "alibaba": "LTAI<20a>", "tencent": "AKID<32a>", "heroku": "HRKU-AA<58w>", "fly": "fo1_<43w>",
    "fly macaroon": "FlyV1 fm2_<120b>", "cloudflare origin": "v1.0-<24h>-<146h>", "scaleway": "SCW<17U>",
    "netlify": "nfp_<36a>", "render": "rnd_<28a>", "supabase": "sbp_<40h>", "supabase secret": "sb_secret_<22w>_<8w>",
    "planetscale": "pscale_tkn_<43w>", "planetscale password": "pscale_pw_<43w>",
    "planetscale oauth": "pscale_oauth_<43w>", "vercel blob": "vercel_blob_rw_<16a>_<30a>", "yandex": "AQVN<37w>",
    "scalingo": "tk-us-<48w>", "neon": "napi_<64l>", "ibm": "ApiKey-" + UUID,
    # infrastructure
    "vault": "hvs.<95w>", "vault batch": "hvb.<150w>", "vault legacy": "s.<24a>", "terraform": "<14a>.atlasv1.<67w>",
    "doppler": "dp.pt.<43a>", "doppler service": "dp.st.prd.<43a>", "pulumi": "pul-<40h>",
    "tailscale": "tskey-auth-<13a>-<32a>", "databricks": "dapi<32h>", "1password": "ops_eyJ<260b>",
    "1password secret key": "A3-<6U>-<6U>-<5U>-<5U>-<5U>-<5U>", "age": "AGE-SECRET-KEY-1<58z>",
    "infracost": "ico-<32a>", "prefect": "pnu_<36l>", "octopus": "API-<26U>", "openshift": "sha256~<43w>",
    "dynatrace": "dt0c01.<24U>.<64U>", "grafana cloud": "glc_<60b>", "grafana": "glsa_<32a>_<8h>",
    "new relic": "NRAK-<27U>", "new relic browser": "NRJS-<19h>", "new relic insert": "NRII-<32w>",
    "sentry user": "sntryu_<64h>", "sentry": "sntrys_eyJpYXQiO<90b>=_<43b>", "posthog": "phc_<43a>",
    "posthog personal": "phx_<43a>", "harness": "pat.<22w>.<24h>.<20a>", "defined networking": "dnkey-<26l>-<52l>",
    "intra42": "s-s4t2ud-<64h>", "clickhouse": "4b1d<38a>", "maxmind": "<6a>_<29a>_mmk", "duffel": "duffel_live_<43w>",
    # messages
    "slack bot": "xoxb-<12d>-<12d>-<24a>", "slack user": "xoxp-<12d>-<12d>-<12d>-<32h>",
    "slack app": "xapp-1-A<10U>-<12d>-<64h>", "slack refresh": "xoxe-1-<146U>", "slack config": "xoxe.xoxp-1-<166U>",
    "slack legacy": "xoxs-<12d>-<12d>-<12d>-<10h>",
    "slack webhook": "https://hooks.slack.com/services/T<8U>/B<8U>/<24a>",
    "discord webhook": "https://discord.com/api/webhooks/<18d>/<68w>", "discord bot": "M<23a>.<6w>.<27w>",
    "teams webhook": "https://x.webhook.office.com/webhookb2/" + UUID + "@" + UUID + "/IncomingWebhook/<32h>/" + UUID,
    "telegram": "<10d>:AA<33w>", "twilio": "SK<32h>", "sendgrid": "SG.<22w>.<43w>", "mailgun": "key-<32h>",
    "mailgun public": "pubkey-<32h>", "mailchimp": "<32h>-us14", "brevo": "xkeysib-<64h>-<16a>",
    "resend": "re_<8a>_<24a>", "postman": "PMAK-<24h>-<34h>", "facebook page": "EAAC<120a>", "instagram": "IGQV<140a>",
    "onesignal": "os_v2_app_<103l>",
    # payment and shops
    "stripe": "sk_live_<24a>", "stripe long": "sk_live_51<97a>", "stripe test": "sk_test_<24a>",
    "stripe restricted": "rk_live_<24a>", "stripe webhook": "whsec_<32a>", "square": "EAAA<60w>",
    "square old": "sq0atp-<22w>", "square oauth": "sq0csp-<43w>", "paypal": "access_token$production$<16l>$<32h>",
    "shopify": "shpat_<32h>", "shopify custom": "shpca_<32h>", "shopify private": "shppa_<32h>",
    "shopify shared": "shpss_<32h>", "razorpay": "rzp_live_<14a>", "plaid access": "access-production-" + UUID,
    "shippo": "shippo_live_<40h>", "easypost": "EZAK<54a>", "easypost test": "EZTK<54a>", "lob": "live_<35h>",
    "flutterwave": "FLWSECK_TEST-<32h>-X", "amazon mws": "amzn.mws." + UUID, "adyen": "AQE<60a>",
    "paystack": "sk_live_<40h>", "paddle": "pdl_live_apikey_<26l>_<22a>_<3a>",
    # work
    "linear": "lin_api_<40a>", "linear oauth": "lin_oauth_<64h>", "notion": "ntn_<11d><35a>",
    "notion old": "secret_<43a>", "figma": "figd_<40w>", "airtable": "pat<14a>.<64h>", "asana": "2/<16d>/<16d>:<32h>",
    "contentful": "CFPAT-<43w>", "typeform": "tfp_<44w>_<14w>", "readme": "rdme_<70l>", "apify": "apify_api_<36a>",
    "dropbox": "sl.<135w>", "adobe": "p8e-<32l>", "frame.io": "fio-u-<64w>", "hubspot": "pat-na1-" + UUID,
    "zuplo": "zpka_<32l>_<8h>", "wakatime": "waka_" + UUID, "launchdarkly": "sdk-" + UUID,
    "launchdarkly api": "api-" + UUID, "settlemint": "sm_pat_<16a>", "aiven": "AVNS_<20w>",
    "cockroach": "CCDB1_<22a>_<40a>", "deno": "ddp_<36a>", "datastax": "AstraCS:<24i>:<64h>", "pinterest": "pina_<40w>",
    "honeycomb": "hcaik_<58l>", "langfuse": "sk-lf-" + UUID, "cursor": "crsr_<64h>", "volcengine": "AKLT<44a>",
    "mailersend": "mlsn.<64h>", "runpod": "rpa_<42U>", "xata": "xau_<40a>",
    "slack browser": "xoxc-<12d>-<12d>-<12d>-<64h>", "adafruit": "aio_<28a>", "salesforce": "00D<15a>!AQ<94a>",
    "authress": "sc_<16l>.<5l>.acc_<20l>.<60b>",
}  # fmt: skip

#: What is random characters and no more: the name that the vendor's documentation stores it under, and its form.
NAMED = {
    "DD_API_KEY": "<32h>", "DATADOG_APP_KEY": "<40h>", "CLOUDFLARE_API_TOKEN": "<40w>", "CLOUDFLARE_API_KEY": "<37h>",
    "HEROKU_API_KEY": UUID, "AWS_SECRET_ACCESS_KEY": "<40b>", "AWS_SESSION_TOKEN": "<300b>",
    "AZURE_CLIENT_SECRET": "<34w>", "AZURE_STORAGE_KEY": "<86b>==", "TWILIO_AUTH_TOKEN": "<32h>",
    "ALGOLIA_API_KEY": "<32h>", "FASTLY_API_TOKEN": "<32w>", "SNYK_TOKEN": UUID, "MISTRAL_API_KEY": "<32a>",
    "COHERE_API_KEY": "<40a>", "CO_API_KEY": "<40a>", "TRAVIS_TOKEN": "<22a>", "CODECOV_TOKEN": UUID,
    "OKTA_API_TOKEN": "00<40w>", "PAGERDUTY_TOKEN": "u+<18w>", "PAGERDUTY_API_KEY": "<20a>",
    "ZENDESK_API_TOKEN": "<40a>", "INTERCOM_ACCESS_TOKEN": "<60b>", "MAPBOX_SECRET": "<60w>", "PLAID_SECRET": "<30h>",
    "RAPIDAPI_KEY": "<50l>", "TWITTER_API_SECRET": "<50a>", "TWITTER_ACCESS_TOKEN": "<18d>-<40a>",
    "TWITTER_BEARER_TOKEN": "AAAAAAAAAAAAAAAAAAAAAA<88a>", "FACEBOOK_APP_SECRET": "<32h>",
    "LINKEDIN_CLIENT_SECRET": "<16a>", "GITHUB_CLIENT_SECRET": "<40h>", "DISCORD_CLIENT_SECRET": "<32w>",
    "SPOTIFY_CLIENT_SECRET": "<32h>", "TWITCH_CLIENT_SECRET": "<30l>", "JIRA_API_TOKEN": "<24a>",
    "SENTRY_AUTH_TOKEN": "<64h>", "ROLLBAR_ACCESS_TOKEN": "<32h>", "BUGSNAG_API_KEY": "<32h>", "SONAR_TOKEN": "<40h>",
    "DRONE_TOKEN": "<32a>", "KUCOIN_SECRET_KEY": UUID, "BINANCE_API_SECRET": "<64a>", "COINBASE_API_SECRET": "<64a>",
    "KRAKEN_PRIVATE_KEY": "<86b>==", "BRAINTREE_PRIVATE_KEY": "<32h>", "FRESHDESK_API_KEY": "<20a>",
    "MAILJET_SECRET_KEY": "<32h>", "POSTMARK_SERVER_TOKEN": UUID, "SPARKPOST_API_KEY": "<40h>",
    "VONAGE_API_SECRET": "<16a>", "MESSAGEBIRD_API_KEY": "<25a>", "MATTERMOST_TOKEN": "<26l>",
    "TRELLO_API_TOKEN": "<64h>", "ASANA_CLIENT_SECRET": "<32h>", "DROPBOX_APP_SECRET": "<15l>",
    "BOX_CLIENT_SECRET": "<32a>", "CONTENTFUL_ACCESS_TOKEN": "<43w>", "ETSY_API_KEY": "<24l>", "FINNHUB_TOKEN": "<20l>",
    "OPENWEATHER_API_KEY": "<32h>", "GEMINI_API_SECRET": "<28a>", "LAUNCHDARKLY_SDK_KEY": UUID,
    "SECRET_KEY_BASE": "<128h>", "DJANGO_SECRET_KEY": "<50w>", "JWT_SECRET": "<43w>", "ENCRYPTION_KEY": "<43b>=",
    "WEBHOOK_SECRET": "<40h>", "SESSION_SECRET": "<32a>", "NEXTAUTH_SECRET": "<43b>=", "REDIS_PASSWORD": "<24a>",
    "POSTGRES_PASSWORD": "<16a>", "MYSQL_ROOT_PASSWORD": "<20w>", "SMTP_PASSWORD": "<16l>",
    "LDAP_BIND_PASSWORD": "<14a>", "NPM_AUTH_TOKEN": UUID, "VAULT_TOKEN": "<26a>", "CONSUL_HTTP_TOKEN": UUID,
    "NOMAD_TOKEN": UUID, "ARGOCD_AUTH_TOKEN": "<60w>", "DOCKER_PASSWORD": "<18a>", "SSH_PASSPHRASE": "<20a>",
    "MASTER_KEY": "<32h>", "RAILS_MASTER_KEY": "<32h>",
}  # fmt: skip


class Credential(NamedTuple):
    """A made-up value, the kind it is of and the name it is stored under."""

    kind: str
    name: str
    value: str


def filled(form: str, at: random.Random) -> str:
    """A form with random characters in it."""
    return re.sub(r"<(\d+)(\w)>", lambda part: "".join(at.choices(ALPHABETS[part[2]], k=int(part[1]))), form)


# -- where they stand --------------------------------------------------------------------------------

#: Under a name: ``{NAME}`` in upper case, ``{name}`` in lower, ``{camel}`` as a camel.
KEYED = (
    "{NAME}={value}\n",
    "DEBUG=1\nexport {NAME}={value}\nPORT=8080\n",
    'export {NAME}="{value}"\n',
    "{NAME}='{value}' python manage.py runserver",
    '{{"region": "eu-west-1", "{name}": "{value}", "retries": 3}}',
    '{{\n  "env": {{\n    "{NAME}": "{value}"\n  }}\n}}',
    "service:\n  {name}: {value}\n  timeout: 30\n",
    'services:\n  web:\n    environment:\n      {NAME}: "{value}"\n',
    "    environment:\n      - {NAME}={value}\n      - TZ=UTC\n",
    "env:\n- name: {NAME}\n  value: {value}\n",
    '{name} = "{value}"\nmodel = "large"\n',
    "const {camel} = '{value}';\nconst client = new Client({{ {camel} }});",
    'client = Client({name}="{value}", timeout=10)',
    'os.environ["{NAME}"] = "{value}"',
    "{name}: '{value}',",
    "[default]\n{name} = {value}\n",
    'private static final String {NAME} = "{value}";',
    "docker run -e {NAME}={value} -p 80:80 app:latest",
    "ENV {NAME} {value}\n",
    "kubectl create secret generic app --from-literal={name}={value}",
    "<{camel}>{value}</{camel}>",
    '<add key="{camel}" value="{value}" />',
    'config.{name} = "{value}"',
    '$config["{name}"] = "{value}";',
    '"config": "{{\\"{camel}\\": \\"{value}\\"}}"',
    "2026-03-01T10:00:00Z DEBUG settings loaded {name}={value} mode=prod",
    "| {NAME} | {value} |\n",
    "https://api.example.com/v1/items?{name}={value}&page=2",
    '{NAME} := "{value}"',
    "set -gx {NAME} {value}",
    'setx {NAME} "{value}"',
    "$env:{NAME} = '{value}'",
    'variable "{name}" {{\n  default = "{value}"\n}}',
    "gh secret set {NAME} --body {value}",
    "heroku config:set {NAME}={value}",
)
#: Anywhere: only the value itself says what it is.
BARE = (
    "I rotated {value} yesterday, please use the new one.",
    "The old one was {value}.",
    "It answers 401 for {value}, what is wrong?",
    "Use `{value}` for staging.",
    "| staging | {value} | valid until May |\n",
    'print("{value}")',
    "['{value}', 3]",
    '["{value}"]',
    "2026-03-01 10:00:00 WARN rejected credential {value} from worker-3",
    "+    {value}\n-    removed\n",
    "# {value}\n",
    "see ({value}) in the vault",
    "git diff shows: {value}, committed in March",
    '{{"id": 7, "text": "try {value} instead"}}',
    "<td>{value}</td>",
    "first\n{value}\nlast\n",
    "curl https://api.example.com/v1/me -H 'Authorization: Bearer {value}'",
    'curl -H "X-Api-Key: {value}" https://api.example.com/v1/items',
    "curl -u {value}: https://api.example.com/v1/charges",
    "Authorization: Bearer {value}\n",
    "Authorization: token {value}\r\nAccept: */*\r\n",
    'headers = {{"Authorization": f"Bearer {value}"}}',
    "GET /v1/items?access_token={value}&page=2 HTTP/1.1",
    "https://api.example.com/cb?token={value}",
    "login --token {value} --host example.com",
    "cmd --api-key={value}",
    '\\"{value}\\"',
)
_NOT_IN_A_URL = re.compile(r"[^A-Za-z0-9._~-]")


def _stands(place: str, one: Credential) -> tuple[str, int]:
    """The text, and where the value begins in it."""
    words = one.name.lower().split("_")
    names = {"NAME": one.name, "name": "_".join(words), "camel": words[0] + "".join(map(str.title, words[1:]))}
    before, _, after = place.partition("{value}")
    text = before.format(**names)
    return text + one.value + after.format(**names), len(text)


def _vendors(at: random.Random) -> Iterator[tuple[Credential, str]]:
    """Each form of a vendor in places of both sorts."""
    for kind, form in FORMS.items():
        name = re.sub(r"\W+", "_", kind).upper() + "_" + at.choice(("TOKEN", "KEY", "API_KEY", "SECRET"))
        for place in (*at.sample(BARE, 4), *at.sample(KEYED, 3)):
            one = Credential(kind, name, filled(form, at))
            if "://" in place and _NOT_IN_A_URL.search(one.value):
                continue
            yield one, place
    for name, form in NAMED.items():
        for place in at.sample(KEYED, 5):
            one = Credential(name, name, filled(form, at))
            if "://" in place and _NOT_IN_A_URL.search(one.value):
                continue
            yield one, place


# -- what has no vendor --------------------------------------------------------------------------------

_PASSWORDS = (
    "hunter2!",
    "Tr0ub4dor&3",
    "S0mm3r-2026",
    "pa55w0rd!",
    "xK9#mQ2$",
    "Winter2025!",
    "letmein_42",
    "qwerty!23",
)
_PLACES = {
    "password": (
        "password={value}",
        "password: {value}\n",
        '"password": "{value}"',
        "DB_PASSWORD={value}\n",
        "db.password = {value}\n",
        'passwd = "{value}"',
        "mysql -u root --password={value} shop",
        "<password>{value}</password>",
        "PGPASSWORD={value} psql",
        "login: kim\npassword: {value}\n",
        "user=kim;password={value};",
        "Pwd={value};Server=db",
        "machine h login kim password {value}\n",
        '{{"user": "kim", "pass": "{value}"}}',
        "passphrase: '{value}'",
        "admin_password = '{value}'",
        'String password = "{value}";',
    ),
    "url credentials": (
        "postgres://app:{value}@db.internal:5432/prod",
        "DATABASE_URL=mysql://root:{value}@10.0.0.5/shop",
        "redis://:{value}@cache:6379/0",
        "git clone https://kim:{value}@git.example.com/app.git",
        "amqp://guest:{value}@mq/",
        "mongodb+srv://app:{value}@cluster0.example.net/x",
        "ftp://kim:{value}@files.example.org/pub",
        "smtp://mailer:{value}@mail.example.org:587",
        "https://{value}:@api.example.com",
    ),
    "basic": (
        "Authorization: Basic {value}\n",
        "-H 'Authorization: Basic {value}'",
        '"authorization": "Basic {value}"',
    ),
    "jwt": (
        "{value}",
        "Bearer {value}",
        '{{"id_token": "{value}"}}',
        "token={value}&x=1",
        "cookie: session={value}; Path=/",
        "jwt: {value}\n",
    ),
    "azure connection": (
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={value};EndpointSuffix=core.windows.net",
        "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={value}",
    ),
    "private key": ("{value}", "key.pem:\n{value}\n", "  {value}"),
    "random under a secret's name": (
        "secret: {value}\n",
        "client_secret={value}",
        '"clientSecret": "{value}"',
        "auth_token: {value}",
        "ACCESS_TOKEN={value}",
        '"refreshToken": "{value}"',
        "signing_secret = '{value}'",
        "X-Auth-Token: {value}\n",
        "api-key: {value}",
        "apikey={value}",
        "Cookie: sessionid={value}; theme=dark",
        "Set-Cookie: session={value}; HttpOnly",
        "x-api-key: {value}\n",
        "private_token={value}",
    ),
}


def _jwt(at: random.Random) -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": str(at.randrange(10**9)), "iat": at.randrange(10**9)})
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return ".".join((*encoded, filled("<43w>", at)))


def _pem(at: random.Random) -> str:
    label = at.choice(("RSA ", "EC ", "", "OPENSSH ", "ENCRYPTED ", "DSA "))
    lines = [filled("<64b>", at) for _ in range(at.randrange(3, 20))]
    return "\n".join(
        (f"-----BEGIN {label}PRIVATE KEY-----", *lines, filled("<30b>==", at), f"-----END {label}PRIVATE KEY-----")
    )


def _value(kind: str, at: random.Random) -> str:
    if kind == "jwt":
        return _jwt(at)
    if kind == "private key":
        return _pem(at)
    if kind == "basic":
        return base64.b64encode(f"kim:{filled('<12a>', at)}".encode()).decode()
    if kind == "azure connection":
        return filled("<86b>==", at)
    if kind == "random under a secret's name":
        return filled(at.choice(("<20a>", "<32h>", "<40w>", "<24l>", "<64h>", UUID)), at)
    return at.choice((*_PASSWORDS, filled("<12a>", at))).replace("#", "-" if kind.startswith("url") else "#")


def documents(seed: int = 1, label: str = "SECRET") -> Iterator[dict[str, Any]]:
    """Texts with one labelled value each, in the form of the labelled sets, and the kind of the value."""
    at = random.Random(seed)
    pairs = [*_vendors(at)]
    pairs += [
        (Credential(kind, kind, _value(kind, at)), place)
        for kind, places in _PLACES.items() for place in places for _ in range(3)
    ]  # fmt: skip
    for one, place in pairs:
        text, start = _stands(place, one)
        span = {"start": start, "end": start + len(one.value), "label": label}
        yield {"id": one.kind, "text": text, "spans": [span], "kind": one.kind}
