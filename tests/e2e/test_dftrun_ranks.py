# SPDX-License-Identifier: MIT
"""dftrun in a job: the last rank to end prints the page of the whole job, once."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from tracing import DFTMERGE, DFTRUN, SECONDS, SHARED_MEMORY, environment, equal, need, ranks_here, run, true

WAIT = "import os, sys\nopen('in', 'rb').read()\nprint('ready', flush=True)\nsys.stdin.read()\nopen('in', 'rb').read()\n"


@pytest.fixture(scope="module", autouse=True)
def alone_on_the_node():
    with ranks_here(alone=True):  # it counts what ranks leave on the node
        yield


def launch(rank, size, name, **more):
    """The variables of Open MPI's launcher."""
    return environment(OMPI_COMM_WORLD_RANK=rank, OMPI_COMM_WORLD_SIZE=size, PMIX_NAMESPACE=name, **more)


class Rank:
    """A rank that reads a file, says that it is ready, and ends when it is told to."""

    def __init__(self, directory, rank, size, name, *options, program=None, before=(), env=None):
        command = program or [sys.executable, "-S", "-E", "-c", WAIT]
        self.process = subprocess.Popen([*before, DFTRUN, *options, "--", *command], cwd=directory,
                                        env=env or launch(rank, size, name), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if not program:
            equal(self.process.stdout.readline(), b"ready\n", f"rank {rank}")

    def end(self):
        """What it has printed on standard error."""
        err = self.process.communicate(timeout=SECONDS)[1].decode()
        self.code = self.process.returncode
        return err

    def kill(self):
        """dftrun itself is killed; its program ends with its input."""
        self.process.kill()
        self.end()


def job_id(directory, name="job"):
    return f"{name}-{directory.name}"


def shared_files():
    """Files of jobs in which nobody lives: other jobs may run beside this test."""
    left = set()
    for path in SHARED_MEMORY.glob(f"dftrun-{os.getuid()}-*"):
        try:
            with open(path, "r+b") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.add(path.name)
        except OSError:
            pass
    return left


def start(directory, size, name="job", **more):
    (directory / "in").write_text("x" * 1000)
    return [Rank(directory, rank, size, job_id(directory, name), **more) for rank in range(size)]


def is_whole(page, size):
    true(f"{size} processes" in page or re.search(rf"processes\s+{size}\b", page) or f"{size} ranks" in page,
         f"the page of all {size} ranks: {page}")
    true("Traces of all ranks" in page, page)


def test_the_last_rank_prints_the_whole_job(directory):
    before = shared_files()
    for order in ((0, 1, 2), (2, 0, 1)):
        ranks = start(directory, 3)
        pages = [ranks[r].end() for r in order]
        equal(pages[:2], ["", ""], "those that end first")
        is_whole(pages[2], 3)
        shutil.rmtree(directory / "traces")
    equal(shared_files() - before, set(), "files of the node")


def test_ranks_that_follow_each_other(directory):
    """Each ends before the next begins: nobody lives, and still not all were there."""
    before = shared_files()
    (directory / "in").write_text("x")
    for rank in range(3):
        page = Rank(directory, rank, 3, job_id(directory)).end()
        if rank < 2:
            equal(page, "", f"rank {rank}")
    is_whole(page, 3)
    equal([p.name for p in directory.rglob(".dftrun*")], [], "marks in the directory")
    equal(shared_files() - before, set(), "files of the node")


def test_many_ranks_end_at_once(directory):
    (directory / "in").write_text("x")
    for _ in range(4):
        ranks = [Rank(directory, rank, 12, job_id(directory), program=["cat", "in"]) for rank in range(12)]
        pages = [page for page in [rank.end() for rank in ranks] if page]
        equal(len(pages), 1, f"pages: {pages}")
        is_whole(pages[0], 12)
        shutil.rmtree(directory / "traces")


def test_a_rank_that_is_killed(directory):
    ranks = start(directory, 3)
    ranks[1].kill()
    equal(ranks[0].end(), "", "rank 0")
    is_whole(ranks[2].end(), 3)


def test_a_program_that_is_killed(directory):
    (directory / "in").write_text("x")
    ranks = [Rank(directory, rank, 2, job_id(directory), program=["sh", "-c", "cat in; kill -9 $$"]) for rank in range(2)]
    pages = [page for page in [rank.end() for rank in ranks] if page]
    equal([rank.code for rank in ranks], [-signal.SIGKILL] * 2, "how they ended")
    equal(len(pages), 1, f"pages: {pages}")
    is_whole(pages[0], 2)


def test_what_a_killed_job_has_left(directory):
    """The next job of the same name begins anew, though all of the first were killed."""
    before = shared_files()
    for rank in start(directory, 2):
        rank.kill()
    ranks = start(directory, 2)
    equal(ranks[0].end(), "", "rank 0")
    true("Traces of all ranks" in ranks[1].end(), "rank 1")
    equal(shared_files() - before, set(), "files of the node")


def test_what_other_jobs_have_left(directory):
    """The file of a job whose ranks were all killed goes with the last rank of the next job; those of others stay."""
    before = shared_files()
    for rank in start(directory, 2, "killed"):
        rank.kill()
    left = shared_files() - before
    equal(len(left), 1, f"what is left: {left}")
    other, ranks = start(directory, 2, "other"), start(directory, 2)
    equal(ranks[0].end(), "", "rank 0")
    is_whole(ranks[1].end(), 2)
    equal(shared_files() & left, set(), "what is left after the next job")
    equal(other[0].end(), "", "rank 0 of the other job")
    is_whole(other[1].end(), 2)


def test_two_jobs_in_one_directory(directory):
    first, second = start(directory, 2, "first"), start(directory, 2, "second")
    equal([first[0].end(), second[1].end()], ["", ""], "one rank of each job")
    for job in (first[1], second[0]):
        is_whole(job.end(), 2)


def test_two_torchruns_without_a_name(directory):
    """Both are called "none"; their ranks meet at different ports."""
    (directory / "in").write_text("x" * 1000)
    jobs = [[Rank(directory, rank, 2, "", env=environment(RANK=rank, WORLD_SIZE=2, LOCAL_WORLD_SIZE=2, TORCHELASTIC_RUN_ID="none",
                                                          MASTER_ADDR=directory.name, MASTER_PORT=port)) for rank in range(2)]
            for port in (29500, 29501)]
    equal([jobs[0][0].end(), jobs[1][1].end()], ["", ""], "one rank of each job")
    for rank in (jobs[0][1], jobs[1][0]):
        is_whole(rank.end(), 2)


# A process that starts two ranks as Hydra does, which tells them no name of the launch.
HYDRA = """import os, subprocess, sys
ranks = [subprocess.Popen(sys.argv[2:], env={**os.environ, "PMI_RANK": str(r), "PMI_SIZE": sys.argv[1], "MPI_LOCALNRANKS": "2"})
         for r in range(2)]
sys.exit(max(rank.wait() for rank in ranks))
"""


def hydra(directory, size, *command):
    (directory / "in").write_text("x")
    return subprocess.Popen([sys.executable, "-c", HYDRA, str(size), *command], cwd=directory, env=environment(),
                            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)


def test_two_launches_of_hydra(directory):
    """The ranks know each other by the process that has started them, also from inside a shell."""
    before = shared_files()
    for command in ((DFTRUN, "cat", "in"), ("sh", "-c", f"{DFTRUN} cat in; :")):
        launches = [hydra(directory, 2, *command) for _ in range(2)]
        for started in launches:
            page = started.communicate(timeout=SECONDS)[1].decode()
            equal((started.returncode, page.count("Traces of all ranks")), (0, 1), page)
            is_whole(page, 2)
        shutil.rmtree(directory / "traces")
    equal(shared_files() - before, set(), "files of the node")


def test_hydra_on_several_nodes(directory):
    """A process on each node starts the ranks there: nobody can know the launch."""
    page = hydra(directory, 4, DFTRUN, "cat", "in").communicate(timeout=SECONDS)[1]
    equal(page.count(b"\n"), 6, page.decode())
    true(b"the launcher does not name the job" in page, page.decode())


def test_a_rank_that_runs_several_programs(directory):
    (directory / "in").write_text("x")
    script = ["sh", "-c", f"cat in; {DFTRUN} -- cat in; cat in"]
    ranks = [Rank(directory, rank, 2, job_id(directory), program=script) for rank in range(2)]
    pages = [page for page in [rank.end() for rank in ranks] if page]
    equal(len(pages), 1, f"pages: {pages}")
    true("Traces of all ranks" in pages[0], pages[0])


def unshared(directory):
    """A command before dftrun that gives it a /dev/shm of its own, as another node has."""
    command = ["unshare", "-m", "sh", "-c", "mount -t tmpfs tmpfs /dev/shm && exec \"$@\"", "sh"]
    need("unshare")
    if run([*command, "true"], cwd=directory).code:
        pytest.skip("no file system can be mounted here")
    return command


def test_several_nodes_share_a_directory(directory):
    command = unshared(directory)
    for order in ((0, 1), (1, 0)):
        ranks = start(directory, 2, before=command)
        equal(ranks[order[0]].end(), "", "the first to end")
        is_whole(ranks[order[1]].end(), 2)
        equal([p.name for p in directory.rglob(".dftrun*")], [], "marks in the directory")
        shutil.rmtree(directory / "traces")
    ranks = [Rank(directory, r, 6, job_id(directory), program=["cat", "in"], before=command) for r in range(6)]
    pages = [page for page in [rank.end() for rank in ranks] if page]
    equal(len(pages), 1, f"pages: {pages}")
    is_whole(pages[0], 6)


def test_the_last_rank_cannot_be_known(directory):
    (directory / "in").write_text("x")
    for env in (environment(PMI_RANK=0, PMI_SIZE=2), environment(SLURM_PROCID=0, SLURM_JOB_ID=4, SLURM_STEP_ID=0),
                launch(0, 2, job_id(directory), OMPI_COMM_WORLD_LOCAL_SIZE=1)):
        done = run([DFTRUN, "cat", "in"], cwd=directory, env=env)
        equal((done.code, done.out, done.err.count(b"\n")), (0, b"x", 6), f"six lines: {done.err.decode()}")
        true(f"dftmerge {directory}/traces\n".encode() in done.err, done.err.decode())
    for env in (environment(PMI_RANK=1, PMI_SIZE=2), launch(1, 2, job_id(directory), OMPI_COMM_WORLD_LOCAL_SIZE=1)):
        equal(run([DFTRUN, "cat", "in"], cwd=directory, env=env), (0, b"x", b""), "rank 1")
    equal([p.name for p in directory.rglob(".dftrun*")], [], "marks in the directory")


def test_only_one_rank_is_traced(directory):
    """All others run without dftrun: nobody is the last of all ranks."""
    (directory / "in").write_text("x")
    done = run([DFTRUN, "cat", "in"], cwd=directory, env=launch(0, 4, job_id(directory), OMPI_COMM_WORLD_LOCAL_SIZE=4))
    true(b"not all ranks of this node have run under dftrun so far" in done.err, done.err.decode())
    done = run([DFTMERGE, "summary", directory / "traces"])
    true(done.code == 0 and b"cat in" in done.out, f"marks are in nobody's way: {done.err.decode()}")


def test_a_batch_script_is_no_rank(directory):
    (directory / "in").write_text("x")
    done = run([DFTRUN, "cat", "in"], cwd=directory, env=environment(SLURM_PROCID=0, SLURM_JOB_ID=4, SLURM_NTASKS=8))
    true(b"Traces: " in done.err, done.err.decode())


def test_a_job_of_slurm(directory):
    (directory / "in").write_text("x")
    ranks = [Rank(directory, r, 2, "", env=environment(SLURM_PROCID=r, SLURM_JOB_ID=f"77{os.getpid()}", SLURM_STEP_ID=1,
                                                       SLURM_STEP_NUM_TASKS=2, SLURM_STEP_TASKS_PER_NODE="2"))
             for r in range(2)]
    equal(ranks[0].end(), "", "rank 0")
    is_whole(ranks[1].end(), 2)


def test_one_json_of_the_job(directory):
    (directory / "in").write_text("x")
    ranks = [Rank(directory, rank, 2, job_id(directory), "--quiet", "--json", "page.json") for rank in range(2)]
    equal([rank.end() for rank in ranks], ["", ""], "--quiet")
    equal(json.loads((directory / "page.json").read_text())["ranks"], 2, "ranks")
    equal(sorted(p.name for p in directory.glob("page*")), ["page.json"], "what is there")


def test_under_mpirun(directory):
    need("mpirun")
    (directory / "in").write_text("x")
    before = shared_files()
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", DFTRUN, "--", "cat", "in"]
    plain = run([*command[:6], "true"], cwd=directory)
    if plain.code:
        pytest.skip(f"mpirun does not run here: {plain.err.decode().strip()}")
    done = run(command, cwd=directory)
    equal((done.code, done.out), (0, b"xxx"), f"code and output: {done.err.decode()}")
    equal(done.err.count(b"Traces of all ranks"), 1, done.err.decode())
    is_whole(done.err.decode(), 3)
    equal([p.name for p in directory.rglob(".dftrun*")], [], "marks in the directory")
    equal(shared_files() - before, set(), "files of the node")
