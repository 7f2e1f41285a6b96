"""Word lists about names: what tells a person, and what only looks like one.

All are in lower case.  They are evidence, not truth: a list says where to
look, what to believe without a model, and what to drop.
"""

from __future__ import annotations

from unicodedata import combining, normalize

from cloakllm_gateway.detection.name_given import GIVEN


def plain(word: str) -> str:
    """A word as the lists have it: lower case, without accents."""
    low = word.lower()
    if low.isascii():
        return low
    return "".join(char for char in normalize("NFD", low) if not combining(char))


def words_of(text: str) -> frozenset[str]:
    """A list as it is looked up in."""
    return frozenset(map(plain, text.split()))


#: Given names; those that are words too among them.
FIRST_NAMES = words_of(GIVEN)


#: Those that are words, places or products too: alone a reason to look, before a surname a name.
AMBIGUOUS_NAMES = words_of("""
    darwin katrina gerrit abby abel ada ade adele al alma ama amal amber ana angel april ari arlo art asha asuncion
    athena august aurora austin ava avery axel bill blake bo brook budi carol cassandra cesar chad chance charity
    chase chelsea christian claude clay cole concepcion consuelo cooper crystal dag daisy dale dawn dean dewi dina
    dixie domingo dragan drake drew dung earl earnest eko faith fausto fern finn fletcher flora florence forrest
    frank franklin gene geneva georgia ginger gioacchino gioia grace grady grant grazia griffin guadalupe guy hala
    hana harley harmony harper harris harrison haya hazel heather herb hilton hiro holly homer hope hudson hugo hung
    hunter indah ingram iris israel ivy jack jackson jade jan jasmine jefferson jewel jordi joy julia june kai kari
    kent kirk kumar lan lana lance laurel lee lily linh linus logan lola lore lourdes lucille luna madison mae mara
    mark marshall max may mei mercedes mercy merlin mika milan miles miller milton minh mira misty mona monty moreno
    morgan morris nguyen nieves ola ole oliveira onur opal ora orlando oscar otis pansy parker pascal pat patience
    patty pearl peer penny per percy perry phoenix pilar pino porter preston primo prudence quincy ray reagan reed
    reem reid remo rene rex rich riley rob robin rocky rod roman rose rowan roy ruby rune rusty ryo said sakura
    sally salome sam sana sandy santiago santo santos saul selma serenity sid sierra silas siv skip sky snorre
    soledad spencer stanford sterling stig sue summer sune sunny sylvester tad tanner taylor thanh thor tia tiffany
    till tone tore tori trent trinity uta ute valentine vance viola violet virginia wade wallace ward warren wei
    weston wiley will willow wolf yaw uma zelda
""")

#: Those that are words so often that even a capitalised word behind them proves nothing (`Grace Period`).
WORD_NAMES = words_of("""
    ruby amber april art asuncion athena august aurora austin brook chance charity chase chelsea concepcion consuelo
    crystal dag dawn dixie drake earnest faith geneva georgia ginger gioacchino gioia grace grazia guadalupe hala
    harley harmony harper haya herb hope hudson hunter indah ingram israel jade jefferson jewel joy kari lore luna
    may mercedes mercy merlin miller misty moreno nieves oliveira onur opal ora orlando pansy pascal patience per
    phoenix pino porter primo prudence quincy reagan rich rocky rusty said sakura salome sandy santo santos serenity
    sierra skip sky snorre stanford sterling summer sunny tad tanner thor tia till tori trinity valentine violet
    ward will willow wolf
""")

