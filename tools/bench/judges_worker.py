"""`python -m tools.bench.judges_worker RUN`: one worker at a run; begins at a line of input, prints its CPU seconds."""

import os
import sys
import time

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from judges import runs
    from judges.models import Run

    run = Run.objects.select_related("judge__endpoint").get(pk=int(sys.argv[1]))
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.process_time()
    runs.drain(run)
    print(time.process_time() - began)
