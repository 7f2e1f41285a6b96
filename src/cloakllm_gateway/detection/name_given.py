"""Given names: Europe, the Americas, South Asia, the Arab world, Iran, the Caucasus, Africa, romanised East Asia."""

from __future__ import annotations

GIVEN = """
    gerrit arben ratana petronella maria amanda inger danial romi asya hleb emmie paige vikash tanvir waheed aaliyah
    aaron abby abdel abdul abdullah abdulrahman abel abena abigail abiola abraham achim ada adaeze adam ade adebayo
    adela adelaide adele adelheid aditya adnan adolf adrian adriana adriano afonso agata agatha agnes agneta
    agnieszka agus ahmad ahmed aidan aileen aino aisha aitana ajay akash akiko akira al alan alana alastair alba
    albert alberta alberto albrecht aldo alec aled alejandra alejandro aleksandar aleksander aleksandra aleksei
    aleksey alena alessandra alessandro alessia alex alexa alexander alexandra alexandre alexandru alexei alexis
    alfie alfio alfonso alfred alfredo alice alicia alina alison aliya allison alma almut alois aluisio alvaro alvin
    alyssa ama amal amanda amara amber amelia amelie amina amir amit amos amparo amy ana anais ananya anastasia
    anastasiya anatoly anaïs anders andre andrea andreas andrei andres andrew andris andriy andrzej andy anette
    angel angela angeles angelica angelina angelo angie angus anibal anica anil anita anja anjali ankit ann anna
    annabel annabelle annalisa annamaria anne anne-marie annegret anneke annelie anneliese annette annie annika
    anouk ansgar anthony antoine anton antonella antonia antonio antónio anwar anya aoife aparecida april archie ari
    ariana arianna aribert ariel arjun arkady arlene arlo armanda armando armida arnaud arne arnold art arthur artur
    arturo arun arvind arvydas asha ashley ashok ashwin asif assunta astrid asuncion athena audrey august aurelie
    aurora austin ava avery axel ayesha aymeric ayse aysegul ayumi ayşe aziza babatunde bahar baptiste barbara
    barbel barry bartosz bastien bayu beata beatrice beatriz becki becky begona belen bella ben benedict benedikt
    bengt beniamino benito benjamin benoit beppe bernadette bernard bernardete bernardo bernd bernhard bernice
    bertha berthold bessie beth bethany betsy bettina betty beverly bhavna bianca bilal bill birgit birgitta bishnu
    bjarne bjorg bjorn björn blake blanca blas bo bob bodo bogdan bohdan bojan bonnie boris borislav borja borje
    bozena brad bradford bradley brandi brandon branko brenda brendan brent brett brian brianna brice bridget
    brigitte britta brittany bronwyn brook bruce bruna bruno bryan bryant bryony budi burkhard byron bärbel caetano
    caitlin caleb callum calogero calum calvin camden cameron camila camilla camille candace candela carina carl
    carla carlo carlos carlota carlton carly carmel carmela carmelo carmen carminda carmine carol carolina caroline
    carolyn carrie carson carsten casey cassandra catarina caterina catherine cathy cayetano cecile cecilia cedric
    celeste celia celine cerys cesar cesare cettina chad chance chandra chantal charity charlene charles charlie
    charlotte charmaine chase chelsea chen cheryl chester chiara chidi chinedu chioma chloe chloé chris christa
    christelle christi christian christiane christina christine christl christof christoph christophe christopher
    chukwu chukwuemeka ciara cindy ciro claire clara clare clarence claude claudia claudio claus clay clemens
    clement clementine clifford clive clémence cole colette colin colleen conceição concepcion concetta connor conor
    conrad constance consuelo cooper cora cordelia cordula corentin corey corinne cornelia cornelius corrado cory
    cosimo courtney craig cristian cristiano cristina cristobal crystal curtis cynthia cátia cédric dag dagmar
    daisuke daisy dale dalia dalton damian damiano damien dan dana daniel daniela daniele danielle danny daphne
    darcy daria dario darius darlene darrell darren darryl darwin darya daryl dave davi david davide dawid dawn
    dawson dean deanna debbie deborah debra deepak deepika deirdre delia della delores delphine demetrio denis
    denise dennis denny denys derek derrick desiree desmond detlef detlev devika devin dewi dexter diana diane
    dianne didier diego dieter dietmar dietrich dimitri dimitris dimitry dina dionisio dirk divya dixie dmitri
    dmitry doerte dolores domingo dominic dominick dominik dominika dominique don donald donatella donato donna
    donovan dora doreen dorian doris dorota dorothea dorothy doug douglas dragan drake drew duarte duc duncan dung
    dusan dustin dvorak dwayne dwight dylan débora dörte dũng earl earnest eberhard ebony eckhard ed eddie edeltraud
    edgar edith edmund edmundo edna edoardo edouard edson eduardo edvard edward edwin eero efrain efua egon ehrhard
    eileen eilidh einar eino eko elaine elbert elden eldon eleanor elena eleni elfriede eli eliana eliane elias elif
    elijah elin elina elisa elisabete elisabeth elisabetta elise elisha eliza elizabeth elke ella ellen elliot
    elliott elmer elodie eloise elsa elsie elton elvira elvis emanuela emanuele emeka emeline emery emiko emil
    emilia emiliano emilie emilio emily emma emmanuel emmett emmie emmy emppu emre encarnacion engelbert enid enrico
    enrique enriqueta enza enzo eoin erhard eric erica erich erik erika erin erling ermanno erminia erna ernest
    ernestina ernesto ernie erwin esben esme esmeralda espen esperanza esteban estella estelle ester esther ethan
    ethel etienne ettore eugen eugene eugenia eugenio eulalia eunice eustaquio eva evan evaristo evelyn everett
    evgeny ewa ewald ewan ezekiel ezra fabian fabiana fabien fabienne fabio fabiola fabrice fabrizia fabrizio
    fabrício fadi faisal faith farah farid fatih fatima fatma fatou faustino fausto faye federica federico felicia
    felicitas felicity felipe felix ferdi ferdinand fergus fermin fern fernanda fernando ferruccio filip filippo
    filomena finn fiona flavia flavio fletcher flora florence florent florian floyd flynn flávia flávio folake
    forrest franca frances francesca francesco francine francis francisca francisco franck franco francois frank
    franklin franz françois françoise fraser frauke fred freddie frederic frederick frederik freja freya frieda
    friederike friedhelm friedrich fritz frode froilan fulvia fulvio fumiko fátima gabi gabriel gabriela gabriele
    gabriella gabrielle gael gaelle gaetan gaetano gaia gail gareth garrett gary gaurav gavin gebhard geert gemma
    gene geneva genevieve gennady gennaro geoff geoffrey george georgia georgina gerald geraldine gerard gerardo
    gerd gerda gerhard gernot gero gertrud gertrude gesine gethin ghada ghislaine giacinto giacomo gianfranco
    gianluca gianmarco gianna gianni giedre gilbert gilberto gilda gilles gilson gina ginevra ginger gioacchino
    gioia giordano giorgio giovanna giovanni gisela gisele gita giulia giuliana giuliano giulio giuseppe giuseppina
    gladys glen glenda glenn gloria glória gonzalo goran gordon gottfried gotthard grace graciela grady graham grant
    grazia graziella greg gregoire gregor gregorio gregory greta gretchen gretel griffin grigory grzegorz guadalupe
    gudrun guenter guido guillaume guillermo gunilla gunnar gunther gustav gustavo guy gwen gwendolyn götz günter
    günther haakon habib hadley hakan hal hala halina halvor hamish hamza hana hanh hani hank hanna hannah hannele
    hannelore hannes hans hans-peter harald haris harish harley harmony harold harper harriet harris harrison harry
    hartmut haruka haruto harvey hassan hatice hattie haya hayley hazel heather hector hedda hedwig heidi heike
    heikki heiko heiner heinrich heinz heitor helder helen helena helene helga helge helmut hendrik henning henri
    henrietta henrik henrike henrique henry herb herbert heribert herman hermann hermione hernan herschel herta
    herve hervé hester hideo hilario hilary hilda hildegard hilton hiltrud hiro hiroko hiroshi hisham hitoshi holger
    holly homer homero hope horace horst hortensia howard hubert hubertus huda hudson hugh hugo humberto hung hunter
    huong huseyin hussein hyman hyun håkan hélène hùng hüseyin hương hạnh ian ibrahim ida ifeoma ignacio igor ilaria
    ilka ilkka ilona ilse ilze imelda imke immacolata imogen imran indah ines inese inga inge ingeborg ingo ingolf
    ingram ingrid ingvar inmaculada inês ira irene irina iris irma irmgard irmtraud irvin irving iryna isaac isabel
    isabella isabelle isaiah isaura ishaan isidro ismail isolde israel itziar ivan ivana ivanka ivano ivo ivone ivy
    iván iñaki jacek jacinta jacinto jack jackie jackson jaclyn jacob jacqueline jacquelyn jacques jada jade
    jadranka jaime jakob jakub jamal james jamie jamila jan jana jandira jane janelle janet janette janez janice
    janie janine janis janusz jared jarmila jarmo jaromir jaroslav jaroslaw jarrod jasmin jasmine jason javier jay
    jayden jayne jean jean-claude jean-luc jean-marc jean-michel jean-paul jean-pierre jeanette jeannette jeannie
    jed jeff jefferson jeffrey jelena jen jenifer jenna jennifer jenny jens jerald jeremiah jeremy jermaine jerome
    jerry jesper jesse jessica jessie jesús jewel jianguo jihoon jill jim jimena jimmie jimmy jiri jitka jiwoo jo
    joachim joan joana joanna joanne joao joaquim joaquin joaquín jocelyne jochem jochen jodi jodie jody joe joel
    joelle joerg johan johann johanna johannes john johnnie johnny jolanta jolene jon jonas jonathan jonna jordi
    jorge jorgen jorgina jorma jose josef josefa josefin josefina joseph josephine josh joshua josiane josie jost
    josé jovita joy joyce joão joël juan juana juanita judi judith judy juergen juha jukka jules julia julian
    juliana julianne juliano julie julien juliet juliette julio julius julián june junko jurgita juris jussara
    justin justine justyna jutta jyoti jéssica jörg jörn jørgen jürgen jānis kaarina kacper kai kaitlyn kajsa kalle
    kamal kamala kamil kamila kara kareem karel karen kari karim karin karina karl karl-heinz karl-theodor karla
    karlis karolina kasey kaspar katarina katarzyna kate katerina katharina katherine kathie kathleen kathrin
    kathryn kathryne kathy katie katja katrin katrina katya kavita kay kayla kazuo keiko keira keith kellie kelly
    kelsey kelvin kemal ken kendall kendra kendrick kenichi kenji kenneth kenny kent kenta kerem keri kerri kerry
    kerstin kevin khadija khaled khalid kiara kieran kim kimberly kiran kirill kirk kirsi kirsten kirsti kirsty
    kitty kjell kjersti kjetil klara klaus klemens knut kofi konrad konstantin krista kristen kristie kristin
    kristina kristof kristoffer krystal krystyna krzysztof kseniya kumar kunal kurt kwabena kwame kyle lacey
    laetitia laila lakshmi lalita lamar lamberto lan lana lance landon lara larissa larry lars lasith lasse laszlo
    latifa latoya laura laurel lauren laurence laurent lauri laurie lavonne lawrence layla laís leah leandra leandro
    leanna leanne lee leena leif leigh leila leland lena lenka lennart lenny lenora leo leocadia leon leona leonard
    leonardo leonie leonora leopold lerato leroy leslee lesley leslie lester leticia letizia letícia levi lewis
    leyla liam liborio lidia liesel lieselotte lila lilian liliana lilith lillian lily lina linda lindiwe lindsay
    lindsey linh linnea linus lionel lisa liselotte liz lizzie lloyd logan loic lois lola lonnie lora lore loredana
    loren lorena lorenz lorenzo loretta lori loris lorna lorraine lothar lottie lou louella louis louisa louise
    lourdes lourenço lovisa loïc lubomir luc luca lucas lucia luciana luciano lucie lucien lucille lucinda lucy
    lucía ludger ludmila ludovic ludwig luigi luigia luis luisa luiz luiza lukas lukasz luke lukáš luna luther lutz
    luís luísa lydia lydie lyle lynda lynette lynn lynne lyudmila lázaro léa lígia lívia līga mabel macarena maciej
    maddalena madeleine madhuri madison mads mae magali magda magdalena maggie magnus maha mahmoud maja majid makoto
    maksim malachi malcolm malgorzata malik malinda mallory mamadou mandla mandy manfred manlio manoj manolo manon
    manuel manuela mara marc marc-antoine marcel marcela marcella marcelo marci marcia marcin marco marcos marcus
    marcy mareike marek maren margaret margarete margarita margaux margie margit margot margret margrit marguerite
    maria mariam marian mariana mariangela marianna marianne mariano mariarosa maribel maricarmen marie marie-claire
    mariella marietta marija mariko marilena marilyn marina marine mario marion maris marisa marit marita marius
    mariusz marjorie marjory mark markku marko markus marlene marlies marliese marlon marsha marshall marta marten
    martha martijn martin martina marty martín marvin marwan mary maryam maryse marília masako massimiliano massimo
    mateo mateusz matheus mathew mathias mathieu mathilde mathis matilda matt matteo matthew matthias matti mattia
    mattie matías matěj maude maureen maurice mauricio maurizio mauro maurício mavis max maxim maxime maximilian
    maximo maxine maxwell may maya mayumi małgorzata mechthild meera megumi mehmet mei meike meinhard melanie melba
    melinda melissa melvin mercedes mercy meredith merle merlin merrill mervyn mette micaela michael michaela michal
    michał micheal michel michela michele micheline michelle michiko mickey miguel mihai mika mikael mike mikhail
    mikkel mikko mila milan mildred milena miles milica miller millicent millie milos milton mindy minh minji minjun
    minna minnie minoru mira miranda mireille mirela mirella miriam mirjam mirko miroslav misaki missy misty mitch
    mitchell mitzi mladen mohamed mohammad mohammed mohan mohit moira mollie molly mona monica monika monique
    montserrat monty moreno morgan morgane moritz morris morten moses mounir mourad muhammad mukesh murad murat
    muriel murilo mustafa myles myra myriam myrna myrtle márcia márcio máximo mónica nabil nabila nadezhda nadia
    nadim nadine nadja nahia najwa nancy nanette naoko naomi natalia natalie nataliya natasha nathalie nathan
    nathanael nathaniel natividad naveen nawal nayeli nazario nebojsa ned neha neil nell nella nelly nelson nerea
    neslihan nettie neusa neville ngozi nguyen niamh nicholas nick nicki nicky nico nicola nicolai nicolas nicole
    nicoletta nicolás nicolò niels nieves nigel nikhil nikita nikki niklas nikola nikolai nikolaus nikolay nikos
    nils nimal nina nisha nitin nkechi noah noboru noel noelia noelle noemi noemie nola nomvula nona noor nora
    norbert noreen noriko norma norman norris noura nuno nunzia nunzio nurul nádia obinna octavio océane oddvar
    odile ofelia oguz oisin okan oksana ola olaf olalla ole oleg oleksandr olena olga oliveira oliver olivia olivier
    olli oluwaseun omar ondrej ondřej onur opal ora orazio orhan oriol orlando ornella orsola ortwin orville osama
    oscar oskar osman osvaldo oswald otis ottavia ottavio ottilie otto otávio oumar owain owen oyvind ozlem ozzie
    paavo pablo paco padraig paloma pam pamela pankaj pansy paola paolo parker parvati pascal pascale pascaline
    pascual pasquale pat patience patrice patricia patricio patrick patrik patrizia patrícia patsy patti patty paul
    paula paulette paulina pauline paulino paulo pavel pawel paweł paxton pearl pedro peer peggy pekka penelope
    penny pepe per per-olof percy pernille perry peter petr petra petri petros petunia phil philine philip philipp
    philippa philippe philippine phillip phoebe phoenix phuong phyllis phương pia pierluigi piero pierre pietra
    pietro pilar pina pino piotr pippa pirjo polina polly pooja porter portia prakash pranav prasad prashant preeti
    preston primitivo primo priscilla priya priyanka prudence przemyslaw putu quang quentin quincy quinn rachel
    radek radha radoslaw rafael rafaela rafal rafał raffaele raffaella ragnar rahul raimund raimundo rainer raivis
    raj rajesh rajiv ralf ralph ramesh ramon ramona ramsay ramón randal randall randy rania raphael raphaël raquel
    rasa rasha rashid rasmus raul ravi ray raymond raúl reagan rebecca rebekah reed reem reggie regina reginald reid
    reidar reiner reinhard reinhold rekha remi remo renae renata renate renato rene renee renzo rené rex rhiannon
    rhoda rhonda rhys ricarda ricardina ricardo riccardo rich richard richie rick ricky rida riikka riley rina risto
    rita rizky roar rob robbie robert roberta roberto robin rocco rochelle rocky rocío rod roderick rodney rodolfo
    rodrigo rogelio roger rogério rohan rohit roisin roland rolando rolf rolland romain roman romano romina romolo
    ron ronald ronan ronda ronnie rosa rosalia rosalie rosalind rosalyn rosalía rosanna rosanne rosario rose
    rosemarie rosemary rosie roslyn ross rossana rossella rostislav roswitha rosângela rowan roxanne roxie roy ruben
    ruby rubén rudi rudolf rudy ruediger rufus ruggero rui rukmini rune rupert ruslan russ russell rusty ruth
    ruwanthi ryan ryo ryota régis rémi rüdiger saara sabatino sabina sabine sabrina sachin sadie said sakura sally
    salma salome salvador salvatore sam samantha sami samir samira sammy samuel samuele sana sandeep sandi sandra
    sandrine sandro sandy sanja sanjana sanjay sanna santiago santo santos saoirse sara sarah sari sascha sasha
    satomi satoshi satu saul saverio savita sawsan scott sean sebastian sebastien sebastián seija selena selim
    selina selma seojun seppo serafina serena serenity sergei sergey sergio serkan seth settimio sevda sevgi seymour
    shane shankar shannon sharon shaun shauna shawn shawna sheila sheldon shelia shelley shelly sherri sherry sheryl
    shigeru shilpa shinji shirin shirley shreya sibel sibusiso sibylle sid sidney siegbert siegfried sieglinde
    siegrid sierra signe sigrid sigurd siiri silas silke silvana silvano silvestro silvia silvio simon simona simone
    simão sinan sindre sinead siobhan siobhán sipho siti siv skip sky slavko slobodan snezana snorre sofia sofie
    solange soledad solvei solveig somchai sondra sonia sonja sooyeon sophia sophie soren spencer stacey stacie
    stacy stan stanford stanislav stanislaw stanley stefan stefania stefanie stefano steffen stella stepan stephan
    stephane stephanie stephen sterling steve steven stevie stewart stig stina stoyan stuart stéphane sue sumaya
    summer sune sunil sunita sunny suresh susan susana susann susanna susanne susete sushma susie suzan suzanne
    suzette svein sven svetlana swantje swati swetha sybil sybille sylvain sylvester sylvia sylvie sébastien sérgio
    séverine sönke søren tabitha tad tadashi tadeusz tahir takashi takeshi takumi tamara tami tamika tammy tancredi
    tania tanja tanner tanya tapani tara taras tariq tarja tatiana tatiane tatsuya taylor ted teddy teemu telma
    tendai teodoro teresa teri terje terrance terrence terri terry tess tessa tetsuya teófilo thabo thaddeus thandi
    thanh thao thaís thea theda thelma themba theo theodor theodore theresa theresia thiago thibault thibaut thierry
    thilo thomas thor thora thorben thorbjorn thorsten thuy thảo tia tiago tiffany tihomir tilda till tilly tim timo
    timothy timur tina tiril tiziana tiziano tobias toby todd toivo tom tomas tomasz tomislav tommaso tommie tommy
    tomoko tomomi tomás tomáš tomé tone toni tony tonya torben torbjörn tore tori torsten torunn toshiro tracey
    tracy trang traute trent trevor tricia trina trinity trisha tristan trond trude trudy truman trygve tuan tullio
    tuncay tuomas tuula tuấn twila tyler tyrone tyson tânia ubaldo udo ugo ugur ulf ulla ulli ulrich ulrike ulysses
    uma umberto ursel ursula uschi usha uta ute uwe vaclav val valarie valdis valentin valentina valentine valentín
    valeria valerie valter vance vandana vanessa varun vasil vasily vaughn veit velma venkatesh vera verena verna
    vernon veronica veronika veronique vesna vibeke vicenta vicente vicki vicky victor victoria vidar vijay vikram
    viktor viktoria ville vince vincent vincenza vincenzo vinod vinícius viola violet violeta virginia vitalii
    vitaly vito vittoria vittorio vitória viv vivek vivian viviana viviane vivien vladimir vladislav vojtech volkan
    volker volkmar volodymyr vytautas vânia wade wael wagner walburga waleed wallace walter waltraud wanda wanida
    ward warren wayan waylon wayne wei weiwei wellington wendell wendi wendy wenzel werner wesley weston whitney
    wiebke wilbert wilbur wiley wilfred wilfredo wilfried wilhelm wilhelmina will willa willard willem william
    willie willow willy wilma winfried winifred winnie winona winston wojciech wolf wolfgang wolfram woodrow wyatt
    xavier xiaoming ximena xiuying yago yahya yann yannick yara yaroslav yash yasin yasmin yasmine yaw yelena
    yevgeny yifan yilmaz ylva yngve yohann yoko yolanda yosef yoshiko younes youssef yuki yulia yuliya yumi yuri
    yusuf yves yvette yvonne zacarias zachary zack zahra zaid zainab zane zanele zara zbigniew zdenek zdravko
    zeferino zehra zeinab zeke zelda zeljko zeynep ziad zivko zlatan zoe zofia zoltan zoran zoé zuzana álvaro ángel
    åke åsa élodie étienne ömer øystein øyvind úrsula đức łukasz
    aada aafje aakash aaltje aarav aarti abbas abdelaziz abdelkader abdelkarim abdellah abdelrahman abderrahim
    abdou abeba abelard abhijit abhinav abhishek abraha abrehet achille adanna adaobi adaora adham aditi adriaan
    afaf afsaneh agathe agda agi ahlam ahmadreza ahmat aida ajit akachi akanksha akari akbar akemi akhmad
    akihiko akio akito aklilu akram aksel alaa alain albane alberte aleida aleksy alexandrine alfons algot
    alireza aliyah alka almaz aloisia alojz alzbeta amaka amalie amandine amani amanuel amarachi amaury amin
    amira amirali amirhossein amjad ammar amrita anahita anandi anant ananth anas anastazja anatole andrej anej
    aneta anh anika aniket anirudh anis anker ann-christin ann-marie anna-sofie anneli annelies annemarie
    annemiek annick anong anto antoni anuj anupam anuradha anwuli aparna apichat apinya apolline apolonia apti
    arash arata arbi archana ari-pekka arie arinze arjan arjen arkadiusz arlette arman armand armelle armin
    arnav aron arsalan arthit arto arvid arwa aryan asdis asger asghar ashish ashkan ashutosh aslan aslanbek
    asma asmaa asmeret astri asuka ataklti atchara atsuko atsushi attila atul aubin aude augustin aulis aurelien
    auriane aurore awet axelina ayaka ayako ayane ayman ayna ayub ayush azadeh aziz azubuike babak badr bahaa
    bahman bahram balaji barbro bassam baudouin bedrich behnam behrouz behzad bekbolat bela benedicte benedykt
    bengt-ake bente berend berenice berhane berit bernadet bertram bertrand beslan bhaskar bhavana bhavesh bijan
    biniam birger birthe bislan bjarni blazena bodil boglarka bogumil bogumila boguslaw boguslawa bohumil
    bohumila bohuslav bojana boleslaw boonmee borivoj borut bosse bouchra boudewijn boutros bozidar brage bram
    branimir branka bretislav britt britt-marie bronislaw busaba calixte calquin capucine carin carl-gustaf
    carole carolien casper cecylia celestin celina cesaire chaitanya chaiya chalerm chanchai charu chatchai
    chetan chiagoziem chiamaka chibueze chibuzo chidera chidiebere chidimma chie chieko chiemeka chihiro
    chijioke chika chikaodili chike chikere chima chimamanda chimezie chinasa chinenye chinonso chinwe chioke
    chisom chitra chiyo chizoba christer chukwudi chukwuebuka chukwuma ciril claartje clarisse claudette clelia
    cleopatra clotilde coen colombe constantin coralie cormac cornelis csaba csanad csilla ctirad cuong cyril
    cyrille czeslaw czeslawa daan dagfinn daichi daiki dalal dalibor damir danuta dariush dariusz darja darko
    darshan davor dawit dejan denes devansh devendra dhanya dhia dhruv diaa diederik dieuwertje dike dinesh dinh
    dirk-jan dobroslav dobroslaw dolf domagoj dori dorottya dorthe dragoslav drahomira drazen dreux duaa
    duangjai dubravka duje dunja duong duy dzhokhar ebba ebbe ebele ebere ebrahim echezona edgard edina edmond
    edvin edwige edyta eemeli efrem egbert egil ehsan eiichi eiji eiko eirik eivind eivor ejike ekene elaheh
    eleonore elham elinborg eline eliska elnaz elof eloi elzbieta emad eman emenike emese emi emidio emiel emile
    emmanuelle endre erland erlend ermias ernestine erzsebet eskil esko esmail essam eszter etsuko eudes eugenie
    eugeniusz eulalie eustache evelyne evert eyob ezinne fadia fadwa fahad fahd faiza faramarz fardin farhad
    fariba farida farouk farrokh farshid faruq farzad farzaneh fatin fayez fayza felicien felicite feliks femke
    ferenc fereshteh fereydoun fernand feven fiacre filmon firas fitsum flavie flemming florentin floris fouad
    franciska franciszek frans frantisek fredrik fredrika freek freweyni frits fruzsina fuad fumihiko fumio
    gabor gaspard gasper gauri gayatri geertje geertruida geeta geir genowefa gerben gergely germain germaine
    gerrit-jan gertjan gervais geza ghasem ghassan ghazal ghebre ghislain gijs gilberte ginette girish girmay
    gisle gitte gjertrud godelieve golnar golnaz gontran gorazd gordana gorm gosta grazyna greet greger grete
    gudmund gudmundur gunborg gunhild gunn gunvor gustaf gustave gustaw guus guy-paul guylaine gwenaelle gyala
    gyongyi gyorgy gyula habiba habte hadi hadrien hafsa haidar haile hajnal hakon halfdan halima halvar halvard
    hamad hamdan hamid hamida hamidreza hamoud hampus hanako hanan hanne hanneke hans-henrik harini harith harm
    harmen haroun harsh harsha haruki haruko haruna hasan hasna hassanali havard hayato haydar haytham hedvig
    hege heleen helgi helmer hemant hendrika henk hennie henriette hetty hideaki hideki hideko hidenori hideto
    hien hiep hieu hikaru hikmat hilde hilma himanshu hippolyte hiroaki hirofumi hirohito hirokazu hiromi
    hironori hiroto hiroyuki hisako hisao hisashi hiske hiwet hjalmar hoai hoang honorine hooman hormoz hortense
    hosam hossein hotaru hrafn hrafnhildur hrvoje huguette husam hussam hyacinthe hynek ibragim ibtisam ichiro
    idar idris ifeanyi ifeanyichukwu ignace ignacy ihab ijeoma ikechukwu ikenna ildiko ilmari imad imre indira
    ineke inga-lill inge-lise ingegerd ingela ingelise ingemar intisar iqbal iraj irena irenee isabeau isaias
    isak isamu isao ishita isidore ismael issam istvan itsuki iva ivica ivona iwona iyad izabela izumi jaap
    jabir jachym jacky jacoba jacobus jacomina jadran jadwiga jafar jagdish jagoda jahangir jaidee jalal jalila
    jamil jamilah jamshid jan-willem janina janja janka janko janne janneke janni jarle jaromira jaroslava
    jaroslawa jasna jasper jatin javad jawad jayant jayanti jayashree jean-baptiste jean-francois jean-jacques
    jean-louis jean-noel jeannine jelle jeno jens-peter jeppe jerker jernej jeroen jerzy jette jignesh jihan
    jindra jindrich jirina jiro jitske joakim jocelyn johanne joji joke jonatan joop joost jorien joris jorunn
    josip josselin jovan jovana joze jozef jozefa jozica jozsef judicael judit julienne jumana junichi junji
    jurica jurriaan jyotsna jytte kaare kadir kaede kaj kajetan kalevi kalman kalpana kamilah kamol kamran
    kamsiyochukwu kanako kanayo kanchana kanika kanya kaori kaoru karen-margrethe karima karl-erik karlijn karol
    karoly karsten karthik kartik kasper katalin katsuhiko katsumi katsuo kauko kaveh kavya kawthar kazem
    kazimiera kazimierz kazuhiko kazuhiro kazuki kazuko kazumi kazuya kees keigo keiji keisuke kelechi
    kenechukwu kenichiro kentaro keshav ketan keyvan khadijah khadra khamzat khanh khasan khava khawla kheda
    khoa khosrow khulood kianoush kibrom kidane kien kikuko kimiko kinga kiros kirstine kishore kittisak kiyoko
    kiyoshi kjeld klaas klaudia klemen knud koen kohei koichi komal konstanty koos koppany kosisochukwu kosuke
    kotaro kouji kourosh kresimir kriangsak kristian kristijan kristjan krisztian krisztina kruno krystian
    kumiko kunihiko kusum kvetoslav kvetoslava kyoko kyosuke ladan laerke lage lajos lamai lamia lars-erik
    lars-goran lata latif laure laurette laxman layal layan lazare leandre lech lecha leela leendert lemlem
    lempi lene leokadia leonce leone leslaw leszek letebrhan levente liane libor libuse lidija lieke liesbeth
    lieve lisbet lisbeth liza ljerka ljubica lodewijk loes loick lojze lokesh lorand lorette loubna
    louis-philippe luam lubna lubos lucette lucienne lucjan ludek ludvig ludwik ludwika luka lumir luong luuk
    luwam maaike maarit maarten maartje machteld madhav madoka mads-peter maduka maedeh maelle magalie magdolna
    magnhild magomed mahdi mahdieh mahendra maher mahesh mahima mahin mahmud mahnaz mahsa mahtab mahvash mairbek
    maisa maj-britt majda majed makiko malai malee malene malika malin malini malte malthe malwina mamoru mamta
    manabu mandana manh manish manisha manju manjunath mansour marc-olivier marcelin marcelina marceline
    marcelle margareta marie-anne marie-christine marie-france marie-helene marie-josee marie-laure marie-louise
    marie-odile marie-paule marie-pierre marie-therese marieke marijana marijke marijn marinette marinus mariola
    marjan marjeta marjetka marjolein marketa martial martine marton marwa maryvonne marzena masaaki masahiko
    masahiro masaki masami masao masaru masashi masato masayoshi masayuki mashuu masoud masoumeh mateja mathijs
    mathurin matjaz mats matyas maud maxence mayank mayu mayuko mazen meaza mebrahtu medhanie medhat meenakshi
    megha mehari mehdi mehran mehrdad mehrnaz mehrnoosh mehul meindert melake melisande menno merel merete
    merhawi meron metka michaele michio midori mie mieczyslaw mieke mieko miep miha mihaly mihir miho mihoko
    mikaela mikkeline miklos mikolaj milad milada milind milivoj milkias milorad milosz miluse minako minami
    minoo mirna miron miroslava misa misako misato mitali mitja mitra mitsuko mitsuo mitsuru miwa miyako miyoko
    miyu miyuki mizuki mogens mohammadreza mohini mohsen mojca mojgan mojtaba momoko monali moncef monir morteza
    motoko movsar mridula muath muguette muhanad muhsin mukund mulu muna munachiso munir murali murtada mussie
    muzna nabeel nadege nader nadezda nadir naghmeh nahed nahid nahla najat najib nanako nanami nandini nandor
    nanna naoki naoto naoya narendra naresh narges naruemon nasim nasir nasira nasreen nasrin nasser natasja
    natnael natsuki natsuko natsumi nattapong navid nazanin nazir ndidi neelam neeraj neeta neetu negar negash
    nejc nelleke nemanja nesrine nestor neven nevenka neza ngan nghia ngoc nhan nhi nhu nhung nicolette nidhi
    niek niels-erik nienke nigisti niharika nikodem nikolina nilesh niloofar niloufar nils-erik nima nimisha
    ninon niraj niran nirmala nishant nitya nizar njideka nkemdilim nkiruka nnamdi nneka nobuko nobuo nobuyuki
    noha nongnuch norihiko norio noriyuki noureddine nwabueze nwakaego obiageli obioma octave octavie oddbjorn
    oddny odette odilon ogechi ognjen okbay okechukwu okwudili olaug olav oldrich olina olisa oliwia olympe
    omayma omid ondine onni onyeka onyekachi onyinye orathai oriane orlane orsolya osamu osvald oszkar otakar
    oystein paivi pal pallavi palle panit panni parag parichat parisa parth parvaneh parviz pavan payam pedram
    pelle pensri pentti per-arne pernilla pertti petar peyman phairoj phong phuc phuoc pichai pierre-antoine
    pierre-yves pierrette piet pieter pimchanok piroska piyush placide pleun polona pongsak pontus poonam pooya
    poul pouya prabha prabhu pradeep prakruti pramod pranjal prasert prasit pratap prateek pratibha praveen
    preben predrag preecha premysl primoz puneet purnima qasim quinzia quirijn quoc qusay quynh rabab radhika
    radim radmila radovan radwan rafiq raghav raghu ragna ragnheidur ragnhild raheleh rahwa raija raimo rajaa
    rajan rajani rajat rajeev rajendra rajmund rajni rakesh ramakrishna raman rami ramin ramya ramzan ramzi
    randi raouf raoul rashad rasheed rashida rashmi ratan ratko ratree rattana ravindra rayan raymonde regine
    regitze reham reidun reiko reinier reka renaud rens renske renu renuka reshma reza rie riet rika rikard
    rikke riku rima rinus rishabh ritsuko ritu ritva riyad rizvan roald robel robiel rodolphe rodrigue roel
    roelof rogier rohini romana romane romuald ronny roopa rose-marie roselyne rostam roxane roya roza rozalija
    rozsa ruba ruchi rumi runar rupali ruqaya rustam ruta rutger ruud ruzena ryohei ryoji ryoko ryosuke ryszard
    ryuichi ryuji saad saadia saba sabri sachiko sadhana sadiq saeed saeedeh safa safaa safia saghar sahar sahil
    saif sajida sakchai saki sakina salah salambek saleh salim salima salman salwa samaneh sameer samer samia
    samih samrawit sanaz sander sandor sanjeev sanjiv santosh saori sapna sarika sarita sasithorn saskia satish
    satoko satoru satsuki saurabh savitri sayaka sayed sayuri sebastiaan sebastjan seiichi seiji semere semhar
    senait senka sepehr sepideh seraphin sergine setareh setsuko severin shabnam shadia shahab shahd shahin
    shahla shahram shahriar shahrokh shahrzad shaima shalini shamil shapour sharad sharmila shashi sheridan
    sherif shigeki shigeo shiho shilpi shinichi shinobu shinya shiori shireen shiva shivani shizuka shizuko
    shobha shoichi shoji shota shraddha shruti shubham shuichi shuji shukri shun shunsuke shweta siamak siavash
    siddharth sidonie sidsel siebe sietske sigridur sigurmundur sigvard siham silvo simin simret sinisa siri
    siriporn sissel sivert sixten sjaak sjoerd sjors slaven slawomir smita sneha snjezana sobenna sofi sofus
    sohan soheil soheila sohrab solbritt solene solfrid solomon somboon somjai somkiat sompong somporn somsak
    somsri somtochukwu sonal soraya soroush souad spela srinivas staffan stanislas stanislava stanislawa stanko
    steinar stellan sten stian stijn stipe stjepan sture suad subhash sudarat sudha sudhir suha suhail suhair
    sujata sukanya sulaiman sumiko sumit sunaina sunan sunanda supaporn supriya surachai surendra sushant sushil
    sushila susumu suus suwanna svante svatopluk svend sverre svetozar swapna swapnil sylvaine sylvette
    sylwester sylwia synne synnove szabolcs szilard szilvia szymon tadao tadej taha tahani taichi taiki takaaki
    takahiro takako takao takayuki takehiko takeo takeru taku takuma takuya talal tamas tamer tamotsu tanawat
    tancrede tanguy tanneke tanvi taraneh tareq tarik tarjei tarun tatsuo tauno tawfiq tedros tejas tekla tekle
    teklit temesgen teodor tereza teruo tesfay tetsuo tetsuro teun thach thaddee thamer thawat theophile therese
    theunis thien thijs thinh thirza thoa thongchai thorunn thorvald thuan thuong thyge tibor tihana tijmen tijn
    tilen timea tineke tiphaine titia tjalling tjasa tobenna tobiasz toini tokiko tomaz tomislava tomohiro
    tomoki tomoya toochukwu toos tora torbjorg tordis torgeir torgny torill torkel torstein toru toshiaki
    toshihiko toshiko toshio toshiya toshiyuki toussaint trijntje trine trinh troels trung truong trupti truus
    tsegay tsehay tsubasa tsuneo tsutomu tsuyoshi tulsi tunde ture turid turpal tushar tuyen tuyet tymoteusz
    tyra tzigane ubul uche uchechi uchenna ugochi ugochukwu ujjwal ulrik ulrika ulysse umesh urh urho urska
    ursule urszula usama usman uthai utkarsh uyen uzoma vaclava vagn vahid vaibhav vaino vaishali vakha valborg
    valdemar valere valery vasant vasudha vedran veerachai vegard veikko veljko vendula venkat verner vesela
    vibha victorine vide vidya vien vieno vikas vilem vilgot vilhelm villads vilmos vinay vincente vineet vinh
    vinita vinko violaine vipin vipul virag virginie virpi viseslav vishal visita visnja vitezslav viveka
    vivekananda vjekoslav vlado vlasta vlastimil vlatka vojko vratislav vsevolod vuk waclaw wafa wafaa wahid
    waldemar walenty walid wanchai wataru weldu wenche weronika wessel wichai widad wies wieslaw wieslawa
    wietske wijnand wiktor wiktoria wilai wilco willemijn willemina wim winfred winta wiola wissam witold
    wladyslaw wladyslawa wouter xaviere yahia yakub yasaman yaser yashwant yasir yasmeen yasuhiro yasuko yasuo
    yasushi yayoi yazan yemane yingluck ynes yngvar yogesh yohana yoichi yoji yolande yonas yordanos yori
    yoshiaki yoshie yoshihiko yoshihiro yoshikazu yoshimi yoshinori yoshio yoshiro yoshito yoshiyuki yosuke yota
    younis yousef youssra yui yuichi yuika yuji yuka yukari yukihiro yukiko yukio yuko yuma yumiko yunus yurika
    yusra yusuke yuta yutaka yuto yuuki yuya yvan zacharie zaher zakaria zakia zarema zaur zayd zbynek zdenka
    zdislava zdzislaw zdzislawa zeina zelimkhan zeljka zenon zeray zhaleh ziga zimuzo zita ziyad zlata zlatko
    zofie zohra zohreh zorica zsofia zsolt zsuzsa zsuzsanna zubair zufan zuhair zulikhan zuzanna zvonimir zvonka
    zwaantje zygmunt
    александр александра алексей алена алина алла анастасия анатолий ангелина андрей анна антон антонина аркадий артем
    артур богдан борис вадим валентин валентина валерий валерия варвара василий василиса виктор виталий владимир
    владислав всеволод вячеслав галина геннадий георгий глеб григорий даниил данила дарья денис диана дмитрий евгений
    евгения екатерина елена елизавета ефим зинаида зоя иван игорь илья инна иосиф ирина карина кирилл клавдия константин
    кристина ксения лариса леонид лидия людмила максим маргарита марина мария матвей михаил надя наталия наталья никита
    николай нина оксана олег олеся ольга павел петр полина раиса ростислав руслан светлана святослав семен сергей софия
    софья станислав степан тамара таня тарас татьяна тимофей тимур ульяна федор филипп эдуард юлия юрий яна ярослав
    андрій василь володимир галя дмитро ганна ірина катерина кирило людмила марія микола михайло наталія
    оксана олександр олександра олексій олена павло петро сергій тетяна юлія юрій
"""