#: Surnames that are words, given names or places as well: names where something else says so.
SURNAMES_AND_WORDS = words_of("""
    ball banks bell berry bishop black blunt bond booth bowers brown butcher buckley cannon carter christie cole cook
    cotton cross day dean english farmer field finch fish fisher ford forest forrest fox french frost gates glass gold
    goldsmith golden good grant graves gray green grey hall hardy hart hawk hill hodge holland hood hope hunt hunter
    irons jordan judge key keys king kirk knight lake lamb lane law lay lees lincoln little long love maclean mann
    march marsh mason mercer moon morris moss newman nichols noble north page paris park parker parks parsons
    peacock pearson penny piper pond poole pope porter potter powers presley price prince reed rice rich rivers rose
    rush sharp short silver singer small smart smith snow south spears stone storm strong summers swan temple thomas
    tucker turner underwood vance wade ward waters webb weeks wells west white wild winter winters wise wolf wood
    woodward wright york young
""")

#: What stands before a name and makes it one.
TITLES = words_of("""
    brigadier capt captain col colonel corporal dame detective dhr doctor don dona doña dr frau gen general herr
    imam inspector judge justice lady lieutenant lord lt madam madame major mevr miss mlle mme monsieur mr mrs ms mx
    pastor prof professor rabbi rev reverend senator senor senora sergeant señor señora sgt signor signora signore
    sir sr sra
""")

#: Those with which anybody is addressed: before another title no part of the name (`Frau Dr. Gruber`).
ADDRESSES = words_of("dhr frau herr madam madame mevr monsieur mr mrs ms señor señora signor signora signore")

#: What somebody is: stands before a name without being one.
ROLES = words_of("""
    actor actress ambassador author captain chancellor coach congressman congresswoman director drummer emperor governor
    guitarist king mayor minister nurse officer pope president prince princess producer queen saint secretary senator
    sheikh sheriff singer sultan writer
    bruder bundeskanzler bundeskanzlerin ehefrau ehemann fürst graf gräfin herzog herzogin kaiser kaiserin könig
    königin laut mutter papst pfarrer präsident präsidentin prinz prinzessin richter richterin ritter schauspieler
    schwester sohn tochter vater zar geschäftsführer geschäftsführerin krankenkasse
""")

#: What may stand inside a name in lower case.
PARTICLES = words_of("al bin da das de del della den der di do dos du el ibn la le ten ter van von y zu zum")

#: What may end a name with a full stop of its own.
SUFFIXES = words_of("jr sr phd md esq")

#: A capitalised run that ends so is a place, a firm or a work, even if it begins with a given name.
PLACES = words_of("""
    bay lake island field fields arms green heights hill hills house beach point cove gate law academy act ag
    airlines airport algorithm apartment apt arena associates association ave avenue award awards band bank bar
    beach blvd boulevard building bv bypass cafe castle cathedral center centre championship chapel choir chronicles
    church clinic co college company corp corporation county court creek crescent crossing ct cup disease drive
    ensemble enterprises estate falls federation festival foundation fund gallery garden gardens gmbh group harbor
    harbour highway holdings hospital hotel hwy inc industries inn institute island islands junction laboratories
    labs lane league library lines llc llp ln ltd mall meadows media motors mount mountain mountains museum office
    offices orchestra oval palace partners plaza plc prairie press prize pub publishing railway railways ranch rapid
    rapids rd records restaurant river road sa school services shoals shore society solutions springs spur square st
    stadium station stories stravenue street suite summit syndrome systems tales technologies terrace theater
    theatre theorem tournament tower towers trail trails treaty trophy trust tunnel turnpike underpass unions
    university valley viaduct villages ville vista walks
    aeroporto aeropuerto allee aquarium bahnhof barracks boulevard bridge bridges brücke campus canal cemetery cinema
    clinic dam docks embankment estación expressway flughafen freeway gare gasse gymnasium hauptbahnhof institut
    interchange kirche klinik krankenhaus lighthouse line memorial metro monument motorway peninsula pier platz quay
    reservoir roundabout schule stadion stazione stiftung straße terminal turm underground universität wharf zoo
""")

#: What makes a place of the name before it even in lower case.
PLACES_IN_SMALL = words_of("""
    airport avenue bridge cathedral expressway highway lighthouse motorway pier railway reservoir road square stadium
    station street tower wharf
""")

