"""The languages words are stemmed in: what tells them apart, and the words of each that ask rather than name.

A table and nothing else; the words of a language are taken apart when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property


class Language:
    """One language: Snowball's name for it, and its small words, which tell it and are dropped from queries."""

    def __init__(self, name: str, small: str) -> None:
        self.name = name
        self._text = small

    @cached_property
    def small(self) -> frozenset[str]:
        return frozenset(self._text.split())


# Query words that ask rather than name, and words that tie sentences together. Tense and number words stay in: `last`,
# `before` and `two` may be what is asked for.
ENGLISH = Language("english", """
    a about am an and any are as at be been being but by can cannot could did didn't do does doesn't doing don't for
    from had has have having he her hers him his how i i'd i'll i'm i've if in into is isn't it it's its itself just
    let's me my mine of on onto or our ours she should so some such than that that's the their theirs them then there
    there's these they they're this those to too us very was wasn't we we're were what what's whats when when's where
    where's which while who who's whom whose why will with won't would you you're your yours ever please tell
""")  # fmt: skip

# Those written in Latin letters, which only their words tell apart.
LATIN = (
    ENGLISH,
    Language("german", """
        aber alle als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein dem den denn der des
        die dies diese diesem diesen dieser dieses du durch ein eine einem einen einer eines er es etwas euch für gibt
        habe haben hast hat hatte hatten hier ich ihm ihn ihr ihre im in ins ist ja jede jeder jedes kann kein keine
        können mein meine mich mir mit muss nach nicht noch nur ob oder ohne sein seine sich sie sind so soll sollte
        über um und uns unser unter vom von vor war waren warum was welche welchem welchen welcher welches wenn wer
        werden wie wieso wir wird wo wurde wurden zu zum zur
    """),
    Language("french", """
        ai au aux avec avez avons ce ces cet cette ceux comme comment dans de des donc dont du elle elles en est et
        était été être eu fait il ils je la le les leur leurs lui ma mais me mes moi mon même ne nos notre nous on ont
        ou où par pas peut plus pour pourquoi quand que quel quelle quelles quels qu'est-ce qui quoi sa sans se sera
        ses si son sont sur ta te tes toi ton tu un une vos votre vous y à
    """),
    Language("spanish", """
        al algo como con cual cuál cuáles cuando cuándo de del desde donde dónde el él ella ellas ellos en entre era
        es esa ese eso esta está estaba están estas este esto estos fue fueron ha había han hasta hay la las le les lo
        los mas más me mi mis mucho muy no nos nosotros o para pero por porque qué que quien quién quiénes se ser si
        sí sin sobre son su sus también te tiene tu tus un una uno unos usted y ya yo
    """),
    Language("italian", """
        a ai al alla alle allo anche c'è che chi ci come con cosa cui da dai dal dalla dalle de degli dei del della
        delle dello di dove due e è ed era erano essere fu gli ha hanno ho i il in io l la le lei li lo loro lui ma mi
        mio ne nei nel nella nelle noi non o per perché più qual quale quali quando quanto questa queste questi questo
        se sei si sia sono su sua sue sui sul sulla suo tra tu tuo un una uno vi voi
    """),
    Language("portuguese", """
        a ao aos as até com como da das de dela dele do dos e é ela elas ele eles em entre era essa esse esta está
        estão este eu foi foram há isso isto já lhe mais mas me meu minha muito na nas não nem no nos nós o onde os ou
        para pela pelas pelo pelos por porque qual quais quando que quê quem se sem ser seu seus sua suas são também
        te tem têm um uma você vocês
    """),
    Language("dutch", """
        aan al als bij dan dat de deze die dit door een en er ge geen had heb hebben heeft het hij hoe hun ik in is je
        jij kan maar me met mijn naar niet nog of om ons onze ook op over te tot u uit van voor waar waarom wanneer
        want waren was wat we wel welke werd wie wij wordt worden zal ze zich zij zijn zo
    """),
    Language("swedish", """
        alla att av blev bli blir de dem den denna deras dess det detta dig din ditt du efter eller en er ett från för
        ha hade han har hon hur här i inte jag kan man med men mig min mitt mot mycket ni nu när och om oss på sig sin
        sina sitt ska skulle som till under upp ut utan vad var varför vem vi vid vilka vilken vilket än är över
    """),
    Language("danish", """
        af alle at blev blive bliver da de dem den denne der deres det dette dig din du efter eller en er et for fra
        ham han har havde hende her hun hvad hvem hver hvilken hvilket hvor hvordan hvorfor hvornår i ikke ind jeg jer
        kan man med meget men mig min mit mod ned nu når og også om op os over på sig sin skal som så til ud under var
        ved vi vil være været
    """),
    Language("norwegian", """
        alle at av ble bli blir da de dem den denne der deres det dette du eller en er et etter for fra før ha hadde
        han har hun hva hvem hver hvilken hvilke hvor hvordan hvorfor i ikke inn jeg kan man med meg mellom men min
        mitt når og også om opp oss over på seg sin skal slik som så til under ut var ved vi vil være vært
    """),
    Language("finnish", """
        ei eivät en että hän he ja jo joka jos jotka kanssa koska kuin kuinka kun kuka me mihin mikä miksi missä mitä
        mitkä mukaan mutta myös ne niin nyt ole oli olivat olla on onko ovat se sen sekä siitä sitä tai tämä tämän te
        tuo vai voi
    """),
    Language("romanian", """
        a acest această aceste ai al ale am ar are așa au ca că care ce cel cele cei către cine cu cum când câte câți
        da dar de decât despre din după ea ei el ele este eu fi fost fără iar în între la le lui mai ne nu o pe pentru
        prin sa să sale sau se si și sunt un unde unei unor unui va
    """),
    Language("hungarian", """
        a az abban ahol aki akkor amely ami amikor azt be csak de egy ez ezek ezt és ha hogy hogyan hol így ilyen is
        kell ki kik le lehet meg mely melyik mert mi miért mikor milyen mint mit nagyon ne nem sem szerint után vagy
        van vannak volt voltak
    """),
    Language("polish", """
        aby ale bo być był była było były co czy dla do gdy gdzie go i ich ile jak jaka jaki jakie jako jego jej jest
        już kiedy kto która które którego której który których lub ma mi mnie może na nad nie o od oraz po pod przed
        przez przy są się ta tak także tam te tego tej ten to tu tylko tym w we wszystko z za ze że
    """),
    Language("czech", """
        a aby ale ani bez bude by byl byla bylo byly být co či do i jak jaká jaké jaký jako je jeho jejich jen jsem
        jsou jste k kde kdo kdy která které který ke mezi může na nad ne nebo není o od po pod podle pro proč před při
        s se si také tak tam ten to tu u už v ve však z za ze že
    """),
    Language("turkish", """
        acaba ama ancak bana bazı belki ben bir biz bu bunu bunun çok da daha de değil diye en gibi göre hangi hem hep
        her için ile ise kadar kaç ki kim kimin mi mı mu mü nasıl ne neden nerede nereye niçin o olan olarak oldu
        olduğu olur ona onu onun sen siz şu tüm ve var veya ya
    """),
    Language("indonesian", """
        ada adalah akan apa apakah atau bagaimana bagi bahwa berapa bisa dalam dan dapat dari dengan di dia hanya ini
        itu jika juga kami kapan karena kata ke kepada kita mana mengapa mereka oleh pada para saat saya sebagai
        sebuah seperti siapa sudah telah tentang tidak untuk yang
    """),
)  # fmt: skip

