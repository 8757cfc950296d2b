"""The API's description of itself (OpenAPI)."""

from typing import Any

from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.request import Request

from studies.views.guards import refuse_unknown


class Description(SpectacularJSONAPIView):
    """Every address, what it takes and what it answers. Like them it refuses a parameter that it does not know."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        refuse_unknown(request._request, ())
