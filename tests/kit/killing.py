"""Work that is killed before each thing it does to a file of a folder, or at any moment.

Python tells of every file that is opened, renamed, linked or removed before it happens. So the
moments are the same in every run, and none between two steps is missed. What the engine writes lies
between them: moments that are drawn find that too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sizes import FULL

AT_ANY_MOMENT = """
import os, random, shutil, signal, sys, time
from pathlib import Path
template, place, tests = map(Path, sys.argv[1:4])
sys.path.insert(0, str(tests))
chance = random.Random(int(sys.argv[5]))

WORK

def attempt(name, kill_after_s=None):
    folder = shutil.copytree(template, place / name)
    began = time.monotonic()
    child = os.fork()
    if not child:
        work(folder)
        sys.stdout.flush()
        os._exit(0)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if kill_after_s is None and status:
        sys.exit("it did not come to its end")
    return time.monotonic() - began

seconds = attempt("whole")
for number in range(int(sys.argv[4])):
    attempt(f"{number:03}", seconds * chance.random())
"""
SERVER = """
import os, re, shutil, signal, sys
from pathlib import Path
template, place, tests = map(Path, sys.argv[1:4])
about = re.compile(sys.argv[4])
sys.path.insert(0, str(tests))
EVENTS = {"open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.truncate"}

WORK

def attempt(moment):
    folder = shutil.copytree(template, place / f"{moment:03}")
    done = 0
    def watch(event, args):
        nonlocal done
        if event not in EVENTS or not str(args[0]).startswith(str(folder)):
            return
        if about.search(os.path.basename(args[0])):
            done += 1
            if done == moment:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(watch)
    work(folder)

for moment in range(1, 1000):
    child = os.fork()
    if not child:
        attempt(moment)
        sys.stdout.flush()
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
else:
    sys.exit("it never came to its end")
"""
"""Imports everything once; each attempt is a fork of it, which has no thread and no store open."""


def killed_everywhere(template: Path, place: Path, work: str, about: str) -> list[Path]:
    """Do `work(folder)` on copies of a folder, killed a moment later each time.

    `work` is Python that defines it. The moments are those at files whose names match `about`; all
    there are with `CARDOFFERS_TESTS=full`. Returns the copies as they were left; the last came to
    its end.
    """
    place.mkdir()
    server = SERVER.replace("WORK", work)
    about = "" if FULL else about
    words = [sys.executable, "-c", server, template, place, Path(__file__).parent, about]
    subprocess.run([str(word) for word in words], check=True)
    return sorted(place.iterdir())


def killed_at_any_moment(
    template: Path, place: Path, work: str, times: int, seed: int
) -> tuple[Path, list[Path]]:
    """Do `work(folder)` on copies of a folder, killed at moments that are drawn.

    Returns the copy on which it came to its end, and those that were left.
    """
    place.mkdir()
    server = AT_ANY_MOMENT.replace("WORK", work)
    words = [sys.executable, "-c", server, template, place, Path(__file__).parent, times, seed]
    subprocess.run([str(word) for word in words], check=True)
    return place / "whole", sorted(each for each in place.iterdir() if each.name != "whole")
