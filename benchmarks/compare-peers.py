#!/usr/bin/env python3
"""Times this project's host engine and other programs in turns, and prints one Markdown table of ratios.

    benchmarks/compare-peers.py --models FOLDER [--llama-cpp FOLDER] [--llama2c FOLDER] [--llmc COMMAND] [--llama3-java COMMAND]
                                               [--pytorch PYTHON]

A peer is measured where it is given; nothing here builds or downloads one. Weights are random, as speed does not depend on
them. FOLDER of --models holds a file per shape and type: SHAPE-TYPE.gguf (llama.cpp, llama3.java) and SHAPE-TYPE.bin
(llama2.c's checkpoint versions 0 and 2, llm.c's), TYPE being f32, f16, bf16 or q8; a missing file is a row not measured.
For PyTorch, models are made in memory.

    --llama-cpp FOLDER     holds llama-bench
    --llama2c FOLDER       holds run, runq and tokenizer.bin, built with OpenMP
    --llmc COMMAND         llm.c and llama3.java have no benchmark of their own: COMMAND MODEL TEST REPETITIONS calls their
    --llama3-java COMMAND  forward pass after a warm-up, and prints a line "tokens/s: N" for each repetition
    --pytorch PYTHON       a Python with torch and transformers, in which time-pytorch.py, beside this file, is run

In each round ours runs, then every peer on the same shape, type, threads and tests; a ratio is ours / theirs of the same
round, so that a machine that changes its pace changes both. All programs are bound to as many processors as they have
threads. A figure is the median of a process's repetitions; the table has the medians of the rounds.

What is not alike: llama2.c feeds prompts token by token, so only its decoding is timed; it and llama3.java sample greedily
within the time; llm.c has no cache, so its tgN is the forward pass of one position, N times, and its ppN computes the logits
of every position; llama.cpp keeps its cache in float16. PyTorch, eager and greedy, rounds activations to bf16 where weights are
bf16. It is not measured as int8: its dynamic quantization has one scale for a tensor, where int8 and q8 have one for each 32
inputs, and leaves the layers of transformers' GPT-2, which are no torch.nn.Linear, in float32.

Exits with 0 if all went well, 1 if a program failed (the table has the others' figures), 2 after a wrong call.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shlex
import signal
import statistics
import subprocess
import sys
from dataclasses import dataclass

TIME_PYTORCH = pathlib.Path(__file__).resolve().with_name("time-pytorch.py")
ROOT = TIME_PYTORCH.parent.parent

# Our type, and the peers' types that it is held against.
TYPES = {"f32": ("f32",), "bf16": ("f16", "bf16"), "int8": ("q8",)}

# Busy processors from which figures are not to be trusted.
BUSY = 0.5


@dataclass(frozen=True)
class Shape:
    """positions: most of a test; repetitions: how often a process repeats a test, so that it lasts for a second or so."""

    family: str
    positions: int
    repetitions: int


SHAPES = {
    "gpt2-124M": Shape("gpt2", 1024, 3),
    "tinyllama-1.1B": Shape("llama", 2048, 1),
    "stories15M": Shape("llama", 256, 10),
}


class Failed(Exception):
    """A program ended with an error, or printed what nobody understands."""


class NotMeasured(Exception):
    """A peer lacks something that it needs."""


@dataclass(frozen=True)
class Job:
    """What one process measures; the type is that of the program it is for."""

    shape: str
    type: str
    threads: int
    tests: tuple[str, ...]
    repetitions: int

    def tokens(self, phase):
        return [int(test[2:]) for test in self.tests if test.startswith(phase)]

    def words(self):
        return f"{self.shape} {self.type}, {self.threads} thread{'s' if self.threads > 1 else ''}"


class Runner:
    """Runs programs bound to processors, one at a time."""

    def __init__(self, limit_seconds):
        self.limit_seconds = limit_seconds
        self.processors = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []

    def output(self, command, threads, **environment):
        """Returns (stdout, stderr)."""

        def bind():
            if self.processors:
                os.sched_setaffinity(0, self.processors[:threads])

        variables = {**os.environ, "OMP_NUM_THREADS": str(threads), **environment}
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self.limit_seconds,
                env=variables,
                preexec_fn=bind,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"{shlex.join(command)} ran for more than {self.limit_seconds} s") from None
        except OSError as error:
            raise Failed(f"{shlex.join(command)}: {error.strerror}") from None
        if done.returncode != 0:
            last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
            raise Failed(f"{shlex.join(command)} ended with {done.returncode}: {last}")
        return done.stdout, done.stderr


def from_json(text, command):
    try:
        return json.loads(text)
    except ValueError:
        raise Failed(f"{shlex.join(command)} printed no JSON: {text.strip()[:80]!r}") from None


def rates(text, pattern, command):
    found = [float(each) for each in re.findall(pattern, text)]
    if not found:
        raise Failed(f"{shlex.join(command)} printed no tokens/s: {text.strip()[-80:]!r}")
    return found


class Ours:
    def __init__(self, program, warm_up):
        self.program = program
        self.warm_up = warm_up
        self.environment = {}
        self.limits = {}  # threads: measured read bandwidths, GB/s

    def measure(self, job, runner):
        """Returns {test: (tokens/s, share of the limit that is reached, its name)}."""
        command = [str(self.program), "bench", job.shape, "-q", "-e", "host", "--dtype", job.type]
        command += ["--threads", str(job.threads), "-r", str(job.repetitions), "--format", "json"]
        for option, phase in (("-p", "pp"), ("-n", "tg")):
            command += [option, ",".join(map(str, job.tokens(phase))) or "0"]
        if self.warm_up is not None:
            command += ["--warmup", str(self.warm_up)]
        result = from_json(runner.output(command, job.threads)[0], command)
        self.environment = result["environment"]
        figures = {}
        for row in result["results"]:
            read, peak = row["read_share"], row["peak_share"]
            limit = (read, "read") if row["test"].startswith("tg") else (peak, "peak")
            figures[row["test"]] = (statistics.median(row["speed_samples"]), *limit)
            self.limits.setdefault(job.threads, []).append(row["read_limit_gb_per_s"])
        return figures


class Peer:
    """A program that is compared. Subclasses measure; a test that one does not know is left out of the result."""

    name = ""
    option = ""
    families = ("gpt2", "llama")
    types = ("f32", "f16", "bf16", "q8")
    suffix = ".gguf"

    def __init__(self, where, models):
        self.where = where
        self.models = models

    def does(self, job):
        return SHAPES[job.shape].family in self.families and job.type in self.types

    def measure(self, job, runner):
        """Returns {test: tokens/s}."""
        return {test: statistics.median(samples) for test, samples in self.samples(job, runner)}

    def samples(self, job, runner):
        """Yields (test, tokens/s of each repetition)."""
        raise NotImplementedError

    def model(self, job):
        """The name of the job's model file."""
        model = self.models / f"{job.shape}-{job.type}{self.suffix}"
        if not model.exists():
            raise NotMeasured(f"no {model.name}")
        return str(model)


