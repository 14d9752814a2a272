"""One analyzer gives the terms of notes and of queries: the same thing written in another way gives a term they share."""

import itertools
import sqlite3
import time
import unicodedata
from contextlib import closing

import hypothesis
import pytest
from hypothesis import strategies as st
from tests.test_recall import found, note
from tests.texts import examples, texts

from commonplace.index.sidecar import Sidecar
from commonplace.recall.analyze import Analyzer, analyzer, asked, chunks, folded, language_of
from commonplace.recall.languages import LATIN
from commonplace.recall.lexical import Fts5, Text

LANGUAGES = tuple(language.name for language in LATIN)
ENGLISH = analyzer("english")


def terms(text, language="english"):
    return analyzer(language).terms(text)


def kept(texts, *, side=None):
    """Texts in an engine of their own: a connection to it."""
    side = side or Sidecar(None)
    side.run(lambda db: Fts5().put(db, texts), write=True)
    return side


# --- identifiers -------------------------------------------------------------------------------------------------

# What a text is kept as: the whole first, then its parts.
GIVES = [
    ("deployProd", ["deployprod", "deploy", "prod"]),
    ("DeployProd", ["deployprod", "deploy", "prod"]),
    ("deploy_prod", ["deployprod", "deploy", "prod"]),
    ("deploy-prod", ["deployprod", "deploy", "prod"]),
    ("DEPLOY_PROD", ["deployprod", "deploy", "prod"]),
    ("__deploy_prod__", ["deployprod", "deploy", "prod"]),
    ("path/to/file.py", ["pathtofilepi", "path", "to", "file", "py"]),
    ("--dry-run", ["dryrun", "dri", "run"]),
    ("-x", ["x"]),
    ("v1.2.3", ["v1.2.3", "v1", "2", "3"]),
    ("1.2.3", ["1.2.3", "1", "2", "3"]),
    ("2026/05/15", ["2026.05.15", "2026", "05", "15"]),
    ("12:30", ["12.30", "12", "30"]),
    ("ERR_CODE", ["errcod", "err", "code"]),
    ("E404", ["e404"]),
    ("C++", ["c++"]),
    ("c++17", ["c++", "17"]),
    ("C#", ["c#"]),
    ("C", ["c"]),
    ("#general", ["general"]),
    ("k8s", ["k8s"]),
    ("i18n", ["i18n"]),
    ("x86_64", ["x86.64", "x86", "64"]),
    ("utf16le", ["utf16le", "utf", "16", "le"]),
    ("py311foo", ["py311foo", "py", "311", "foo"]),
    ("v10beta", ["v10beta", "v", "10", "beta"]),
    ("APIs", ["api"]),
    ("IDs", ["id"]),
    ("parseHTTPResponse", ["parsehttprespons", "pars", "http", "respons"]),
    ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
    ("e-mail", ["email", "e", "mail"]),
    ("ana@example.com", ["anaexamplecom", "ana", "exampl", "com"]),
    ("Ana's", ["ana"]),
    ("don't", ["dont"]),
    ("l'eau", ["leau", "eau"]),
    ("dell'arte", ["dellart", "art"]),
    ("qu'il", ["quil", "il"]),
    ("L'ÉTÉ", ["ete"]),
    ("R&D", ["rd", "r", "d"]),
    ("std::vector", ["std", "vector"]),
    ("_", []),
    ("...", []),
    ("é1-2", ["e1.2", "e1", "2"]),
]  # fmt: skip


@pytest.mark.parametrize(("written", "gives"), GIVES, ids=[row[0] for row in GIVES])
def test_an_identifier_is_kept_whole_and_in_parts(written, gives):
    assert terms(written) == gives