#: Articles and pronouns with which sentences begin, and nobody's given name.
OPENERS = words_of("""
    the this these those
    der die das den dem des ein eine einem einen einer eines dies diese diesem diesen dieser dieses jede jeder jedes
    panie pani kein keine mein meine dein deine sein seine ihr ihre unser unsere euer eure ich er sie es wir wer was
    une los unos unas les des cette ces notre votre este esta uno het een ett
""")

#: ... and the articles that are in names as well.
ARTICLES = OPENERS | words_of("a an el la las un le il lo gli")

#: Given names that are words of programming languages in small letters.
KEYWORDS = words_of("elif val")

#: What stands before a place or a thing and hardly ever before a person.
PLACE_CUES = words_of("in near via using into within across inside outside")

#: What stands before a word that names a thing of software, or any thing.
THING_CUES = words_of("""
    class const def enum export extends func function implements import install interface let load loading
    module new package restart return run start struct trait type use var
""")

#: What stands before a lone name: a greeting, a label, a preposition.
CUES_BEFORE = words_of("""
    and applicant ask attn bonjour brother by call called cc cheers ciao client colleague contact customer daughter
    dear email employee father for friend from hallo hello hey hi hola husband love manager met mother name named
    nurse patient regards sender signed sincerely sister son tell thank thanks to user wife wishes with yours
""")

#: What stands after a lone name: what people do.
CUES_AFTER = words_of("""
    agreed and asked asks called calls can confirmed could did emailed had has is joined knew knows left lived lives
    met moved replied reported requested said says sent signed tells thinks thought told wanted wants was will
    worked works would writes wrote
""")

#: ... and what nobody and nothing else does.
ACTS = words_of("""
    added agreed asked asks believes called calls complained confirmed decided denied emailed explained flew
    insisted joined knew knows laughed lived lives loved married met moved phoned replied resigned retired said says
    smiled spoke studied testified thinks thought told wanted wants went worked works writes wrote sagt sagte meinte
    erklärte dit dijo disse diz disse afirmou afirma
""")

#: What makes an unknown capitalised word a name: nobody is greeted who has none.
GREETINGS = words_of("dear hi hello hey hallo bonjour hola ciao")