class LlamaCpp(Peer):
    name, option = "llama.cpp", "--llama-cpp"

    def samples(self, job, runner):
        command = [str(pathlib.Path(self.where) / "llama-bench"), "-m", self.model(job), "-t", str(job.threads)]
        command += ["-r", str(job.repetitions), "-o", "json"]
        for option, phase in (("-p", "pp"), ("-n", "tg")):
            command += [option, ",".join(map(str, job.tokens(phase))) or "0"]
        for row in from_json(runner.output(command, job.threads)[0], command):
            prompt = row["n_prompt"]
            yield (f"pp{prompt}" if prompt else f"tg{row['n_gen']}"), row["samples_ts"]


class Llama2C(Peer):
    name, option = "llama2.c", "--llama2c"
    families, types, suffix = ("llama",), ("f32", "q8"), ".bin"

    def samples(self, job, runner):
        folder = pathlib.Path(self.where)
        program = folder / ("run" if job.type == "f32" else "runq")
        for tokens in job.tokens("tg"):
            # It does not time the first token.
            command = [str(program), self.model(job), "-z", str(folder / "tokenizer.bin"), "-t", "0", "-n", str(tokens + 1)]
            samples = []
            for _ in range(job.repetitions):
                samples += rates(runner.output(command, job.threads)[1], r"achieved tok/s: ([\d.]+)", command)
            yield f"tg{tokens}", samples


class Timed(Peer):
    """A program without a benchmark, called by a command that times it."""

    def samples(self, job, runner):
        for test in job.tests:
            command = [*shlex.split(self.where), self.model(job), test, str(job.repetitions)]
            java = f"-XX:ActiveProcessorCount={job.threads}"
            text = runner.output(command, job.threads, JDK_JAVA_OPTIONS=java)[0]
            yield test, rates(text, r"tokens/s: ([\d.]+)", command)


class LlmC(Timed):
    name, option = "llm.c", "--llmc"
    families, types, suffix = ("gpt2",), ("f32",), ".bin"