# The same thing, as people and programs write it. Each finds all the others.
SAME = [
    ("deployProd", "DeployProd", "deploy_prod", "deploy-prod", "deploy.prod", "deploy/prod", "DEPLOY_PROD", "deploy prod", "deploy::prod"),
    ("deployProd", "deploy_prod", "deployprod", "DeployPROD"),
    ("parseHTTPResponse", "parse_http_response", "parse-http-response", "ParseHttpResponse", "parse HTTP response"),
    ("path/to/file.py", "./path/to/file.py", "/home/ana/path/to/file.py", "path to file.py", "`path/to/file.py`", "PATH/TO/FILE.PY"),
    ("--dry-run", "dryRun", "dry_run", "DRY_RUN", "dry run", "--dry-run=yes"),
    ("v1.2.3", "V1.2.3", "1.2.3", "version 1.2.3", "v1.2.3-rc1"),
    ("ERR_CODE", "errCode", "err-code", "ErrCode", "err_code", "ERR CODE"),
    ("C++", "c++", "C++.", "(C++)", "Ｃ＋＋", "C++17"),
    ("C#", "c#", "C#,", "Ｃ＃"),
    ("k8s", "K8s", "K8S", "k8s's"),
    ("APIs", "API", "api", "apis", "ＡＰＩ", "API's"),
    ("e-mail", "email", "E-Mail", "e-mails", "eMail", "emails"),
    ("node.js", "Node.js", "nodejs", "NodeJS"),
    ("ana@example.com", "Ana@Example.COM", "<ana@example.com>", "mailto:ana@example.com"),
    ("2026-05-15", "2026/05/15", "2026.05.15", "2026-05-15T08:00"),
    ("résumé", "resume", "RÉSUMÉ", "re\u0301sume\u0301", "résumés"),
    ("naïve", "naive", "naïveté's naïve"),
    ("O’Brien", "o'brien", "OBrien"),
    ("l'utilisateur", "utilisateur", "L’Utilisateur", "l’utilisateur"),
    ("smørrebrød", "smorrebrod", "SMØRREBRØD"),
    ("Łódź", "lodz", "łódź"),
    ("cœur", "coeur"),
    ("Dampf\u00adschiff", "Dampfschiff"),
]  # fmt: skip


@pytest.mark.parametrize("ways", SAME, ids=[row[0] for row in SAME])
def test_the_same_thing_written_in_another_way_is_found(ways):
    for said, query in itertools.permutations(ways, 2):
        # (What else there is says that it is no guess: a word somebody holds is not corrected.)
        assert "holder" in found([note("holder", body=said), note("other", body=query)], query), (said, query)


def test_a_sign_that_makes_another_name_is_no_joint():
    for one, other in itertools.permutations(("C", "C++", "C#"), 2):
        assert not set(terms(one)) & set(terms(other))


@examples(150, 4000)
@hypothesis.given(st.lists(st.from_regex(r"[a-z]{3,8}", fullmatch=True), min_size=2, max_size=4))
def test_words_joined_in_any_way_give_the_same_terms(words):
    camel = "".join(word.title() for word in words)
    ways = [joint.join(words) for joint in "_-./:@&"] + [camel, camel[0].lower() + camel[1:], "_".join(words).upper()]
    assert {tuple(terms(way)) for way in ways} == {tuple(terms("-".join(words)))}
    assert set(terms(" ".join(words))) <= set(terms(camel))


# --- scripts -----------------------------------------------------------------------------------------------------

# A text, and pieces of it that find it.
UNSPACED = {
    "Han": ("我们用蓝色按钮发布新版本", ["发布", "新版本", "按钮", "蓝色按钮", "我们", "版"]),
    "Kana": ("デプロイはかようびにおこなう", ["デプロイ", "かようび", "ﾃﾞﾌﾟﾛｲ", "プ"]),
    "Kana and Han": ("毎週火曜日に本番へリリースする", ["火曜日", "本番", "リリース", "曜"]),
    "Hangul": ("배포는 화요일에 합니다", ["배포", "화요일", "화요일에", "배"]),
    "Thai": ("ทีมของเรานำขึ้นระบบทุกวันอังคาร", ["วันอังคาร", "ระบบ", "ทีม", "ก"]),
    "Lao": ("ທີມງານຂອງພວກເຮົານຳຂຶ້ນລະບົບທຸກວັນອັງຄານ", ["ວັນອັງຄານ", "ລະບົບ", "ທີມງານ", "ງ"]),
    "Khmer": ("ក្រុមរបស់យើងដាក់ឱ្យដំណើរការរៀងរាល់ថ្ងៃអង្គារ", ["ថ្ងៃអង្គារ", "ក្រុម", "ដំណើរការ", "យ"]),
    "Myanmar": ("ကျွန်ုပ်တို့အဖွဲ့သည်အင်္ဂါနေ့တိုင်းထုတ်ဝေသည်။နောက်တစ်ခုလည်းရှိသည်", ["အင်္ဂါနေ့", "ထုတ်ဝေ", "နောက်တစ်ခု", "တ"]),
}  # fmt: skip


