"""What every answer has in common: the Content-Security-Policy (https://www.w3.org/TR/CSP3/), and JSON for machines."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.utils.deprecation import MiddlewareMixin

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)


class ContentSecurityPolicy(MiddlewareMixin):
    """Adds the policy to each answer; no view may weaken it."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response["Content-Security-Policy"] = POLICY
        return response


API: Final = "/api/"
FAULTS: Final = {
    400: ("bad_input", "The request cannot be read."),
    404: ("not_found", "There is nothing at this address."),
    405: ("not_allowed", "This address does not take this method."),
    413: ("bad_input", "The request is too large."),
    500: ("broken", "Something broke here; the log of the installation has the details."),
}


class MachineErrors(MiddlewareMixin):
    """Machines get `{"error", "message"}` for what no endpoint answered: a wrong address or method, a fault of ours."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not request.path.startswith(API) or response.status_code < 400:
            return response
        if response.headers.get("Content-Type", "").startswith("application/json"):
            return response
        error, message = FAULTS.get(response.status_code, ("error", "The request was refused."))
        told = JsonResponse({"error": error, "message": message}, status=response.status_code)
        if "Allow" in response.headers:
            told["Allow"] = response.headers["Allow"]
        return told