# Those a script of its own tells.
CYRILLIC = Language("russian", """
    а без бы был была были было быть в вам вас ваш во вот все всё вы где да для до его ее её если есть еще ещё же за
    и из или им их к как какая какие каким каких какого какое какой когда кого кому которая которого которое которые
    который ко кто ли мне мы на над нам нас не него нее них но о об обо он она они оно от по под почему при с свой со
    так также там то того только том ты у уже чего чем что чтобы чья эта эти это этого этой этот я є і ї це що як
""")  # fmt: skip
GREEK = Language("greek", """
    αλλά αν από αυτά αυτή αυτό αυτός για γιατί δεν είναι είχε ένα ένας εκ επί έχει έχουν ή ήταν η θα και κατά με μας μετά
    μη μια μου να ο οι όπου όπως όταν ότι πόσα πόσο ποια ποιά ποιες ποιο ποιοι ποιος πως πώς πού που προς σαν σας σε
    στα στη στην στις στο στον στους συ τα την της τι τις το τον του τους των ως
""")  # fmt: skip
ARABIC = Language("arabic", """
    أن أو أي أين إذا إلى إلا إن التي الذي الذين الى أم أما أنا أنت بعد بل بما بين تم ثم حتى حيث خلال ذلك عدد عند عن على
    عليه غير في فيها فيه قبل قد كان كانت كل كم كما كيف لا لأن لقد لكن لم لماذا لن له لها ليس ما ماذا متى مع من منذ منها
    منه نحن هؤلاء هذا هذه هل هم هنا هناك هو هي و وقد يكون
""")  # fmt: skip
HINDI = Language("hindi", """
    और इन इस इसके इसमें उन उनके उस उसके एक ऐसा कब कर करता करते करना करने कहाँ का कि किया किस किसने किसी की कितना कितने कितनी
    के को कोई कौन कौनसा क्या क्यों कैसे गई गए गया जब जहाँ जा जो तक तब तो था थी थे द्वारा न नहीं ने पर भी में मैं यह यहाँ
    या ये रहा रहे लिए वह वहाँ वाले वे सकता से हम ही हुआ हुई हुए हूँ है हैं हो होता होती होते
""")  # fmt: skip
# Those of scripts of their own; dropped from any query, since no other language has such words.
_SCRIPTS = (CYRILLIC, GREEK, ARABIC, HINDI)

# Small words are shared: `die`, `was`, `of`. A text is in another language if it has this many more of that one's.
_MORE = 2


def told_by(words: AbstractSet[str]) -> Language:
    """The language of a text in Latin letters by its small words; English where they do not tell."""
    english = len(words & ENGLISH.small)
    best, most = ENGLISH, english + _MORE - 1
    for language in LATIN[1:]:
        count = len(words & language.small)
        if count > most:
            best, most = language, count
    return best


def small_words(languages: Sequence[str], *, ascii_only: bool) -> frozenset[str]:
    """The words to drop from a query over notes in these languages."""
    meant = [language for language in LATIN if language.name in languages]
    return ENGLISH.small.union(*(language.small for language in (*meant, *(() if ascii_only else _SCRIPTS))))
