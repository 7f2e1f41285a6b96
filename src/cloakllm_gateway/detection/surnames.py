"""Common family names, in lower case and without accents.

Left out is what is also a frequent word, a given name or a place (Young, Long,
Thomas, Lincoln): a surname that stands alone is believed on this list only.
"""

from __future__ import annotations

from cloakllm_gateway.detection.name_words import words_of

SURNAMES = words_of("""
    aas abbott abe abubakar ackerman acosta adamczyk adams adebayo adeleke adeyemi agarwal aggarwal aguilar
    ahmad ahmed aho akhtar albrecht ali almeida alonso alvarado alvarez alves amato andersen anderson andersson
    andrade andreoli andrews antall appel araujo arnold arroyo astrom atkinson axelsson ayers azevedo babic
    baggio bailey baird bakken bakker bakr bakshi baldwin balogh balogun banerjee barbier barbieri barbosa
    barker barnes barnett barrett barrios barros bastos batista bauer baumann baxter bayer beasley beck becker
    bellini beltran benes benitez bennett benson berger bergman bergmann bergqvist bergstrom bermudez bernardi
    bhatia bhatt bianchi bianco bjork blackwell blair blanchard blanco blankenship blum bocelli boehm bogdanov
    bogdanova boggs bondarenko bonnet borges botha bouchard boucher bourgeois bowen bowman boyd boyer boyko
    boyle bradley bradshaw brandt brantley braun brennan briggs briscoe brooks brouwer brunet bruni bruno bruun
    bryant buchanan bucher burgess burke burns burton busch bush butler caballero cabral cabrera caldwell
    callahan calvo camacho campbell campos cano cantrell caplan caputo cardoso carey carlson carlsson carpenter
    carr carrillo carroll carson carter caruso carvalho cassidy castillo castro cattaneo cavalcanti cerny
    cervantes chakraborty chambers chandler chandra chang chapman charpentier chatterjee chaudhary chavez cheng
    chevalier choi chopra chowdhury christensen christiansen chung cisneros clark clarke claus clayton clements
    clinton cochran coffey coleman collier collin colombo connolly conti contreras conway cooper copeland
    coppola cordero correa correia cortes costa costantini coulter couto cowan cox crawford crosby cruz csonka
    cummings cunningham d'angelo dabrowska dabrowski dahl dalton danielsson danjuma daugherty davidson davies
    davis dawson deangelis degraaf delaney delgado deluca dempsey desai desantis deschamps devi dewit dias diaz
    dickerson diez dijkstra dillard dixon djordjevic dodson doherty dolezal dominguez donaldson donnelly
    dougherty doyle drummond duarte dubois dudek duffy dumas dumont duncan dunlap dunn dupont duran durand dutta
    dvorak dvorakova eaton eberhardt edwards eide eklund ekstrom eliasson ellis emerson engel engstrom erickson
    eriksen eriksson escobar espinoza esposito esteban estrada evans fabbri farkas farley farrell faulkner faure
    fedorov fekete feldman ferguson fernandes fernandez ferrara ferrari ferraro ferreira ferrer fiala figueroa
    finley fiore fischer fitzgerald fleming fletcher flores fonseca fontaine fontana fournier fowler frank
    franke franks frazier freeman freire freitas friedman friedmann friedrich frye fuchs fuentes fujita fuller
    gaillard galindo gallagher gallego gallo galloway galvez gandhi garcia gardner garner garnier garrett
    garrido garza gatti gauthier geiger gentile george gerber ghosh gibson gilbert gilmore gimenez ginsburg
    giordano girard giraud giuliani glover goel goldberg golob golubev gomes gomez goncalves gonzales gonzalez
    goodwin gordon gould grabowski graf graham grassi greco greene griffin griffith griffiths gross gruber
    guerra guerrero guidi guillen guillot gupta gustafsson gustavsson guthrie gutierrez haas haddad hagen hahn
    hajek hakansson haley halvorsen hamalainen hamel hamilton hammond hancock hansen hanson hansson hardin
    harding harmon harrington harrison hartmann harvey hashimoto hassan hatfield haugen hawkins hayes haynes
    heikkinen heino heinonen heinrich hellstrom henderson hendricks hendriks henriksson henry hensley hermann
    hernandes hernandez herrera herrmann hertzog hewitt hickman hidalgo hinton hobbs hodges hoekstra hoffman
    hoffmann hofmann holcomb holden holloway holmberg holmes hooper hopkins horak horton horvat horvath howell
    hribar huang hubbard huber huffman hughes huisman humphrey hurley hussain hussein hutchinson ibanez ibarra
    iglesias ilic inoue ishikawa ito ivanov ivanova iversen iyengar iyer jablonski jacobs jacobsen jacobsson
    jain jankowska jankowski jansen janssen jansson jarvinen jarvis jaworski jelinek jenkins jennings jensen jha
    jimenez johansen johansson johnson johnston jokinen jonas jones jonsson jordan joshi jovanovic joyner juarez
    juhasz jung juric kaiser kamau kaminska kaminski kang kaplan kapoor kapur karlsson kastelic kastner kato
    kaufmann kaur keating keita keller kelly kennedy kerr khalil khan khanna khoury kilgore kimura kinnunen
    kirby kirkland kjaer klein knapp knezevic knightley knox knudsen kobayashi koch koehler kohler kolb kone
    korhonen korosec koskinen koster kovac kovacevic kovacic kovacs kovalenko kowalczyk kowalski kozlov
    kozlowska kozlowski krajnc kralj kramer krause kravchenko krawczyk krishnan krol krueger kruger kucera kuhn
    kuipers kulkarni kumar kuznetsov kuznetsova kwiatkowski laaksonen lacroix laine lakatos lambert lambrecht
    landry lang langley lantos larsen larson larsson lawson leach lebedev lebedeva leblanc leclerc leclercq
    lefebvre lefevre lehmann lehtinen lehtonen lemaire leroy levy lewandowska lewandowski lewis lima lindberg
    lindgren lindholm lindqvist lindstrom lofgren lombardi lombardo lopes lopez lorenzo lowe lowery lozano lucas
    ludwig luna lund lundberg lunde lundgren lundqvist lynch lyons macdonald macedo machado macias mackenzie
    maddox madsen mahoney maier majewski makela makinen maldonado malhotra malinowski maloney mancini mandela
    marchal marchand marchetti mariani maric marin marini marino markovic marques marquez martel martin
    martinelli martinez martini martins marx mason matsumoto matthews maurer mayer mazur mazurek mazza mbeki
    mcbride mccall mccarthy mccarty mcclain mcclure mcconnell mccormick mccoy mccullough mcdaniel mcdonald
    mcdowell mcfarland mcgee mcgrath mcguire mcintosh mcintyre mckay mckee mckenzie mckinney mclaughlin mclean
    mcleod mcmahon mcmillan mcneil mcpherson mcqueen medina mehta meier meijer mejia melnyk melo melton mendes
    mendez mendoza menendez menon mensah mercier merkel meszaros meunier meyer michalska michalski michel
    middleton miettinen mikhailov mikkelsen miller milligan mills mishra mitchell mlakar moeller mohamed molina
    molnar monteiro montero montgomery mooney moore mora morales moreau moreira moreland moreno moretti morin
    morozov morozova morricone morrison morrow morse mortensen mosley moura mueller mukherjee mukherji mulder
    muller mullins munoz murdock murphy murray musa mutua myers myhre nagy naidu nair nakamura nascimento
    navarro nelson nemec nemeth neumann newton ngo nguyen nicholls nicholson nielsen niemi nieminen nieto
    nikolic nilsen nilsson niskanen nkosi nogueira nolan nordin nordstrom novak novakova novikov novikova
    novotny nowak nowakowski nowicki nunes nunez nwosu nyberg nyman o'brien o'connor o'donnell o'neill obama
    obrien oconnor odom odonnell ogawa ogunleye okafor okeke okonjo okonkwo okoye olah oliveira oliver olofsson
    olsen olson olsson olszewski oneill orellana orlandi orlov orozco ortega ortiz osborne osei ospina ostrowski
    otieno owens owusu pacheco padilla palmer palmieri palumbo pandey papp pappas paredes park parra parsons
    patel patil patterson patton paul paulsen paulson pavlov pavlova pavlovic pawlowska pawlowski payne pedersen
    pellegrini pena pennington peralta pereira perez perkins perrier perrin perrot persson pesonen petersen
    peterson petit petrov petrova petrovic pettersson pettit pham phelps phillips piccolo pichler pickett pierce
    pillai pineda pinto piotrowski pires pittman popescu popov popova popovic pospisil postma potocnik poulsen
    powell prasad pratt preuss prieto prochazka proctor pruitt puckett pugh quigley quinn quintana quintero
    quiroga qureshi racz rahman ramirez ramos ramsey randolph rangel rankin rao rasmussen ratliff rebelo reddy
    reese reeves reid reilly reinhardt renard renault reyes reynolds rhodes ribeiro ricci richards richardson
    richter riedel rinaldi rios ritter rivas rivera rivero rizzo roach robbins roberts robertson robinson robles
    rocha rodgers rodrigues rodriguez rogers rojas rojo roland rollins romano romero roosevelt rosales rossi
    roth rousseau roussel roux rowland rubio ruggiero ruiz rumsfeld russo rutledge ruzicka ryan saarinen saito
    salas salazar salinas salminen salo salonen salter salvatore sampaio sampson sanchez sandberg sanders
    sandoval santana santiago santoro sanz sarkozy sartori sato sauer saunders savage saxena schaefer schafer
    schmid schmidt schmitt schmitz schneider schofield scholz schouten schreiber schroder schroeder schubert
    schulte schultz schulz schulze schumacher schuster schwab schwartz schwarz schweitzer sears sedlacek seidel
    sellers semenov serrano sethi sexton shaffer shah shapiro sharma shaw shelton shepard shepherd sheppard
    shevchenko shevchuk shields shimizu siddiqui silva silvestri simmons simon simonsen simpson sinclair singh
    sinha skinner sloan smirnov smirnova smits snider snyder soares soderberg sokolov sokolova solberg solis
    sommer sorensen soto sousa souza spence spencer srivastava stafford stanton stark stein steiner stephens
    stepien stevens stevenson stewart stoica stojanovic stokes stout strauss suarez sullivan sundberg sutherland
    sutton suzuki svensson svoboda swanson sweeney szabo szilagyi szymanska szymanski takacs takahashi talley
    tanaka tangen tavares teixeira terrell thakur thiel thompson thomsen thomson thornton tillman tiwari
    tkachenko toledo torres toth tran trevino trivedi trotter trujillo trump tsai tuominen turner turunen ueda
    ullrich valdez valencia valentini vandenberg vanderlinden varga vargas varma vasconcelos vasquez
    vaughan vaughn vazquez vega velasco velasquez vera verma vermeulen vesely vidal vieira villanueva villarreal
    vinogradov vinson virtanen visser vitale vogel vogt volkov volkova vukovic vyas wagner walker wallace waller
    walsh walter walters walton wang warner watanabe watkins watson watts weaver weber webster weinstein weiss
    welch wen werner wheeler whitaker whitehead whitfield wieczorek wiegand wiggins wikstrom wilcox wilder
    wilkerson wilkins wilkinson willems williams williamson willis wilmot wilson winkler winslow wisniewski witt
    wojciechowska wojcik wolfe wolff wolfowitz woods wooten wozniak wright wrobel wu yadav yamada yamaguchi
    yamamoto yamazaki yang yarbrough yates yildiz yilmaz yoder yoshida zaitsev zajac zapata zavala zhang zhao
    zheng zhou ziegler zielinska zielinski zimmer zimmerman zimmermann zuma zuniga zupancic
""")