@pytest.mark.parametrize("script", UNSPACED)
def test_in_a_script_without_spaces_any_piece_of_a_text_finds_it(script):
    said, pieces = UNSPACED[script]
    for query in (said, *pieces):
        assert found([note("other", body="nothing of it"), note("holder", body=said)], query)[:1] == ["holder"], query


@pytest.mark.parametrize("script", UNSPACED)
def test_a_long_run_is_found_by_its_end_too(script):
    said, pieces = UNSPACED[script]
    assert found([note("holder", body="".join(said.split()) * 20 + pieces[0])], pieces[0]) == ["holder"]
    assert set(terms(said * 3)) >= set(terms(said))


def test_what_is_glued_to_another_script_is_a_word_of_its_own():
    for said in ("用deploy.sh部署", "デプロイはdeploy.shで", "ใช้deploy.shครับ", "배포는deploy.sh로", "deploy.sh部署"):
        assert {"deploysh", "deploy", "sh"} <= set(terms(said)), said
        assert found([note("holder", body=said)], "deploy.sh") == ["holder"]
    assert terms("部:署") == terms("部 署")
    assert terms("部's") == terms("部")


MARKS = {
    "Hindi": ("उपयोगकर्ता को चाय पसंद है", ["चाय", "पसंद", "उपयोगकर्ता"]),
    "Arabic": ("المُسْتَخْدِمُ يُفَضِّلُ الشَّايَ", ["المستخدم", "الشاي", "يفضل", "المـستخدم"]),
    "Hebrew": ("שָׁלוֹם לְכֻלָּם", ["שלום", "שָׁלוֹם", "לכלם"]),
    "Vietnamese": ("Chúng tôi triển khai vào thứ ba, đi thôi", ["chung toi", "trien khai", "thứ ba", "thu ba", "di thoi", "ĐI"]),
    "Bengali": ("ব্যবহারকারী চা পছন্দ করেন", ["ব্যবহারকারী", "চা", "পছন্দ"]),
    "Tamil": ("பயனர் தேநீரை விரும்புகிறார்", ["பயனர்", "தேநீரை", "விரும்புகிறார்"]),
    "Greek": ("Ο χρήστης προτιμά τσάι", ["χρηστης", "ΤΣΑΙ", "τσάι", "προτιμα"]),
    "Russian": ("Ещё раз: чай нужен всем", ["еще", "ЧАЙ", "нужен"]),
}  # fmt: skip


@pytest.mark.parametrize("script", MARKS)
def test_marks_belong_to_their_words_and_may_be_left_out_where_people_do(script):
    said, queries = MARKS[script]
    for query in queries:
        # One who holds the word as it was typed, so that nothing is guessed.
        assert "holder" in found([note("holder", body=said), note("other", body=query)], query), query
    assert len(terms(said)) < 3 * len(said.split())  # no word fell apart at its marks


def test_a_long_word_with_marks_is_kept_whole():
    for first, then in ("कख", "কখ", "කඛ", "ကခ", "កខ"):
        word = first * 40 + then
        assert found([note("holder", body=word), note("other", body=first * 40)], then) in (["holder"], []), first
        assert found([note("holder", body=word), note("other", body=first * 40)], word)[0] == "holder", first
        assert terms(word) != terms(first * 40)


@examples(150, 4000)
@hypothesis.given(texts(6))
def test_however_unicode_writes_a_text_its_terms_are_the_same(text):
    once = unicodedata.normalize("NFKC", text)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert terms(unicodedata.normalize(form, once)) == terms(once)


