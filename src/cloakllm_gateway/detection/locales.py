"""Locales: which country one names, whose national forms it lets in."""

from __future__ import annotations

import re

from cloakllm_gateway.patterns import lazy

#: ISO 3166 codes of all that have a numbering plan of telephones.
COUNTRIES = frozenset(
    "AC AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA "
    "CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR "
    "GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP "
    "KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR "
    "MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PR PS PT PW PY QA RE RO "
    "RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TA TC TD TG TH TJ TK TL TM TN TO TR TT "
    "TV TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW".split()
)

#: ISO 639-1 codes, each with the country that is meant where none is named.
HOMES = dict(
    pair.split("=")
    for pair in (
        "aa=ET ab=GE af=ZA ak=GH am=ET an=ES ar=SA as=IN av=RU ay=BO az=AZ ba=RU be=BY bg=BG bi=VU bm=ML bn=BD "
        "bo=CN br=FR bs=BA ca=ES ce=RU ch=GU co=FR cs=CZ cv=RU cy=GB da=DK de=DE dv=MV dz=BT ee=GH el=GR en=US "
        "es=ES et=EE eu=ES fa=IR ff=SN fi=FI fj=FJ fo=FO fr=FR fy=NL ga=IE gd=GB gl=ES gn=PY gu=IN gv=IM ha=NG "
        "he=IL hi=IN hr=HR ht=HT hu=HU hy=AM hz=NA id=ID ig=NG ii=CN is=IS it=IT iu=CA ja=JP jv=ID ka=GE kg=CD "
        "ki=KE kk=KZ kl=GL km=KH kn=IN ko=KR ks=IN ku=TR kv=RU kw=GB ky=KG lb=LU lg=UG li=NL ln=CD lo=LA lt=LT "
        "lu=CD lv=LV mg=MG mh=MH mi=NZ mk=MK ml=IN mn=MN mr=IN ms=MY mt=MT my=MM nb=NO nd=ZW ne=NP nl=NL nn=NO "
        "no=NO nr=ZA nv=US ny=MW oc=FR om=ET or=IN os=GE pa=IN pl=PL ps=AF pt=PT qu=PE rm=CH rn=BI ro=RO ru=RU "
        "rw=RW sa=IN sc=IT sd=PK se=NO sg=CF si=LK sk=SK sl=SI sm=WS sn=ZW so=SO sq=AL sr=RS ss=ZA st=ZA su=ID "
        "sv=SE sw=TZ ta=IN te=IN tg=TJ th=TH ti=ET tk=TM tl=PH tn=ZA to=TO tr=TR ts=ZA tt=RU ty=PF ug=CN uk=UA "
        "ur=PK uz=UZ ve=ZA vi=VN wa=BE wo=SN xh=ZA yo=NG za=CN zh=CN zu=ZA"
    ).split()
)

_LOCALE = lazy(r"([a-z]{2})(?:[_-]([A-Za-z]{2}))?", re.ASCII)
#: Behind a locale, as systems write it: an encoding, or a modifier.
_BEHIND = lazy(r"[.@].*", re.DOTALL)
#: What people write for a code that is another.
_MEANT = {"UK": "GB"}


def region(locale: str) -> str | None:
    """The country of a locale: ``en_GB`` gives GB, ``de`` gives DE; None if it names none that is known."""
    parts = _LOCALE.fullmatch(locale)
    if parts is None or parts[1] not in HOMES:
        return None
    country = (parts[2] or HOMES[parts[1]]).upper()
    return country if country in COUNTRIES else None


def meant(locale: str) -> str | None:
    """What somebody may have meant by what is no locale: ``de_DE`` by ``DE-de.UTF-8``; None if that is not told."""
    language, _, country = _BEHIND.sub("", locale).strip().replace("-", "_").partition("_")
    language, country = language.lower(), country.upper()
    tries = (f"{language}_{_MEANT.get(country, country)}", language)
    return next((tried for tried in tries if region(tried)), None)