class Llama3Java(Timed):
    name, option = "llama3.java", "--llama3-java"
    families = ("llama",)


class PyTorch(Peer):
    name, option = "PyTorch", "--pytorch"
    types = ("f32", "bf16")

    def samples(self, job, runner):
        command = [self.where, str(TIME_PYTORCH), job.shape, job.type, *job.tests]
        command += ["--threads", str(job.threads), "--repetitions", str(job.repetitions)]
        text = runner.output(command, job.threads)[0]
        for test in job.tests:
            yield test, rates(text, rf"(?m)^{test} tokens/s: ([\d.]+)", command)


PEERS = (LlamaCpp, Llama2C, LlmC, Llama3Java, PyTorch)


class Comparison:
    """Collects figures of rounds, and prints what came out."""

    def __init__(self, ours, peers, runner):
        self.ours = ours
        self.peers = peers
        self.runner = runner
        self.figures = []  # one per round: {(program, type, shape, threads, test): tokens/s}
        self.shares = {}  # (type, shape, threads, test): [(share, name of the limit)]
        self.failures = {}  # message: how often
        self.gaps = {}  # why not measured: None
        self.load = os.getloadavg()[0]

    def round(self, jobs):
        self.figures.append({})
        for job in jobs:
            self.say(f"round {len(self.figures)}: {job.words()}: ours")
            with self.noting("ours"):
                for test, (rate, share, limit) in self.ours.measure(job, self.runner).items():
                    self.put("ours", job, test, rate)
                    self.shares.setdefault((job.type, job.shape, job.threads, test), []).append((share, limit))
            for theirs in TYPES[job.type]:
                peer_job = Job(job.shape, theirs, job.threads, job.tests, job.repetitions)
                for peer in self.peers:
                    if peer.does(peer_job):
                        self.say(f"round {len(self.figures)}: {peer_job.words()}: {peer.name}")
                        with self.noting(peer.name):
                            for test, rate in peer.measure(peer_job, self.runner).items():
                                self.put(peer.name, peer_job, test, rate)

    def put(self, program, job, test, rate):
        self.figures[-1][program, job.type, job.shape, job.threads, test] = rate

    @contextlib.contextmanager
    def noting(self, program):
        try:
            yield
        except Failed as error:
            message = f"{program} failed: {error}"
            self.failures[message] = self.failures.get(message, 0) + 1
            self.say(message)
        except NotMeasured as gap:
            self.gaps[f"{program}: {gap}"] = None

    def rounds(self, program, *key):
        return [each.get((program, *key)) for each in self.figures]

    def table(self, jobs, missing):
        names = [peer.name for peer in self.peers]
        lines = [
            row(["shape", "test", "threads", "type: ours / theirs", "ours", *names]),
            row(["---", "---", "---:", "---", "---:"] + ["---:"] * len(names)),
        ]
        for job in jobs:
            for test in job.tests:
                where = (job.shape, job.threads, test)
                for theirs in TYPES[job.type]:
                    cells = [self.cell(peer, job.type, theirs, where) for peer in self.peers]
                    types = f"{job.type} / {theirs}"
                    lines.append(row([job.shape, test, job.threads, types, self.our_cell(job.type, where), *cells]))
        return "\n".join([*lines, "", *self.notes(missing)])

    def our_cell(self, our_type, where):
        rates = [rate for rate in self.rounds("ours", our_type, *where) if rate is not None]
        if not rates:
            return "–"
        shares = self.shares[our_type, *where]
        share = statistics.median(share for share, _ in shares)
        return f"{number(statistics.median(rates))} ({share:.0%} of {shares[0][1]})"

    def cell(self, peer, our_type, their_type, where):
        """Their tokens/s, and ours / theirs with the least and the greatest of the rounds."""
        theirs = self.rounds(peer.name, their_type, *where)
        measured = [rate for rate in theirs if rate is not None]
        if not measured:
            return "–"
        ours = self.rounds("ours", our_type, *where)
        ratios = [mine / other for mine, other in zip(ours, theirs) if mine is not None and other is not None]
        if not ratios:
            return number(statistics.median(measured))
        return (
            f"{number(statistics.median(measured))} · **{statistics.median(ratios):.2f}**"
            f" ({min(ratios):.2f}–{max(ratios):.2f})"
        )

    def notes(self, missing):
        rounds = f"{len(self.figures)} round{'s' if len(self.figures) > 1 else ''}"
        yield f"Tokens/s, median of {rounds}; **bold**: ours / theirs, (least–greatest of the rounds); –: not measured."
        if self.ours.environment:
            facts = self.ours.environment
            yield f"Machine: {facts.get('processor', '?')}, {facts.get('cores', '?')} cores; JDK {facts.get('JDK', '?')}."
        if self.load > BUSY:
            yield f"The machine was busy when it began (load {self.load:.2f}): not the figures of a quiet one."
        for threads, values in sorted(self.ours.limits.items()):
            yield (
                f"Read bandwidth beside it with {threads} thread{'s' if threads > 1 else ''}: median"
                f" {statistics.median(values):.1f} GB/s ({min(values):.1f}–{max(values):.1f})."
            )
        for name in missing:
            yield f"Not measured: {name}."
        for gap in self.gaps:
            yield f"Not measured: {gap}."
        for message, count in self.failures.items():
            yield f"Failed{f' {count} times' if count > 1 else ''}: {message}."

    @staticmethod
    def say(line):
        print(line, file=sys.stderr, flush=True)