@examples(100, 2000)
@hypothesis.given(st.text(st.sampled_from([chr(code) for code in range(0x21, 0x7F)] + [" "]), max_size=30))
def test_a_text_at_full_width_is_the_same_text(text):
    wide = "".join(chr(ord(char) + 0xFEE0) if char != " " else "\u3000" for char in text)
    assert terms(wide) == terms(text)


def test_neither_case_nor_accents_tell_words_apart():
    assert folded("Ça VA, Œuvre") == "ca va, oeuvre"
    assert folded("plain Text") == "plain text"
    assert folded("Straße") == folded("STRASSE") == "strasse"
    assert folded("İstanbul") == folded("istanbul")


# --- languages ---------------------------------------------------------------------------------------------------

# Short texts, as notes have them. The second of each is one sentence.
SPOKEN = {
    "english": ("We release on Tuesdays, because the team is there then. It must not be done by hand.", "The tests have to be green before we merge."),
    "german": ("Wir veröffentlichen dienstags, weil das Team dann da ist. Es darf nicht von Hand gemacht werden.", "Die Tests müssen grün sein, bevor wir das zusammenführen."),
    "french": ("Nous publions le mardi, parce que l'équipe est là. Il ne faut pas le faire à la main.", "Les tests doivent être verts avant que nous fusionnions."),
    "spanish": ("Publicamos los martes, porque el equipo está presente. No se debe hacer a mano, sino con la herramienta.", "Las pruebas tienen que estar en verde antes de que se una la rama."),
    "italian": ("Pubblichiamo il martedì, perché il gruppo è presente. Non si deve fare a mano, ma con lo strumento.", "Le prove devono essere verdi prima che il ramo sia unito alla base."),
    "portuguese": ("Publicamos às terças, porque a equipa está presente. Não se deve fazer à mão, mas com a ferramenta.", "Os testes têm de estar verdes antes que o ramo seja unido ao principal."),
    "dutch": ("Wij brengen op dinsdag uit, want het team is er dan. Het mag niet met de hand worden gedaan.", "De tests moeten groen zijn voor wij het samenvoegen."),
    "swedish": ("Vi släpper på tisdagar, för att laget är här då. Det får inte göras för hand och inte utan test.", "Testen ska vara gröna innan vi slår ihop det som är klart."),
    "finnish": ("Julkaisemme tiistaisin, koska tiimi on silloin paikalla. Sitä ei saa tehdä käsin, vaan se on tehtävä työkalulla.", "Testien on oltava vihreitä, ennen kuin haara ja runko ovat yksi."),
    "polish": ("Wydajemy we wtorki, bo zespół jest wtedy na miejscu. Nie można tego robić ręcznie, tylko przez narzędzie.", "Testy są zielone, zanim gałąź się łączy z tym, co jest na głównej."),
    "turkish": ("Salı günleri yayınlıyoruz, çünkü ekip o gün burada ve her şey hazır. Bu elle yapılmaz, bir araç ile yapılır.", "Testler yeşil değil ise bu dal için bir şey yapma."),
    "hungarian": ("Kedden adjuk ki, mert a csapat akkor van itt. Ezt nem kell kézzel, és nem is szabad.", "A tesztek zöldek, mert csak akkor lehet, ha minden kész."),
    "indonesian": ("Kami merilis pada hari Selasa, karena tim ada di sana. Itu tidak dapat dilakukan dengan tangan.", "Tes itu harus hijau untuk dapat digabungkan ke cabang yang utama."),
    "romanian": ("Publicăm marțea, pentru că echipa este acolo. Nu se face de mână, ci cu unealta care este în depozit.", "Testele sunt verzi când se unește ramura cu cea principală."),
}  # fmt: skip


@pytest.mark.parametrize("language", SPOKEN)
def test_languages_in_latin_letters_are_told_apart_by_their_small_words(language):
    for text in SPOKEN[language]:
        assert language_of(chunks(text)) == language, text


