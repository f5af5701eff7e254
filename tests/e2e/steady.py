# SPDX-License-Identifier: MIT
"""A traced program that does what a test tells it to, and rests in between."""

import subprocess

from tracing import SECONDS, compile_program, equal, tracing


class Steady:
    def __init__(self, directory, name="steady", place="traces", arguments=(), **settings):
        program = directory / "steady"
        if not program.exists():
            compile_program("steady.c", program)
        self.place = directory / place
        self.file = directory / f"{name}.data"
        self.process = subprocess.Popen([program, self.file, *map(str, arguments)], cwd=directory, env=tracing(self.place / name, **settings),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(SECONDS)
        self.process.stdin.close()
        self.process.stdout.close()

    def start(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def do(self, line):
        """Returns when it is done, and the program rests again."""
        self.start(line)
        equal(self.process.stdout.read(1), b".", line)

    def end(self, line="e"):
        self.start(line)
        return self.process.wait(SECONDS)
