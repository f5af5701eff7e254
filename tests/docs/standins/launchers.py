# SPDX-License-Identifier: MIT
"""Launchers of ranks, and job systems."""

import os
import pathlib
import re
import shlex
import sys

from base import PROGRAM, RANKS, fail, number, one, parse, real, run, run_ranks


def slurm(rank, count):
    return {"SLURM_JOB_ID": 4711, "SLURM_JOBID": 4711, "SLURM_STEP_ID": 0, "SLURM_PROCID": rank, "SLURM_LOCALID": rank,
            "SLURM_NODEID": 0, "SLURM_NTASKS": count, "SLURM_JOB_NAME": "job", "SLURM_NNODES": 1}


def flux_rank(rank, count):
    return {"FLUX_JOB_ID": "f2Xy9", "FLUX_TASK_RANK": rank, "FLUX_TASK_LOCAL_ID": rank, "FLUX_JOB_SIZE": count, "FLUX_JOB_NNODES": 1}


def lsf(rank, count):
    return {"LSB_JOBID": 4711, "JSM_NAMESPACE_RANK": rank, "JSM_NAMESPACE_LOCAL_RANK": rank, "JSM_NAMESPACE_SIZE": count,
            "OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_LOCAL_RANK": rank, "OMPI_COMM_WORLD_SIZE": count}


