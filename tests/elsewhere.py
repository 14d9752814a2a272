"""Another process on the same notebook: `Elsewhere(book)` starts one and passes it calls, one at a time."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


class Elsewhere:
    """A process that opened a notebook and stays. Calling it makes the call there and waits for the answer."""

    def __init__(self, book, **env):
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tests.elsewhere", os.fspath(book)], cwd=ROOT, env={**os.environ, **env},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __call__(self, verb, *args, **named):
        return self.answer(self.ask(verb, *args, **named))

    def ask(self, verb, *args, **named):
        """Send a call and go on; `answer` waits for what came of it."""
        self._child.stdin.write(json.dumps([verb, args, named]) + "\n")
        self._child.stdin.flush()

    def answer(self, _=None):
        return json.loads(self._child.stdout.readline())

    @property
    def pid(self):
        return self._child.pid

    def close(self):
        self._child.stdin.close()
        self._child.stdout.close()
        self._child.wait(30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def plain(answer):
    """What a memory answered, as JSON holds it."""
    kind = type(answer).__name__
    if kind in ("Saved", "Forgotten"):
        return [kind, answer.name, list(answer.warnings)]
    if kind in ("Refused", "Conflict"):
        return [kind, answer.why]
    if kind == "Recall":
        return [[hit.name, hit.description, hit.excerpt, hit.trust] for hit in answer.hits]
    if kind == "Scan":
        return [[note.name, note.folder, note.stamp, note.body] for note in answer.notes]
    if kind == "Note":
        return [answer.name, answer.folder, answer.stamp, answer.body]
    if kind == "Listing":
        return answer.text
    if kind == "Status":
        return [answer.cache, [list(problem) for problem in answer.problems]]
    return answer


def main():
    from commonplace import open_memory

    memory = open_memory(sys.argv[1])
    for line in sys.stdin:
        verb, args, named = json.loads(line)
        try:
            answer = plain(getattr(memory, verb)(*args, **named))
        except Exception as problem:
            answer = [type(problem).__name__, str(problem)]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