#: Words that begin sentences and headings, label fields, or name a role.
COMMON = words_of("""
    a about above abstract access according account accounts across action active actual actually add additional address
    adjust admin administrative administrator affected after afterwards again agent ago ahead alert alerts all allow
    allowed almost alone already also alternatively although always among amount an and annual another any anyone
    anything anyway apart api app apparently appears appendix application applications apply approved approx are
    area around array article as ask assert assistant associate assume at attach attachment attachments attention
    author authors auto automatic available average avg avoid aware away back background bad balance bank base based
    basic basically be because become been before begin behind believe below besides best better between beyond big
    bill billing birth block blog board body bold bot both branch bring broken bug build bus business but button buy
    by bye call called can cancel cannot card case category cell central ceo certain certainly certificate certified
    cfo change changes channel chapter chat check checklist child choose cio city class clear clearly click client
    clients close closed cloud cluster code coffee colleague colleagues collection color colour column columns come
    comment comments commit committee common company compare compared compilation compiler complete component config
    configuration configure confirm confirmation connect connection consider considering constructor contact
    container contains content context continue contract contracts control convert coordinator copy core corp
    corporation correct cost could count country course cover craft create created credit cto culture currency
    current currently custom customer customers daily dashboard data database date dates day days dear debit debug
    decimal default define delete delivery demo department deploy deployment deprecated description design despite
    dessert detail details detect determine dev developer development device diagram diagrams dictionary did diff
    different digital direct directed director directory disable disclaimer discount disk dispatch display do doc
    docs document documentation documents does domain done down download draft drive driver due during e-mail each
    early edit editor education either else email emails employee employees empty enable end engine engineer
    engineering english enter entry environment error errors estimate even event events eventually every everybody
    everyone everything exactly example examples except exception exec exit expected experience explain export extra
    failed failure false faq fast fax feature features federal feedback feel fetch field fields figure file files
    fill filter final finally finance find fine finish first fix fixme flag flow folder folks follow following font
    food footer for forget form format fortunately found free frequently from front full fully function further
    future gateway general generally generate generated get getting give given global go gone good got government
    grand great group groups guide guidelines guilty guys hack had handle handler handles happy hardly has hash have
    he head header heading health hello help hence her here hereby hey hi hidden high highway his history home hook
    hooray hopefully host hot hotel hour hours house how however html http https i id ideally identifier identify if
    ignore ignored image images imagine immediately implement import important improve in inbox inc include
    including income indeed index info information init initial initially inner input insert inside install instance
    instead institute int integer integration interesting interface internal international internet interval into
    invalid inventory invoice invoices is issue issues it item items its itself job join journal json just keep key
    keys kill kind kindly known lab label language large last lastly late lately later latest law layer layout lead
    league learn least leave left legal length less let level library licence license life like likewise limit
    limited line lines link links list listed live load loading local location lock log logger login logs long look
    lot lots low ltd luckily machine madam mail main mainly maintain maintainer maintainers major make makes manage
    management manager manual many map market master match matrix maxim maximum maybe mean meanwhile media meeting
    member members memo memory menu merely merge message messages meta metallica method might minimum minor minutes
    missing mobile mode model module monitor month monthly more moreover morning most mount move much multiple
    museum music must my name namely names national native nb nearly necessarily need needs nested net network never
    nevertheless new news next nice night no nobody node nodes none nonetheless nor normal normally north not
    notably note notes nothing notice notification now nowhere null number numbers object objects observatory
    obviously occasionally of off office official offline often ok old on once one online only open operation
    operator ops optional options or orchestra order orders organization original oserror other otherwise ought our
    out outer output over overall overview owner package page pages panel paragraph parameter parameters parent park
    parse part partly partner party passed password path patient pattern pay payment pending people per percent
    performance perhaps period permission person personally phone photo pick pipeline place plan please pleasure
    pleasures plugin point policy pool port position possible post power presumably preview previous previously
    price primary print prior private pro probably problem process processing product production products professor
    profile program project projects prompt proposal protected protocol provide provided provider proxy ps public
    publisher pull purchase push put quality quantity quarter quarterly query question questions queue quick quite
    quote raise random range rarely rate rather raw re read readme ready real really reason recall receipt received
    recent recently recipient record records ref reference regarding regardless regards region registry regular
    related relatively release released releases remain remarks remember remote remove render replace reply repo
    report reports repository represents request requests require required requirements research reset resource
    resources respectively response rest restaurant result results retail retries retrieved retry return returned
    returns review right risk road role root roughly route router row rows rule rules run runtime safe salary sale sales
    salesperson same sample save scan schedule schema school science scope score script search second secret section
    security see seems seldom select self semantic send sender senior sent sequence serial series server service
    services session set setting settings setup several she sheet shell ship shipped shipping shop short should show
    side sign signature similarly simple since sincerely single sir site size skip slightly small so software
    solution some somebody someone sometimes somewhere soon sorry sort source south special specialist specifically
    specification specify speed staff stage standard start started state statement static statistics status step
    still stop storage store stream street strictly string strong strongly structure student style sub subject
    submit subsequently such suddenly suite sum summary supervisor supplier support supports suppose supposedly sure
    surely switch sync syntax system systems table tag tags take talk target task tasks tax team technical tell
    temperature template temporary term terminal terms test tested testing tests text than thank thanks that the
    their them then there thereafter thereby therefore these they thing things think this those though thread
    through throughput thus ticket tier time timeout times timestamp tip title to today todo together token tokens
    tomorrow tool tools top total trace track train transaction transfer translation tree trigger true truly try
    turn twice two type types typically ultimately under unfortunately union unit universe university unknown unless
    unlike unlikely until up update updated updates upgrade upload us usage use used user username users using
    usually utility utterly valid validate value valued values variable vendor verify version very via video view
    virtual visit volume wait want war warehouse warning warnings was watch way we web website week weekly welcome
    well were west what whatever when whenever where whereas wherever whether which whichever while who whoever
    whole whose why wide widget will window wish with within without wonder wonderful word work worker workflow
    works workspace world would write xcode xml yaml yeah year yearly yep yes yesterday yet you your yours zip zone
    brain brains bliss candy circuit circus clown cookie cupcake dragon elephant garage giraffe hamburger kitten monkey
    mushroom noodle orphan pancake panda parrot penguin pizza popcorn potato puppy puzzle pyramid rainbow rocket
    sandwich sausage scooter shampoo skeleton spaghetti squirrel sticker tire tomato toy toys tractor treasure trumpet
    turtle umbrella unicorn vampire wagon waffle whale zebra zombie
""")

