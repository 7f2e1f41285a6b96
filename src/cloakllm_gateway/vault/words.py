"""Words too common to be known values, though each may be somebody's name."""

from __future__ import annotations

#: English, German, French, Spanish, Italian, Portuguese, Dutch, Danish, Swedish, and words of computing; case-folded.
COMMON: frozenset[str] = frozenset(
    """
    aan aber able about above active admin administrator after again against agora ahora ainda aldrig algo algum all
    alle alles allora alltid alltså along alors als also altid altijd altri altro always amber among amor anche
    ancora anden andere angel annan anno anonymous another answer antes any apres april après aqui aquí arbete art
    ash aspen así até auch aucun auf august aus aussi autre autumn avant avec away back bajo bank bara bear beau
    because been before bei being bella belle bello below bem ben bene best better between bianca bianco bien bij
    bill bin bis bitte black blanc blanco blev bliver blue blå boa bom bon bond bonjour bonne bot both branco braun
    brev brook bror brown bueno buona buono bush business cada call came campo can care caro carol casa case cette
    ceux chance change chase che chez chi christian church ciao cielo city class clay client cliente close cloud
    code cold com come comme como company con contact contra cook cosa così could count country court cruz crystal
    cual cuando customer dag dagen daisy dale dalla dan danke dann dans das dass dat data date dati dawn day days
    dean dear december deep default dei dein del della delle dello dem demo den denn denna depois der dere deres des
    desde dess destiny dette deutsch deux developer deze dia dick die diese din dine dios dit doch dock does dois
    donc donde done dont door dopo dort dos dove down drew driver due durch día each early earth east easter eden
    editor een eerste efter ein eine einem einen einer ela eles ella elle eller elles ellos email employee encore
    end endnu english entre então era eres ernst error erst esa ese essa esse essere est esta estado este esto está
    etre ett eu even ever every example face faire fait faith fall false family far fare farmer february female fern
    fest field find fiore firma first five flera flere fleur flor flora foi fois foram forest found four fox fra
    frank frau free frei french friday friend from front från fue full fur før für gammel ganz gatto geen gegen gene
    general german gern gick giorno give glad glen gli god godt goed gold good grace gracias gran grand grant gray
    grazie great greco green groot gross group grow groß guest gut guten guy gå gör haar haben hacer hade hall hallo
    han hand har hard harmony has hasta hat haus havde havia hay hazel head heart heather heaven heb hebben
    heeft hela hele hell hello help hem hendes hennes her here herr herz het heute hier high hij hill him his hoch
    hoe hoje hola holly hombre home homme honey honor hope hos house how hoy huis hun hunter hur hus hvad hvem hver
    hvis hvor här ich iets ihr ikke ils immer inbox info ingen inte internal into iris isso ist isto ivory jaar jack
    jade jag jahr january jasmine jay jean jede jeg jetzt jewel jij jour joy july june just juste justice kan kann
    keep kein key kind king klein know kom konig kun kund kunde kunne kunnen kurz könig laatste label lake lance
    land lane lange large las last late law lead leer left legal leon leone less leur leurs león liebe life light
    like lille lily lima lind line list liten litt little login long look loro los love low luce lucky luna luz ma
    maar made mai mail mais make male man manager mand mann many mar march marin marino mark market mars mas mason
    master matt max may mayo med meer meget mehr mein mejor mellan mellem member meme men meno menos merci mercy
    mere mesa mesmo message met mich mig might mijn miles mill miller mim min mine minha mismo misty mit mod model
    module moet moins mois molto monday monde mondo money monsieur month mooi moon more morgen most move much mucho
    muito must muy mycket más måske måste même naam naar nach nacht nada name namn nas navn near ned need nein nej
    nel nella nem nero neu never new news next nicht nick niente niet niets nieves night noble nobody noch noche nog
    nogle noi noir nombre nome non none north nos nosotros nossa nosso nostro not note notes notre notte nous nova
    november novo now nu nuevo nuit null number nunca nuova nuovo nur när någon ober object obrigado ocean och
    october oder off office oggi ogni også ohne old olive omdat once onde onder one only ons ook open order oss
    other otra otro oui our out outra outro over own owner page par para parce paris park parker part partner pas
    past pat path patience patient paul pearl pela pelo pending penny people per pero person però petit peut piper
    più place plan play plus poco pode poi point poppy por porque porter porto pour pourquoi power premier present
    price prima primera primo prince process profile project prosper public pues på qual quale quand quando que quel
    quelle quello quem questa question questo qui quien quoi rain ray re ready real recht record red reed rei report
    request response rest result rich richter rien right river rob robin rock roi root rosa rose rosen rosso rouge
    ruby rule rusty sagde sage said sales same sammen sample sand sans saturday say school sea second sedan see
    segunda sehr sein self sem sempre sender senza september ser serena server service ses session set seu seven
    shall she short should show sich side sie sig sim sin sind six ska skal skip skulle sky small sobre sol sole
    solo som some sommer son sonntag sono sont soon sotto sous south soy spring staat staff stand star stark start
    state stato status stein sten still stone stor store story straße street string student sua subject submit
    success such summer sunday sunny suo support sur sure sus system så sólo søn table tack tag tak take tambien
    también também tanto teacher team tegen tell tem template tempo temps ten terra test text than that the their
    them then there these they thing think this those three through thursday tid tiempo tiene til till time titel
    title toch toda today todo toen token told tom too top tot tous tout town tra trabajo tres trinity trop true
    truth très três tudo tuesday turn tutti tutto two tyler type udan ude uden uit uma una und under une unknown uno
    unread uns unter until upp user username usted vad value van var vara vare vater ved veel vega vejen vem vendor
    verde vers vert very vez victor victory vid vida vie viel viernes vil vill ville violet visitor vita vittoria
    viva você vogel voi voir volta vom von voor vor vos votre vous være waar wald walk walker wall wann wanneer want
    ward waren warum was wat water way wednesday week weg wegen weiß wel well welt wenn went wer werd werden were
    werk west what when where which while white who whole why wie wieder wife wij will william willow win winter wir
    wird wise wish wit with wohl wolf woman wood work world would write yard year yes yesterday you young your zal
    zeit zelf zich zij zijn zonder zum zur zwart zwei zwischen år être
    """.casefold().split()
    # What programs, databases and their accounts are called: `DB_USER=orders` says nothing of other orders.
    + """
    accounting accounts airflow analytics android ansible apache api app application apps archive assets auth azure
    backend backup backups batch billing blog booking bookings bot build builder cache catalog catalogue cdn celery
    checkout clients cluster cms cockpit common config connect consul console consumer content core cron crm customers
    dashboard database db deploy deployment dev develop discovery docker docs drone elastic elasticsearch emails
    engine erp etcd etl events export exporter files finance forum frontend gateway gitea github gitlab grafana graphql
    guest haproxy harbor health helm hive homepage hotel hub identity images import influxdb ingest ingress inventory
    invoices ios istio jenkins jira jobs kafka keycloak kibana kubernetes ldap library listener local log logger logs
    logstash loki magento mailer main mariadb marketing media messages metabase metrics microservice migration minio
    mobile mongo mongodb monitor monitoring mqtt mysql n8n nagios network nextcloud nginx node notifications oauth
    odoo operator oracle orders payment payments platform portal postgres postgresql primary prod producer product
    production products profiles projects prometheus proxy public queue rabbitmq rails redis registry replica
    replication reporting reports repository research resources restaurant root runner scheduler schema search
    security sentry server services sessions settings shipping shop shopping site sonarqube spark splunk sql staging
    stats stock storage stream supplier suppliers survey sync tasks telegraf temporal tenant terraform testing tests
    ticket tickets tomcat tools tracking traefik ubuntu uploads users vault web webapp webhook webserver website wiki
    wordpress worker workers workflow zabbix zookeeper
    """.split()
)
