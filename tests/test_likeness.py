"""Likeness: a correction keeps its subject's words, another fact shares only small ones."""

import time
import unicodedata
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import examples, texts

from commonplace.note.likeness import alike

# A fact, and what somebody who corrects it could write.
CORRECTIONS = (
    ("Deploys run through ./deploy.sh", "Deploys run through ./release.sh"),
    ("Deploys run through ./deploy.sh, which refuses a dirty tree", "Deploy with ./deploy.sh"),
    ("Deploys run through ./deploy.sh", "deploys no longer run through ./deploy.sh but through CI"),
    ("The release freeze begins on 2026-05-15", "The release freeze begins on 2026-06-01"),
    ("Ana prefers ripgrep", "Ana prefers ripgrep with line numbers"),
    ("Ana prefers ripgrep", "ANA PREFERS RIPGREP."),
    ("Never mock the database in tests", "Mock the database in unit tests, never in integration tests"),
    ("The Grafana dashboard is at grafana.example.org", "The Grafana dashboard moved to metrics.example.org"),
    ("Deploy", "Deploys"),
    ("we deploy on Tuesdays", "deploys are on Tuesday"),
    ("Wir deployen dienstags mit deploy.sh", "Wir deployen mittwochs mit deploy.sh"),
    ("我们每周二部署到生产环境", "我们每周三部署到生产环境"),
    ("デプロイは火曜日に行う", "デプロイは水曜日に行う"),
    ("우리는 화요일에 배포한다", "우리는 수요일에 배포한다"),
    ("हम मंगलवार को परिनियोजन करते हैं", "हम बुधवार को परिनियोजन करते हैं"),
    ("ทีมประชุมทุกวันจันทร์", "ทีมประชุมทุกวันอังคาร"),
    ("نجتمع كل يوم اثنين", "نجتمع كل يوم ثلاثاء"),
    ("Мы деплоим по вторникам", "Мы деплоим по средам"),
    ("🎉", "🎉"),
)
# Facts of which no two are of one thing, in each language.
FACTS = (
    (
        "Deploys run through ./deploy.sh, which refuses a dirty tree",
        "Ana prefers ripgrep and wants line numbers",
        "The billing database lives in Frankfurt",
        "Release freeze begins on 2026-05-15",
        "Never mock the database in integration tests",
        "The on-call rota is in PagerDuty under Platform",
        "Reviews are one bundled pull request, not several",
        "CI caches wheels between jobs of one branch",
        "the of and to",
        "no",
    ),
    (
        "Wir deployen dienstags",
        "Die Datenbank liegt in Frankfurt",
        "Ana mag kurze Antworten",
        "Größe der Stichprobe ist dreißig",
    ),
    ("我们每周二部署", "数据库在法兰克福", "安娜喜欢简短的回答"),
    ("デプロイは火曜日に行う", "データベースはフランクフルトにある", "アナは短い返事を好む"),
    ("우리는 화요일에 배포한다", "데이터베이스는 프랑크푸르트에 있다", "아나는 짧은 답을 좋아한다"),
    ("हम मंगलवार को परिनियोजन करते हैं", "डेटाबेस फ्रैंकफर्ट में रहता है", "अना को छोटे उत्तर पसंद हैं"),
    ("நாங்கள் செவ்வாய்க்கிழமை வெளியிடுகிறோம்", "தரவுத்தளம் பிராங்பேர்ட்டில் உள்ளது"),
    ("ทีมประชุมทุกวันจันทร์", "ฐานข้อมูลอยู่ที่แฟรงก์เฟิร์ต"),
    ("نجتمع كل يوم اثنين", "قاعدة البيانات في فرانكفورت", "آنا تفضل الإجابات القصيرة"),
    ("כל יום שני יש פגישה", "מסד הנתונים בפרנקפורט"),
    ("Мы деплоим по вторникам", "База данных во Франкфурте", "Ана любит короткие ответы"),
    ("Κάνουμε deploy κάθε Τρίτη", "Η βάση δεδομένων είναι στη Φρανκφούρτη"),
    ("ကျွန်ုပ်တို့ အင်္ဂါနေ့ဖြန့်သည်", "ဒေတာဘေ့စ်သည် ဖရန့်ဖတ်တွင်ရှိ"),
    ("🎉", "🎊"),
    ("+ - *", "/ % &"),
    ("", "a fact"),
)
UNLIKE = [pair for group in FACTS for pair in combinations(group, 2)]


@pytest.mark.parametrize(("one", "two"), CORRECTIONS)
def test_a_correction_is_alike(one, two):
    assert alike(one, two)
    assert alike(two, one)


@pytest.mark.parametrize(("one", "two"), UNLIKE)
def test_another_fact_is_not(one, two):
    assert not alike(one, two)
    assert not alike(two, one)


@examples(60, 10_000)
@given(texts(8), texts(8))
def test_likeness_has_no_order_and_no_spelling(one, two):
    assert alike(one, one)
    assert alike(one, two) == alike(two, one)
    assert alike(unicodedata.normalize("NFD", one), unicodedata.normalize("NFC", two)) == alike(one, two)
    assert alike(f"  {one}\n", two) == alike(one, two)


WORDS = [f"{stem}{number}" for stem in ("deploy", "branch", "größe", "метка") for number in "abcdef"]


@examples(60, 10_000)
@given(st.permutations(WORDS), st.integers(1, 10), st.integers(0, 10))
def test_half_of_the_shorter_ones_words_is_the_measure(words, length, shared):
    shared = min(shared, length)
    one, two = words[:length], words[length - shared : length - shared + 12]
    assert alike(" ".join(one), " ".join(two)) is (shared * 2 >= length)


def test_words_that_say_nothing_do_not_count():
    assert not alike("The name of the tool is rg", "The day of the freeze is Thursday")
    assert not alike("we are to be in it", "they have the one")


@pytest.mark.parametrize("piece", ["a ", "日", "क ", "aé", "\u0301", "s", "_", "🎉", "ab" * 40 + " "])
def test_long_texts_take_no_time(piece):
    text = piece * (60_000 // len(piece))
    began = time.process_time()
    alike(text, text + "x")
    assert time.process_time() - began < 0.5
