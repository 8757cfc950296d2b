"""Celery's broker over Redis: Kombu's, whose workers outlive a restart of Redis.

Messages are acknowledged once their task is done, so a worker at work has some that are not. When Redis goes away Kombu
closes the connection, then tries to put those back over it, and the worker ends of an AttributeError.
"""

from kombu.transport import redis


class RedisChannel(redis.Channel):
    """Messages in Redis. Those that were not acknowledged come back by themselves after Redis's visibility timeout."""

    @property
    def do_restore(self) -> bool:  # type: ignore[override]  # Kombu's is an attribute that nobody sets
        """Whether what is not acknowledged is put back on closing: only over a connection that is still there."""
        return self.connection is not None and self.connection.client is not None


class RedisTransport(redis.Transport):
    """Kombu's transport for addresses that begin with `redis://`."""

    Channel = RedisChannel
