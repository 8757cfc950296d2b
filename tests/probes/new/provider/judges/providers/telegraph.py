"""A provider of a test."""

from judges.providers.base import Client, Completion, Connection, Provider, Request


class Telegraph(Provider):
    slug = "telegraph"
    title = "By telegraph"

    def connect(self, connection: Connection) -> Client:
        return TelegraphClient()

    def read(self, body: str) -> Completion:
        return Completion('{"answer": "yes", "rationale": "Stop."}', "stop", raw=body)


class TelegraphClient:
    async def complete(self, request: Request) -> Completion:
        return Completion('{"answer": "yes", "rationale": "Stop."}', "stop", raw="{}", n_tokens_in=1, n_tokens_out=1)

    async def close(self) -> None:
        pass
