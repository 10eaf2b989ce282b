#!/usr/bin/env python3
"""Asks a running server with one client and with several, and prints a Markdown table: tokens/s, the time to the first token, and the
time between tokens.

    benchmarks/load-server.py http://127.0.0.1:8080 [--model NAME] [--clients 1,8,32] [--requests 4] [--prompt-tokens 32] [--tokens 64]
                              [--rounds 1] [--key KEY]

Each client asks one request after the other, of ids that are drawn from (client, request), so that no prompt is another's beginning, and
reads the stream; a token counts when its piece comes, and pieces without text are asked for by their log-probabilities. The rows of a
round are taken one after the other, so that a machine that changes its pace changes all. Any server of OpenAI's protocol that takes ids
as prompts can be asked, llama.cpp's among them.

Exits with 0 if every answer came whole, 1 if one failed, 2 after a wrong call.
"""
import argparse
import http.client
import json
import random
import statistics
import sys
import threading
import time
import urllib.parse


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("address")
    parser.add_argument("--model", help="as the server names it (default: its first)")
    parser.add_argument("--clients", default="1,8,32", help="comma-separated")
    parser.add_argument("--requests", type=int, default=4, help="of each client")
    parser.add_argument("--prompt-tokens", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--vocabulary", type=int, default=200, help="prompts have ids below this")
    parser.add_argument("--key")
    return parser.parse_args()


class Client(threading.Thread):
    """Asks its requests, and keeps when each token came."""

    def __init__(self, number, options):
        super().__init__()
        self.number = number
        self.options = options
        self.first, self.between, self.tokens, self.failures = [], [], 0, []

    def run(self):
        for request in range(self.options.requests):
            try:
                self.ask(random.Random(self.number * 1000003 + request))
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.failures.append(f"client {self.number}: {error}")

    def ask(self, drawn):
        address = urllib.parse.urlsplit(self.options.address)
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=600)
        prompt = [drawn.randrange(self.options.vocabulary) for _ in range(self.options.prompt_tokens)]
        body = {"prompt": prompt, "max_tokens": self.options.tokens, "temperature": 0, "stream": True, "logprobs": 0}
        if self.options.model:
            body["model"] = self.options.model
        headers = {"Content-Type": "application/json"}
        if self.options.key:
            headers["Authorization"] = "Bearer " + self.options.key
        asked = before = time.perf_counter()
        connection.request("POST", "/v1/completions", json.dumps(body), headers)
        response = connection.getresponse()
        if response.status != 200:
            raise ValueError(response.read().decode(errors="replace"))
        count = 0
        for line in response:
            if not line.startswith(b"data: {"):
                continue
            choices = json.loads(line[6:]).get("choices") or [{}]
            came = len(((choices[0].get("logprobs") or {}).get("tokens")) or [])
            if came == 0 and not choices[0].get("text"):
                continue
            now = time.perf_counter()
            if count == 0:
                self.first.append(now - asked)
            else:
                self.between += [(now - before) / max(1, came)] * max(1, came)
            before = now
            count += max(1, came)
        connection.close()
        self.tokens += count
        if count == 0:
            raise ValueError("an answer had no token")


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def measure(clients, options):
    crew = [Client(number, options) for number in range(clients)]
    started = time.perf_counter()
    for client in crew:
        client.start()
    for client in crew:
        client.join()
    seconds = time.perf_counter() - started
    between = [each for client in crew for each in client.between]
    return {
        "rate": sum(client.tokens for client in crew) / seconds,
        "first": statistics.median([each for client in crew for each in client.first] or [float("nan")]),
        "median": percentile(between, 0.5),
        "p99": percentile(between, 0.99),
        "failures": [failure for client in crew for failure in client.failures],
    }


def main():
    options = parse()
    try:
        counts = [int(each) for each in options.clients.split(",")]
    except ValueError:
        print(f"load-server.py: --clients is {options.clients}, expected numbers with commas between", file=sys.stderr)
        return 2
    rounds = [[measure(count, options) for count in counts] for _ in range(options.rounds)]
    print("| clients | tokens/s | × the first row | first token, ms | between tokens, ms | its 99th percentile | × the median | failed |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    failed = 0
    for row, count in enumerate(counts):
        def of(name):
            return statistics.median(each[row][name] for each in rounds)

        ratio = statistics.median(each[row]["rate"] / each[0]["rate"] for each in rounds)
        failures = [failure for each in rounds for failure in each[row]["failures"]]
        failed += len(failures)
        for failure in failures[:3]:
            print(failure, file=sys.stderr)
        print(f"| {count} | {of('rate'):.1f} | {ratio:.2f} | {of('first') * 1e3:.1f} | {of('median') * 1e3:.2f} | {of('p99') * 1e3:.2f}"
              f" | {of('p99') / of('median'):.2f} | {len(failures)} |")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