def open_mpi(rank, count):
    return {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_LOCAL_RANK": rank, "OMPI_COMM_WORLD_SIZE": count}


def torch_rank(rank, count):
    return {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "TORCHELASTIC_RUN_ID": "none"}


SLURM = """-n --ntasks -N --nodes -c --cpus-per-task --ntasks-per-node -p --partition -t --time -J --job-name -A --account -q --qos
 -o --output -e --error --mem --mem-per-cpu -G --gpus --gpus-per-node --gpus-per-task --gres --mpi --export --het-group -w --nodelist
 -x --exclude -C --constraint --cpu-bind --distribution -m -D --chdir -d --dependency --array -a --signal --tmp --bcast --wrap"""
SLURM_FLAGS = "--exclusive -l --label -u --unbuffered --parsable -Q --quiet -W --wait --requeue --no-requeue --overlap"
FLUX = """-n --ntasks -N --nodes -c --cores-per-task -g --gpus-per-task -t --time-limit -q --queue --job-name --output --error
 --env -x -o --setopt --cwd --cc"""
LSF = "-n -nnodes -W -P -J -o -e -q -R -M -alloc_flags -a -g -c -r -d -b -l --nrs --tasks_per_rs --cpu_per_rs --gpu_per_rs --env -E -p --np"
PBS = "-l -N -q -o -e -j -A -J -v -m -M -W -S -t -P"


def srun(words):
    """Parts of a heterogeneous job are parted by a colon."""
    parts, part = [], []
    for word in [*words, ":"]:
        if word == ":":
            parts, part = [*parts, part], []
        else:
            part.append(word)
    code = 0
    for words in parts:
        options, command = parse(words, SLURM, SLURM_FLAGS)
        if not {"--ntasks", "-n"} & set(options):
            options["-n"] = [os.environ.get("SLURM_NTASKS", "1")]
        code = max(code, run_ranks(number(options, "--ntasks", "-n"), command, slurm))
    return code


def script_of(words, sign, valued, flags=""):
    """Runs a script, after its lines of options are looked at."""
    if not words or not os.path.isfile(words[0]):
        fail(f"no script {words[:1]}")
    text = pathlib.Path(words[0]).read_text()
    for line in re.findall(rf"^{sign}[ :]+(.*?)(?:\s+#.*)?$", text, re.MULTILINE):
        rest = parse(shlex.split(line), valued, flags)[1]
        if rest:
            fail(f"{words[0]}: {sign} {line}: {rest} is no option")
    first = text.splitlines()[0]
    if not first.startswith("#!"):
        fail(f"{words[0]} does not begin with #!/bin/sh")
    return [*first[2:].split(), *words]


def sbatch(words):
    options, words = parse(words, SLURM, SLURM_FLAGS)
    command = ["sh", "-c", one(options, "--wrap")] if one(options, "--wrap") else script_of(words, "#SBATCH", SLURM, SLURM_FLAGS)
    tasks = {"SLURM_JOB_ID": "4711", "SLURM_JOB_NAME": "job", "SLURM_NTASKS": "2", "SLURM_SUBMIT_DIR": os.getcwd(), "SLURM_JOB_NODELIST": "node1"}
    asked = one(options, "--array", "-a") or (not one(options, "--wrap") and "--array" in pathlib.Path(words[0]).read_text())
    if not asked:
        return run(command, **tasks)
    return max(run(command, SLURM_ARRAY_JOB_ID="4711", SLURM_ARRAY_TASK_ID=str(task), **tasks) for task in range(2))


def flux(words):
    if words[:2] == ["job", "last"]:
        print(os.environ.get("FLUX_JOB_ID", "f2Xy9"))
        return 0
    if not words or words[0] not in ("run", "submit", "batch", "alloc"):
        fail(f"flux {words[:1]} is not known. If there is such a command, add it to tests/docs/standins")
    options, command = parse(words[1:], FLUX, "--exclusive --wait --watch -l --label-io --unbuffered -v")
    if words[0] in ("batch", "alloc"):
        return run(script_of(command, "# ?flux", FLUX) if words[0] == "batch" else command, FLUX_JOB_ID="f2Xy9", FLUX_URI="local:///none")
    return run_ranks(number(options, "--ntasks", "-n"), command, flux_rank)


def jsrun(words):
    options, command = parse(words, LSF, "--smpiargs -I")
    return run_ranks(number(options, "--np", "-p", "--nrs", "-n"), command, lsf)


def bsub(words):
    options, command = parse(words, LSF, "-Is -I -K -x -B -N")
    if not command:
        pathlib.Path("standin.lsf").write_text(sys.stdin.read())
        command = script_of(["standin.lsf"], "#BSUB", LSF, "-x -B -N")
    return run(command, LSB_JOBID="4711", LSB_JOBNAME="job", LSB_HOSTS="node1 node1")


def qsub(words):
    options, command = parse(words, PBS, "-V -I -X -h -z")
    return run(script_of(command, "#PBS", PBS, "-V"), PBS_JOBID="4711.server", PBS_JOBNAME="job", PBS_O_WORKDIR=os.getcwd(), PBS_NODEFILE="/dev/null")


def torchrun(words):
    options, command = parse(words, "--nproc-per-node --nproc_per_node --nnodes --node-rank --rdzv-backend --rdzv-endpoint --rdzv-id "
                             "--master-addr --master-port",
                             "--standalone --no-python -m --module")
    if "--no-python" not in options:
        command = ["python3", *(["-m"] if {"-m", "--module"} & set(options) else []), *command]
    return run_ranks(number(options, "--nproc-per-node", "--nproc_per_node"), command, torch_rank)


def mpirun(words):
    """The real one, with fewer ranks."""
    at = next((i for i, word in enumerate(words) if word in ("-n", "-np", "--np")), None)
    count = min(int(words[at + 1]), RANKS) if at is not None else 1
    if real(PROGRAM):
        return run([real(PROGRAM), *words[:at], "-n", str(count), *words[at + 2:]] if at is not None else [real(PROGRAM), *words])
    options, command = parse(words, "-n -np --np -x -genv -ppn --map-by --bind-to -host --host", "--oversubscribe --allow-run-as-root")
    os.environ.update(pair.split("=", 1) for pair in options.get("-x", []) if "=" in pair)
    return run_ranks(count, command, open_mpi)


PROGRAMS = {"srun": srun, "sbatch": sbatch, "flux": flux, "jsrun": jsrun, "bsub": bsub, "qsub": qsub, "torchrun": torchrun, "mpirun": mpirun,
            "mpiexec": mpirun, "module": lambda words: 0}
