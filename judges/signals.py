"""What others may take part in, so that the engine need not know them."""

from django.dispatch import Signal

# Work is looked for, every few seconds. at : now
swept = Signal()
# A run is looked at before it is one. study, judge; a receiver returns the sentences to read before it is started.
run_examined = Signal()