#: Days, months, feasts.
CALENDAR = words_of("""
    apr aug august christmas dec december easter feb february fri friday jan january jul july jun june mar march mon
    monday nov november oct october sat saturday sep sept september sun sunday thu thursday tue tuesday wed
    wednesday am pm
    montag dienstag mittwoch donnerstag freitag samstag sonntag januar jänner februar märz juni juli oktober dezember
    lundi mardi mercredi jeudi vendredi samedi dimanche janvier février juillet août septembre octobre novembre décembre
    lunes miércoles jueves viernes sábado enero febrero septiembre octubre noviembre diciembre
    lunedì martedì mercoledì giovedì venerdì gennaio febbraio luglio settembre ottobre dicembre
    janeiro fevereiro março setembro outubro novembro dezembro
""")

#: Codes of currencies, as they stand behind whom something is owed to: `Carla EUR 20`.
CURRENCIES = words_of("aud brl cad chf cny czk dkk eur gbp hkd huf inr jpy mxn nok nzd pln rub sek sgd usd zar")

#: Products, projects, languages and jargon of software: models take `Docker Hub` for a person.
SOFTWARE = words_of("""
    desktop unexport blob mit compose gecko kubelet actix ada airflow ajax alembic alpine amazon android angular
    ansible ant apache apollo apple arch argo artifactory asana ascii assembly astro asyncio athena aurora
    authorization autoconf avro aws azure babel backbone bamboo base64 bash bazel bearer bigquery bitbucket blender
    boolean bootstrap bower bun byte bytes caddy cargo cassandra celery centos ceph cert chai chef chrome chromium
    circleci clang claude cli clickhouse clojure cloudflare cloudwatch cmake codex composer conda confluence consul
    cookie copilot coq cors couchbase cpu crystal csrf css csv curl cursor cypress cython dart databricks datadog
    ddl debian delta deno discord django dns docker dockerfile dom drupal dto duckdb dynamo dynamodb ec2 eclipse ecs
    edge eks elastic elasticsearch electron elixir elm ember enum envoy epoch erlang esbuild eslint etcd excel
    express facebook fargate fastapi fedora figma firebase firefox flask flink flutter flux fortran ftp gatsby
    gemini gentoo gerrit gif git gitea github gitlab gke gmail golang google gpu gradle grafana graphql groovy grpc
    grunt gui guid gulp hadoop haproxy harbor haskell heroku hex hibernate hive hmac homebrew hub hugo iam ide imap
    influxdb intellij ios ip iso istio jaeger jasmine java javascript jenkins jenkinsfile jest jetty jinja jira jpeg
    jpg jquery juniper jupyter jvm jwt kafka karma keras keycloak kibana kotlin kubectl kubernetes kustomize lambda
    laravel latency latex ldap linkedin linode linux lisp logstash loki lru lua lucene luna mac macos magento
    makefile mariadb markdown maven mcp memcached mercurial metabase microsoft mime minikube minio mistral mocha
    mongo mongodb mongoose mozilla mutex mypy mysql nagios nan nano neo4j netlify nextjs nexus nginx nim nomad
    notion npm numpy nuxt oauth oidc okta ollama openai opensearch openshift openssl oracle orm packer pandas parcel
    parquet pascal pdf perl phoenix php pii pinecone pip playwright png pnpm pod podman pods poetry polymer pop3
    posix postgres postgresql postman powershell prettier prisma prolog prometheus protobuf pulsar pulumi puma
    puppet puppeteer pydantic pylint pytest python pytorch qt quarkus rabbitmq rag rails rake ram rancher rbac react
    redhat redis redshift redux regex regexp rollup rpc rss rsvp ruby rust safari salesforce saml sass scala scikit
    scipy sdk sed selenium semver sentry sequelize sha sharepoint shopify sid sidekiq sinatra slack smtp snowflake
    soap socket solr sonarqube spacy spark sphinx splunk spring sql sqlalchemy sqlite sqs ssd ssh ssl ssn sso stack
    stderr stdin stdout storybook stripe subversion supabase svelte svg swagger swift symfony tableau tailwind tcl
    tcp teams telegram tensorflow terraform thrift tls tomcat tornado traefik travis trello trino tsv ttl twilio
    twitter typescript ubuntu udp unicode unicorn unix uri url usb utc utf uuid vagrant vault vercel vim vite vm vpc
    vpn vue webhook webpack whatsapp wifi windows wordpress xamarin xss yarn youtube zabbix zapier zend zipkin
    zookeeper zoom
""")

