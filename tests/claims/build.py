"""Make a git repository from `repo.json`, the same one every time.

It knows files, commits, branches and tags. It does not know the notes: `check.py` does, and `--check` runs it.

    python tests/claims/build.py FOLDER     the repository in an empty folder; prints the commits' hashes
    python tests/claims/build.py --check    compares every label in notes.json with that repository
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
WHO = {"NAME": "Hafen", "EMAIL": "crew@hafen.example"}
# A person's own settings for git would change the hashes.
ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}


def load(name: str) -> dict:
    with open(os.path.join(HERE, name), encoding="utf-8") as stream:
        return json.load(stream)


def git(folder: str, *words: str, date: str = "2026-01-01T00:00:00Z") -> str:
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | ALONE
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_{key}": value for key, value in WHO.items()} | {f"GIT_{role}_DATE": date}
    done = subprocess.run(["git", *words], cwd=folder, env=env, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise SystemExit(f"git {' '.join(words)} in {folder} said: {done.stderr or done.stdout}")
    return done.stdout.rstrip("\n")


def write(folder: str, path: str, lines: list[str]) -> None:
    target = os.path.join(folder, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8", newline="\n") as stream:
        stream.write("\n".join(lines) + "\n")


def replace(folder: str, path: str, old: str, new: str) -> None:
    """Raises if `old` does not stand in the file exactly once: the script would mean something else than it says."""
    target = os.path.join(folder, path)
    with open(target, encoding="utf-8", newline="") as stream:
        text = stream.read()
    if text.count(old) != 1:
        raise SystemExit(f"{path} holds {old!r} {text.count(old)} times, not once: mend repo.json")
    write(folder, path, text.replace(old, new).rstrip("\n").split("\n"))


def change(folder: str, commit: dict) -> None:
    for old, new in commit.get("rename", {}).items():
        os.renames(os.path.join(folder, old), os.path.join(folder, new))
    for path in commit.get("delete", []):
        git(folder, "rm", "-q", "--", path)
    for path, lines in commit.get("write", {}).items():
        write(folder, path, lines)
    for path, target in commit.get("symlink", {}).items():
        os.symlink(target, os.path.join(folder, path))
    for edit in commit.get("replace", []):
        replace(folder, edit["path"], edit["old"], edit["new"])


def point(folder: str, ref: dict, hashes: list[str], date: str) -> None:
    at = hashes[ref.get("at", -1)]
    if "branch" in ref:
        git(folder, "branch", "-q", "--no-track", "-f", ref["branch"], at, date=date)
    elif "tag" in ref:
        words = ["-a", "-m", ref["message"]] if "message" in ref else []
        git(folder, "tag", "-f", *words, ref["tag"], at, date=date)
    elif "delete_branch" in ref:
        git(folder, "branch", "-q", "-D", ref["delete_branch"])
    else:
        git(folder, "tag", "-d", ref["delete_tag"])


def grow(folder: str) -> Iterator[str]:
    """The hash of each commit as it is made, so that a caller may write notes in between."""
    script = load("repo.json")
    os.makedirs(folder, exist_ok=True)
    if os.listdir(folder):
        raise SystemExit(f"{folder} is not empty: name a folder that is")
    git(folder, "init", "-q", "-b", "main")
    hashes: list[str] = []
    for commit in script["commits"]:
        date = commit["date"]
        if hashes:
            git(folder, "checkout", "-q", commit.get("on", "main"), "--")
        if "merge" in commit:
            git(folder, "merge", "-q", "--no-ff", "-m", commit["message"], commit["merge"], date=date)
        else:
            change(folder, commit)
            git(folder, "add", "-A")
            git(folder, "commit", "-q", "-m", commit["message"], date=date)
        hashes.append(git(folder, "rev-parse", "HEAD"))
        for ref in commit.get("refs", []):
            point(folder, ref, hashes, date)
        yield hashes[-1]
    for path, lines in script["untracked"].items():
        write(folder, path, lines)


def build(folder: str) -> list[str]:
    return list(grow(folder))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", help="where the repository goes; empty or not there yet")
    parser.add_argument("--check", action="store_true", help="check the labels in notes.json")
    said = parser.parse_args()
    if said.check:
        import check

        sys.exit(check.main())
    print("\n".join(build(said.folder or parser.error("name an empty folder, or say --check"))))
