# SPDX-License-Identifier: MIT
"""Job systems: with the variables that each gives its tasks, the library and dftrun know rank, size, job and run, and
the last rank prints the page of all. The variables are those that the systems' manuals list."""

import json
import subprocess
import sys

import pytest

from tracing import DFTRUN, SECONDS, dftmerge, environment, equal, ranks_here, run, tracing, true

SIZE = 4


@pytest.fixture(scope="module", autouse=True)
def ranks_are_here():
    with ranks_here():
        yield


def slurm(rank, size=SIZE, job=4711, step=0, **more):
    """A task of srun on one node."""
    return {"SLURM_JOB_ID": job, "SLURM_JOBID": job, "SLURM_STEP_ID": step, "SLURM_STEPID": step, "SLURM_PROCID": rank, "SLURM_LOCALID": rank,
            "SLURM_NODEID": 0, "SLURM_NTASKS": size, "SLURM_NPROCS": size, "SLURM_STEP_NUM_TASKS": size, "SLURM_STEP_NUM_NODES": 1,
            "SLURM_STEP_TASKS_PER_NODE": size, "SLURM_TASKS_PER_NODE": size, "SLURM_GTIDS": ",".join(map(str, range(size))),
            "SLURM_SUBMIT_DIR": "/home/u", **more}


def batch(**more):
    """The batch script itself, and what inherits its variables."""
    return {"SLURM_JOB_ID": 4711, "SLURM_PROCID": 0, "SLURM_LOCALID": 0, "SLURM_NODEID": 0, "SLURM_NTASKS": 16, "SLURM_TASKS_PER_NODE": "8(x2)",
            "SLURM_TASK_PID": 77, **more}


def array(rank, task=3, **more):
    """Each task of an array has a job id of its own."""
    return slurm(rank, job=4700 + task, SLURM_ARRAY_JOB_ID=4700, SLURM_ARRAY_TASK_ID=task, SLURM_ARRAY_TASK_COUNT=8, **more)


def heterogeneous(rank, **more):
    """Two components in one step: the leader's job id, ranks and size of the whole, and local ids of the component."""
    second = rank >= 1
    return slurm(rank, SLURM_HET_SIZE=2, SLURM_JOB_ID_HET_GROUP_0=4711, SLURM_JOB_ID_HET_GROUP_1=4712, SLURM_LOCALID=rank - second,
                 SLURM_NODEID=int(second), SLURM_STEP_TASKS_PER_NODE="3" if second else "1", **more)


def openmpi(rank, **more):
    return {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": SIZE, "OMPI_COMM_WORLD_LOCAL_RANK": rank, "OMPI_COMM_WORLD_LOCAL_SIZE": SIZE,
            "OMPI_COMM_WORLD_NODE_RANK": rank, "PMIX_RANK": rank, "PMIX_NAMESPACE": "prterun-n1-123@1", **more}


def flux(rank, **more):
    return {"FLUX_JOB_ID": "f2hKxP4mJ", "FLUX_TASK_RANK": rank, "FLUX_TASK_LOCAL_ID": rank, "FLUX_JOB_SIZE": SIZE, "FLUX_JOB_NNODES": 1, "PMI_RANK": rank,
            "PMI_SIZE": SIZE, "PMI_FD": 9, **more}


def jsrun(rank, **more):
    return {"LSB_JOBID": 912, "LSB_JOBINDEX": 0, "LSB_HOSTS": "batch1 n1 n1", "JSM_NAMESPACE_RANK": rank, "JSM_NAMESPACE_SIZE": SIZE,
            "JSM_NAMESPACE_LOCAL_RANK": rank, "JSM_NAMESPACE_LOCAL_SIZE": SIZE, **more}


def hydra(rank, **more):
    """mpiexec of MPICH or Intel MPI in a job of PBS."""
    return {"PBS_JOBID": "88.server", "PBS_NODEFILE": "/var/spool/pbs/aux/88.server", "PBS_O_WORKDIR": "/home/u", "PMI_RANK": rank, "PMI_SIZE": SIZE,
            "MPI_LOCALRANKID": rank, "MPI_LOCALNRANKS": SIZE, **more}