#: What is sold under a name of its own.
BRANDS = words_of("""
    adidas airbnb airbus audi barbie bmw boeing bosch cadillac canon casio chevrolet chrysler citroen coca costco disney
    fiat fitbit fujifilm garmin gucci heineken honda hyundai ikea kawasaki kellogg kia kindle kodak lamborghini
    lego lexus logitech macbook mastercard mazda mcdonalds michelin mitsubishi nescafe nespresso nestle netflix nikon
    nintendo nissan nokia panasonic pepsi peugeot philips playstation polaroid porsche prius rolex samsonite
    samsung siemens skoda sony spotify starbucks subaru tesla toshiba toyota volkswagen volvo walmart xbox
    xerox yamaha
""")

#: Words of German that begin with a capital, all of its nouns do, and stand without an article.
GERMAN_NOUNS = words_of("""
    kennzeichen kontonummer rechnung kundennummer telefonnummer passwort benutzer betreff rechnungsnummer
    geburtsdatum anschrift vertrag herbst frühling abend abends adresse adressen alle alles als also amt anfang
    anfrage angaben angebot angst anlage anruf antrag antwort arbeit arbeiter armee art arzt aufgabe aufgaben
    auftrag augen ausgabe auto autos bahn bank bau bauern beamte bei beispiel beitrag bekannte berater bereich
    bericht berichte beruf besuch betrieb betriebe bett bevor bier bild bilder bitte blut boden brief briefe brot
    bruder buch budget bund bus chance chef dabei daher damals damit danach dank dann darum daten dauer davon dazu
    dennoch deshalb deutsche deutschland diebe diese dieser dieses ding dinge doch dort druck durch eier einer eines
    einige einwohner eis eisen eltern ende energie england enkel entweder er erde erfolg erst erste es essen etwa
    euro experten fabrik fall familie familien farbe farben fehler feind feld fenster ferien fett feuer film filme
    firma firmen fisch fische fleisch flug flugzeug folge fonds form forscher frage fragen franken frau frauen
    freiheit freund freunde frieden fuß gas gast gebiet geburt gefahr gegen gegner geist geld gemeinde genau gerade
    gericht geschichte geschäft gesellschaft gesetz gesicht gesundheit gewalt gewinn glas glaube glück gold gott
    grad grenze großeltern grund gruppe gäste haar haare hafen haft halt hand haus heer heute hier hilfe himmel
    hinter hinzu hitze hof holz hotel hunde hunger häuser ihnen ihr ihre im immer in industrie inhalt insel jahr
    jahre jeder jedoch jetzt jugend junge kaffee kaiser kampf karte kasse katze kinder kirche klasse kleider knochen
    kopf kosten kraft krebs kreis krieg krise kultur kunde kunden kunst kurs könig küche kühe land laut leben leder
    lehrer leute licht liebe lied lieder linie liste luft lust macht mann markt material meer meinung meister mensch
    menschen messer metall meter mieter milch mit mitglieder mithilfe mittag mittel moment monat monate morgen motor
    musik mutter männer märkte müll nach nachdem nacht nachrichten name namen natur neben neue nicht noch nord
    norden not nummer nun nur oben ober obst obwohl oder offen ohne onkel ort osten papier partei passagiere patient
    patienten pause pech person personen pferde pflanzen platz politik politiker polizei post preis preise presse
    problem probleme prozent punkt rat raum recht rede regen regeln regierung reich reis reise rente richtung rolle
    ruf ruhe sache sachen salz satz schiffe schlaf schmerz schmerzen schnee schon schuld schule schutz schwester see
    seele seit seite sicher sie silber sinn situation so sohn soldaten sommer sonne sonst sorge sowie sowohl spaß
    spiel spieler sport sprache staat staaten stadt stahl stein steine stelle steuern stimme stimmen stoff strafe
    straße strom studenten stunde stunden städte stück süden tag tage tatsache teil teile telefon text tiere tisch
    tochter tod trotz tränen tür uhr um und unfall unser unter unternehmen ursache urlaub vater verbindung verein
    verkehr vertrag viel viele vielleicht vier volk von vor vorsicht waffen wahl wald wand warum was wasser weg
    wegen wein welche welt wenn wer werk wert westen wetter wie wind winter wir wirtschaft wissen wissenschaftler
    woche wochen wohnung wolle wort wunsch wut während zahl zahlen zeit zeiten zeitung zeugen ziel ziele zigaretten
    zimmer zinsen zucker zug zukunft zum zur zusammen zustand zwei zwischen ärzte öl über
""")