def row(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def number(value):
    """Three digits that count, as a table wants them."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def words(text):
    return tuple(part for part in text.split(",") if part)


def known(names):
    def parse(text):
        chosen = words(text)
        for name in chosen:
            if name not in names:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(names)}")
        return chosen

    return parse


def tests(text):
    for name in words(text):
        if not re.fullmatch(r"(pp|tg)[1-9]\d*", name):
            raise argparse.ArgumentTypeError(f"{name!r} is not ppN (a prompt of N tokens) or tgN (N tokens one by one)")
    return words(text)


def positive(text):
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)


def thread_counts(text):
    return tuple(positive(part) for part in words(text))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=pathlib.Path, required=True, metavar="FOLDER", help="the peers' model files")
    for peer in PEERS:
        parser.add_argument(peer.option, metavar="WHERE", dest=peer.__name__, help=f"{peer.name}, as said above")
    parser.add_argument("--shapes", type=known(tuple(SHAPES)), default=",".join(SHAPES), metavar="A,B", help="default: all: %(default)s")
    parser.add_argument("--types", type=known(tuple(TYPES)), default=",".join(TYPES), metavar="A,B", help="ours; default: all: %(default)s")
    parser.add_argument("--threads", type=thread_counts, default="1,2", metavar="A,B", help="default: %(default)s")
    parser.add_argument("--tests", type=tests, default="pp128,pp512,tg64", metavar="A,B", help="default: %(default)s")
    parser.add_argument("--rounds", type=positive, default=3, metavar="N", help="default: %(default)s")
    parser.add_argument("--repetitions", type=positive, metavar="N", help="of a test in a process (default: 1 to 10, by shape)")
    parser.add_argument("--warmup", type=float, metavar="SECONDS", help="of ours, before each test")
    parser.add_argument("--limit", type=positive, default=900, metavar="SECONDS", help="of a process; default: 900")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every round's figures there")
    parser.add_argument("--ours", type=pathlib.Path, default=ROOT / "transformers", metavar="FILE", help="default: the project's own")
    return parser.parse_args()


def jobs_of(options):
    for shape in options.shapes:
        fitting = tuple(test for test in options.tests if int(test[2:]) <= SHAPES[shape].positions)
        repetitions = options.repetitions or SHAPES[shape].repetitions
        if fitting:
            for our_type in options.types:
                for threads in options.threads:
                    yield Job(shape, our_type, threads, fitting, repetitions)


def main():
    options = arguments()
    given = {peer: getattr(options, peer.__name__) for peer in PEERS}
    peers = [peer(where, options.models) for peer, where in given.items() if where]
    missing = [f"{peer.name} ({peer.option} is not given)" for peer, where in given.items() if not where]
    comparison = Comparison(Ours(options.ours, options.warmup), peers, Runner(options.limit))
    jobs = list(jobs_of(options))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for _ in range(options.rounds):
            comparison.round(jobs)
    except KeyboardInterrupt:
        missing.append("the rest, as the run was interrupted")
    print(comparison.table(jobs, missing))
    if options.json:
        names = ("program", "type", "shape", "threads", "test")
        options.json.write_text(
            json.dumps(
                [
                    {"round": index, **dict(zip(names, key)), "tokens_per_s": rate}
                    for index, each in enumerate(comparison.figures, 1)
                    for key, rate in each.items()
                ],
                indent=1,
            )
            + "\n"
        )
    return 1 if comparison.failures else 0


if __name__ == "__main__":
    sys.exit(main())