def pals(rank, **more):
    """mpiexec of Cray's PALS in a job of PBS."""
    return {"PBS_JOBID": "89.server", "PALS_RANKID": rank, "PALS_LOCAL_RANKID": rank, "PALS_LOCAL_SIZE": SIZE, "PALS_APID": "af3b", "PMI_RANK": rank,
            "PMI_SIZE": SIZE, **more}


def kubernetes(rank, **more):
    """A pod of an indexed job, with what docs/jobs.md adds."""
    return {"JOB_COMPLETION_INDEX": rank, "KUBERNETES_SERVICE_HOST": "10.0.0.1", "DFTRACER_WORLD_SIZE": SIZE, "DFTRACER_JOB_ID": "train-x7k", **more}


def torchrun(rank, restarts=0, name="none", **more):
    """A worker of torchrun, two a node."""
    return {"RANK": rank, "WORLD_SIZE": SIZE, "LOCAL_RANK": rank % 2, "LOCAL_WORLD_SIZE": 2, "GROUP_RANK": rank // 2, "GROUP_WORLD_SIZE": 2,
            "ROLE_RANK": rank, "ROLE_NAME": "default", "ROLE_WORLD_SIZE": SIZE, "MASTER_ADDR": "n1", "MASTER_PORT": 29400,
            "TORCHELASTIC_RUN_ID": name, "TORCHELASTIC_RESTART_COUNT": restarts, "TORCHELASTIC_MAX_RESTARTS": 3, **more}