STRAY = [
    "The Schadenfreude of the team is great, and die Katze is what we call the build.",
    "Use the je ne sais quoi theme for the page; it is the default.",
    "Ana said: hasta la vista. We have to restart the server by hand.",
    "Deploys to la-1 and de-2 are done by Ana",
    "El Capitan is the oldest macOS we test on",
    "Run `docker run --rm -it -v /var:/var -e DE=1 image die`",
    "import os; a = [o for o in e if o]; print(a, e, i, o, u)",
    "x",
    "",
    "404",
    "Die hard",
    "de facto standard for CI",
]


@pytest.mark.parametrize("text", STRAY)
def test_english_with_stray_foreign_words_is_english(text):
    assert language_of(chunks(text)) == "english"


INFLECTED = {
    "german": ("Wir veröffentlichen die Versionen dienstags, und das ist gut so.", "Version"),
    "french": ("Nous publions les versions le mardi, et ce n'est pas une règle.", "versions publiées"),
    "spanish": ("Las publicaciones son los martes, pero no por la tarde.", "publicación"),
    "russian": ("Мы выпускаем версии по вторникам", "версия"),
    "arabic": ("نحن ننشر الإصدارات يوم الثلاثاء", "إصدارات"),
}


@pytest.mark.parametrize("language", INFLECTED)
def test_another_form_of_a_word_finds_it_in_its_language(language):
    said, query = INFLECTED[language]
    assert found([note("holder", body=said), note("other", body="We drink tea.")], query) == ["holder"]


def test_a_word_of_english_is_found_in_a_text_of_another_language():
    said = "Wir nutzen das Staging und testen die Deployments, bevor wir etwas veröffentlichen."
    assert language_of(chunks(said)) == "german"
    for query in ("deployment", "deployments", "staging"):
        assert found([note("holder", body=said), note("other", body="It is nothing.")], query) == ["holder"]


# --- what is asked -----------------------------------------------------------------------------------------------


def shown(query, languages=("english",)):
    return [word.shown for word in asked(query, languages)]


def test_small_words_are_dropped_from_queries_and_from_nothing_else():
    assert shown("how do I deploy the app?") == ["deploy", "app"]
    assert terms("how do I deploy the app?") == ["how", "do", "i", "deploy", "the", "app"]
    assert shown("What did we decide last week about two builds before that?") == [
        "decide",
        "last",
        "week",
        "two",
        "builds",
        "before",
    ]
    assert shown("wie wird das veröffentlicht", ("german", "english")) == ["veröffentlicht"]
    assert shown("die veröffentlichen") == ["die", "veröffentlichen"]  # nobody here writes German
    assert shown("как мы выпускаем") == ["выпускаем"]


def test_where_only_small_words_are_asked_they_are_looked_for():
    assert shown("to be or not to be") == ["not"]
    assert shown("what is it") == ["what", "is", "it"]
    assert shown("the") == ["the"]
    assert shown("") == shown("?! ...") == []


def test_each_word_of_a_query_is_asked_once():
    assert shown("deploy Deploys deploying") == ["deploy"]
    assert [word.terms for word in asked("the deploy_prod of DEPLOY-PROD deployProd")] == [
        ("deployprod",),
        ("deploy",),
        ("prod",),
    ]


def test_a_word_may_stand_as_in_any_language_of_the_notes():
    (word,) = asked("Versionen", ("german", "english"))
    assert word.shown == "Versionen"
    assert set(word.terms) == {*terms("Versionen", "german"), *terms("Versionen")}


# --- what is kept ------------------------------------------------------------------------------------------------


def engine_terms(side):
    """What FTS5 made of the terms it was handed."""

    def read(db):
        db.execute("CREATE VIRTUAL TABLE temp.held USING fts5vocab(main, words, row)")
        return {term for (term,) in db.execute("SELECT term FROM temp.held")}

    return side.run(read)


@examples(100, 3000)
@hypothesis.given(texts(8), st.sampled_from(LANGUAGES))
def test_no_term_holds_anything_the_engine_would_split_at(text, language):
    made = set(analyzer(language).terms(text))
    assert all(made)
    side = kept([Text("a", "", text)])
    held = {*analyzer(language_of(chunks(text))).terms(text)}
    assert engine_terms(side) == held
    vocabulary = side.run(lambda db: {term for (term,) in db.execute("SELECT term FROM vocabulary")})
    assert vocabulary == held


