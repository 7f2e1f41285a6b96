"""Common family names, in lower case and without accents.

Left out is what is also a frequent word, a given name or a place (Young, Long,
Thomas, Lincoln): a surname that stands alone is believed on this list only.
"""

from __future__ import annotations

from cloakllm_gateway.detection.name_words import words_of

SURNAMES = words_of("""
    abbott abe acosta adams adebayo adeyemi aguilar ahmad ahmed aho akhtar albrecht ali almeida alonso alvarado
    alvarez alves amato andersen anderson andersson andrade andrews appel araujo arnold arroyo azevedo baggio bailey
    bakker bakshi baldwin banerjee barbieri barbosa barker barnes barnett barrett barros bastos batista bauer
    baumann bayer beck becker bellini benitez bennett berger bergman bergmann bernardi bianchi bianco blair
    blanchard blanco blum bocelli boehm bogdanov bonnet borges botha bouchard boucher boyd boyle bradley brandt
    braun brennan briggs brooks bruno bryant bucher burke burns burton busch bush butler caballero cabral cabrera
    caldwell calvo camacho campbell campos cano cardoso carlson carlsson carpenter carr carrillo carroll carson
    carter caruso carvalho castillo castro chambers chandler chandra chang chatterjee chaudhary chavez cheng
    chevalier choi chopra christensen chung clark clarke claus clinton coleman colombo conti contreras cooper
    cordero correa cortes costa coulter couto cox crawford cruz cunningham d'angelo dahl dalton davidson davies
    davis dawson delaney delgado deluca desai devi dias diaz diez dijkstra dixon dominguez donnelly doyle duarte
    dubois duffy dumont duncan dupont duran durand dvorak eberhardt edwards eklund eliasson ellis engel eriksen
    eriksson escobar espinoza esposito esteban estrada evans fabbri farrell faure feldman ferguson fernandes
    fernandez ferrara ferrari ferraro ferreira ferrer figueroa fischer fitzgerald fletcher flores fonseca fontaine
    fournier frank franke freeman freitas friedman friedrich fuchs fuentes fujita fuller gallagher gallego gallo
    galvez gandhi garcia gardner garnier garrett garrido garza gauthier geiger gentile george gerber ghosh gibson
    gilbert gimenez ginsburg giordano girard giuliani goldberg gomes gomez gonzales gonzalez goodwin gordon graf
    graham grassi greco greene griffin griffiths gross gruber guerra guerrero guidi guillen gupta gustafsson
    gutierrez haas hahn halvorsen hamilton hansen hanson hansson harrington harrison hartmann harvey hashimoto
    hassan hawkins hayes heinrich henderson hendricks henriksson henry hermann hernandez herrera herrmann hidalgo
    hoffman hoffmann hofmann holmes horvath huang hubbard huber hughes hussain hussein ibanez ibarra iglesias inoue
    ishikawa ito ivanov iyer jacobs jacobsen jacobsson jain jankowski jansen janssen jansson jarvis jenkins jensen
    jimenez johansen johansson johnson johnston jokinen jonas jones jonsson jordan joshi juarez jung kaiser kamau
    kaminski kang kaplan kapoor karlsson kato kaufmann kaur keita keller kelly kennedy kerr khalil khan kimura
    kinnunen klein knudsen kobayashi koch koehler kohler kolb kone korhonen kovac kovacs kowalczyk kowalski kozlov
    kozlowski kramer krause krishnan krueger kruger kuhn kulkarni kumar kuznetsov laaksonen lambert lambrecht landry
    lang larsen larson larsson lebedev leclerc lefebvre lefevre lehmann lehtonen leroy levy lewandowski lewis lima
    lindberg lindgren lindholm lindqvist lindstrom lombardi lombardo lopes lopez lorenzo lozano lucas ludwig luna
    lund lundberg lundgren macdonald macedo machado mackenzie madsen maier makinen maldonado malhotra mancini
    mandela marchand marchetti mariani marin marini marino marques marquez martel martin martinelli martinez martini
    martins mason matsumoto matthews maurer mayer mazur mbeki mccarthy mcclain mccormick mcdonald mcgrath mckenzie
    mclaughlin medina mehta meier meijer mejia melo mendes mendez mendoza menendez mensah mercier merkel meyer
    michalski michel miettinen mikkelsen miller mills mishra mitchell moeller mohamed molina monteiro montero
    montgomery moore mora morales moreau moreira moreno moretti morin morozov morrison morrow mueller mukherjee
    mulder muller munoz murphy murray musa mutua myers nair nakamura navarro nelson neumann newton ngo nguyen
    nicholson nielsen niemi nieminen nieto nilsen nilsson nkosi nogueira nordstrom novak nowak nowakowski nunes
    nunez o'brien o'connor o'donnell o'neill obama obrien oconnor odonnell ogawa okafor okeke okonkwo oliveira
    oliver olsen olson olsson oneill orellana orlov orozco ortega ortiz osei ospina ostrowski otieno owens owusu
    pacheco padilla palmer palumbo pappas paredes park parra parsons patel patil paul paulsen pavlov pawlowski payne
    pedersen pellegrini pena peralta pereira perez perkins perrin perrot persson pesonen petersen peterson petit
    petrov petrovic pham phillips piccolo pichler pierce pineda pinto pires popescu popov popovic powell prasad
    preuss prieto pugh quinn quintero quiroga ramirez ramos rao rasmussen rebelo reddy reid reinhardt renard reyes
    reynolds ribeiro ricci richards richardson richter riedel rinaldi rios ritter rivas rivera rivero rizzo roberts
    robertson robinson robles rocha rodrigues rodriguez rogers rojas rojo roland romano romero roosevelt rosales
    rossi rousseau roussel roux rubio ruiz rumsfeld russo ryan saarinen saito salas salazar salinas salvatore
    sanchez sanders sandoval santana santiago santoro sanz sarkozy sato sauer saunders savage schaefer schafer
    schmid schmidt schmitt schmitz schneider scholz schreiber schroder schroeder schubert schulte schultz schulz
    schulze schumacher schuster schwab schwartz schwarz schweitzer seidel serrano shah shapiro sharma shaw
    shevchenko shimizu silva simmons simon simonsen simpson singh sinha soares sokolov solis sommer sorensen soto
    sousa souza spencer stafford stark stein steiner stephens stewart stoica strauss suarez sullivan suzuki svensson
    swanson szabo szymanski takahashi tanaka tavares teixeira thakur thiel thompson thomsen thornton toledo torres
    toth tran trujillo trump tsai turner ueda valdez valencia valentini vargas vasconcelos vasquez vaughn vazquez
    vega velasco velasquez vera verma vidal vieira vogel vogt volkov wagner walker wallace walsh walter walters wang
    watanabe watkins watson weaver weber webster weiss wen werner wheeler whitaker wieczorek wiegand wilkins
    wilkinson williams williamson willis wilson winkler wisniewski wojcik wolfe wolff wolfowitz woods wozniak wright
    wu yadav yamada yamaguchi yamamoto yamazaki yang yates yildiz yilmaz yoder yoshida zapata zhang zhao zheng zhou
    ziegler zielinski zimmer zimmermann zuma zuniga
""")