def torchrun_by_srun(rank, **more):
    """One torchrun a node, started by srun: workers inherit the rank of their node."""
    return {**slurm(rank // 2, size=2), "SLURM_LOCALID": 0, "SLURM_STEP_TASKS_PER_NODE": "1(x2)", **torchrun(rank), **more}


# name: variables, local rank of rank 2, job, run by dftrun
SYSTEMS = {
    "slurm": (slurm, 2, "4711", "4711.0"),
    "slurm array": (array, 2, "4703", "4703.0"),
    "slurm heterogeneous": (heterogeneous, 1, "4711", "4711.0"),
    "slurm requeued": (lambda rank, **more: slurm(rank, SLURM_RESTART_COUNT=1, **more), 2, "4711", "4711.0-r1"),
    "mpirun in a batch script": (lambda rank, **more: batch(**openmpi(rank), **more), 2, "4711", "prterun-n1-123@1"),
    "flux": (flux, 2, "f2hKxP4mJ", "f2hKxP4mJ"),
    "jsrun": (jsrun, 2, "912", "912"),
    "jsrun in an array": (lambda rank, **more: jsrun(rank, **{**more, "LSB_JOBINDEX": 3}), 2, "912[3]", "912[3]"),
    "pbs": (hydra, 2, "88.server", "88.server"),
    "pbs on cray": (pals, 2, "89.server", "89.server"),
    "kubernetes": (kubernetes, None, "train-x7k", "train-x7k"),
    "torchrun": (torchrun, 0, "none", "none-n1-29400"),
    "torchrun restarted": (lambda rank, **more: torchrun(rank, restarts=2, **more), 0, "none", "none-n1-29400-r2"),
    "torchrun by srun": (torchrun_by_srun, 0, "4711", "4711-none-n1-29400"),
}


def traced(directory, name, variables):
    """What a trace says of a process with these variables."""
    env = tracing(directory / name / "t")
    env.update({key: str(value) for key, value in variables.items()})
    equal(run(["cat", directory / "in"], env=env).code, 0, "cat")
    return processes(directory / name)


def processes(place):
    return json.loads(dftmerge("ps", "--json", "--run", "all", place).out)["processes"]


def run_id(directory, variables):
    done = run([DFTRUN, "-o", directory / "ids", "--quiet", "--", "sh", "-c", "echo $DFTRACER_RUN_ID"], env=environment(**variables))
    return done.out.decode().strip()


def test_rank_size_and_job_of_each_system(directory):
    (directory / "in").write_text("x")
    for name, (variables, local, job, run_name) in SYSTEMS.items():
        [process] = traced(directory, name.replace(" ", "-"), variables(2))
        equal((process["rank"], process["local_rank"], process["world_size"], process["job"]), (2, local, SIZE, job), f"{name}: {process}")
        equal({run_id(directory, variables(rank)) for rank in range(SIZE)}, {run_name}, f"{name}: all ranks are one run")


def test_a_batch_script_is_no_rank(directory):
    (directory / "in").write_text("x")
    [process] = traced(directory, "script", batch())
    equal((process["rank"], process["job"]), (None, "4711"), str(process))
    [process] = traced(directory, "plain", {"RANK": 3})
    equal(process["rank"], None, "RANK alone may mean anything")


def test_starts_are_told_apart(directory):
    """Tasks of an array are jobs of their own, a requeued job is another run, and so is a restart of torchrun."""
    (directory / "in").write_text("x")
    for task in (1, 2):
        for rank in range(2):
            traced(directory, "array", array(rank, task))
    equal({(p["job"], p["rank"]) for p in processes(directory / "array")}, {(j, r) for j in ("4701", "4702") for r in range(2)}, "an array")
    for name, starts in (("requeue", [slurm(0), slurm(0, SLURM_RESTART_COUNT=1)]), ("torch", [torchrun(0), torchrun(0, restarts=1)]),
                         ("both", [torchrun_by_srun(0), torchrun_by_srun(0, SLURM_RESTART_COUNT=2)])):
        for variables in starts:
            found = traced(directory, name, variables)
        equal(len({process["run"] for process in found}), 2, f"{name}: {found}")
        equal(len({run_id(directory, variables) for variables in starts}), 2, f"{name}: by dftrun")


def test_the_page_begins_with_how_each_job_ended(directory):
    (directory / "in").write_text("x")
    write = "import os; f = open('f', 'wb', buffering=0); [(f.write(b'x'), os.fsync(f.fileno())) for i in range(1000)]; "
    for job, program in ((1, ["cat", "in"]), (2, [sys.executable, "-c", "open('in').read(); exit(3)"]), (3, [sys.executable, "-c", write + "os.kill(os.getpid(), 9)"])):
        run([DFTRUN, "-q", "-o", "t", "--", *program], cwd=directory, env=environment(SLURM_JOB_ID=job))
    lines = dftmerge("summary", directory / "t", env=environment(COLUMNS=200)).out.decode().splitlines()
    title, rows = lines[0], {line.split()[0]: line for line in lines[1:4]}
    equal((title.split()[0], list(rows)), ("job", ["3", "2", "1"]), "the newest is first")
    ended = {job: line[title.index("ended"):].split("  ")[0] for job, line in rows.items()}
    equal(ended, {"3": "SIGKILL", "2": "exit 3", "1": "exit"}, "how they ended")
    true("fsync" in rows["3"][title.index("first finding"):] and rows["1"].endswith(" -"), f"what is wrong: {lines[:4]}")


def test_the_last_rank_prints_the_page(directory):
    (directory / "in").write_text("x" * 100)
    for name, (variables, _, _, _) in SYSTEMS.items():
        ranks = [subprocess.Popen([DFTRUN, "-o", name.replace(" ", "-"), "--", "sh", "-c", "read line; exec cat in"], cwd=directory,
                                  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  # other tests, too, have a job 4711
                                  env=environment(**{key: f"{value}{directory.name[-8:]}" if key in IDS else value
                                                     for key, value in variables(rank).items()})) for rank in range(SIZE)]
        said = [process.communicate(b"\n", timeout=SECONDS)[1].decode() for process in ranks]
        pages = [text for text in said if "Traces of all ranks" in text]
        equal(len(pages), 1, f"{name}: one page: {said}")
        true(f"{SIZE} of {SIZE} ranks" in " ".join(pages[0].split()) or f"Ranks: {SIZE}" in pages[0], f"{name}: of all ranks: {pages[0]}")


IDS = ("SLURM_JOB_ID", "PMIX_NAMESPACE", "FLUX_JOB_ID", "LSB_JOBID", "PBS_JOBID", "DFTRACER_JOB_ID", "MASTER_ADDR")