#: Words with which sentences and letters of other languages begin: alone, or before a name, they are nobody.
FOREIGN_OPENERS = words_of("""
    ieri oggi domani stamattina stasera buongiorno buonasera grazie saluti cordialmente distinti egregio spett allora
    quindi invece purtroppo inoltre nato nata
    ayer mañana anoche gracias hola saludos atentamente estimado estimada buenos buenas además entonces nacido nacida
    ontem hoje amanhã obrigado obrigada atenciosamente cumprimentos prezado prezada nascido nascida
    chère chères hier demain bonjour bonsoir merci cordialement salutations bienvenue ensuite depuis
    meine gestern übermorgen grüße viele danke hallo guten sehr geehrte geehrter lieber freundliche geboren wohnt
    gisteren vandaag goedemorgen goedemiddag bedankt groeten hartelijk hartelijke vriendelijke geachte
    wczoraj dzisiaj jutro dziękuję pozdrawiam szanowny szanowna dzień witam cześć urodzony urodzona
    igår idag imorgon hälsningar hilsen cheers
    appelez rappelez contactez joignez écrivez demandez prévenez envoyez veuillez
    bitte rufen kontaktieren fragen schreiben melden informieren
    llame llamen llamar contacte contactar escriba avise pregunte chiami chiamate chiamare contatti contattare scriva
    ligue contate telefone escreva contacteer vraag zadzwoń skontaktuj proszę napisz panie pani kontakta
""")

#: Capitalised words that are no names.  A find made of them is dropped, one that begins with them loses them.
NOT_NAMES = COMMON | CALENDAR | CURRENCIES | SOFTWARE | BRANDS | ROLES


def canonical(name: str) -> str:
    """The form that all spellings of a name share: case, spaces, and titles before a full name do not count."""
    if not name.isascii():
        name = name.replace("\u00ad", "").replace("’", "'")
    parts = name.casefold().split()
    if "." not in name and TITLES.isdisjoint(parts):  # nearly all: there may be millions
        return " ".join(parts)
    bare = [part for part in parts if part.rstrip(".") not in TITLES]
    return " ".join(bare if len(bare) > 1 else parts)