@examples(60, 2000)
@hypothesis.given(texts(8))
def test_every_term_of_a_text_finds_it(text):
    side = kept([Text("a", text, ""), Text("b", "", text), Text("c", "other", "words")])

    def matching(db, term):
        rows = db.execute(
            "SELECT key FROM words JOIN texts ON texts.id = words.rowid WHERE words MATCH ?", (f'"{term}"',)
        )
        return {key for (key,) in rows}

    for term in set(analyzer(language_of(chunks(text))).terms(text)):
        assert {"a", "b"} <= side.run(lambda db, term=term: matching(db, term)), term


def test_every_word_character_there_is_gives_terms_the_engine_keeps(scale):
    """All of Unicode (at a size that fits, what most people write in), alone and between letters."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("""CREATE VIRTUAL TABLE words USING fts5(body, tokenize = "ascii tokenchars '.+#'")""")
        db.execute("CREATE VIRTUAL TABLE held USING fts5vocab(words, row)")
        for begin in range(0, scale(0x3000, 0x110000), 0x1000):
            those = [chr(code) for code in range(begin, begin + 0x1000) if not 0xD800 <= code < 0xE000]
            made = set(ENGLISH.terms(" ".join(those))) | set(ENGLISH.terms(" ".join(f"é{char}1-2" for char in those)))
            db.execute("DELETE FROM words")
            db.execute("INSERT INTO words VALUES (?)", ("".join(f" {term}\n" for term in made),))
            assert {term for (term,) in db.execute("SELECT term FROM held")} == made, hex(begin)


@examples(60, 2000)
@hypothesis.given(texts(8), st.sampled_from(LANGUAGES))
def test_what_is_asked_for_is_among_what_is_kept(text, language):
    """A text asked for as it stands shares every term with itself, in whatever language it is kept."""
    told = language_of(chunks(text))
    here = {*analyzer(told).terms(text)}
    for word in asked(text, (told, "english")):
        assert here & set(word.terms), word


# --- what it costs -----------------------------------------------------------------------------------------------

HARD = {
    "marks": "\u0301", "marks of two classes": "\u0591\u05c4", "marks nobody listed": "\u1dc4\u20d8\u1dc2\u0f71",
    "half-width marks": "\uff9e\u0301\uff9f\u0591", "joints": "a-", "joints of digits": "1.2-", "joints of accents": "é-", "elisions": "l'", "capitals": "A",
    "humps": "aA", "plurals in capitals": "QWERTYs", "digits": "1", "letters and digits": "a1", "signs": "c++", "hashes": "#",
    "small letters": "s", "accents": "é", "Han": "部", "Han and ASCII": "部a", "Thai": "ก", "Myanmar": "က", "Tamil": "க", "Hindi": "क",
    "Arabic": "ا", "Turkish": "lar", "Finnish": "ä", "ligatures": "ﷺ", "emoji": "🎉", "emoji joined": "👨\u200d👩\u200d", "underscores": "_",
    "spaces": " ", "words": "word ", "all different": None,
}  # fmt: skip


def mega(piece):
    if piece is None:
        return " ".join(f"w{number}x" for number in range(130_000))
    return piece * (1_000_000 // len(piece))


@pytest.mark.parametrize("piece", HARD.values(), ids=HARD)
def test_any_text_is_analysed_in_linear_time(piece):
    """A megabyte: what is kept of it in the time a document may take, what is asked in that of a query."""
    text = mega(piece)
    began = time.process_time()
    found = chunks(text)
    for language in ("english", language_of(found)):
        Analyzer(language).of_all(found)
    kept_in = time.process_time() - began
    began = time.process_time()
    asked(text, ("german", "french", "english"))
    asked_in = time.process_time() - began
    assert kept_in < 8
    assert asked_in < 1


def test_a_term_is_never_longer_than_it_must_be():
    for piece in HARD.values():
        text = mega(piece)[:5_000]
        for language in ("english", "german", "turkish"):
            assert all(len(term) <= 128 for term in analyzer(language).terms(text))
