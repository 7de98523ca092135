"""An identity provider for tests: has keys, publishes them as JWKS and signs JWTs."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from gieok.settings import JwtAlgorithm, JwtSettings

ISSUER = "https://login.example"
AUDIENCE = "gieok"
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


def new_key(algorithm: JwtAlgorithm) -> PrivateKey:
    if algorithm == "RS256":
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    if algorithm == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    return ed25519.Ed25519PrivateKey.generate()


class IdentityProvider:
    """Signs with one algorithm. A request for the JWKS gets the current `keys`."""

    def __init__(self, algorithm: JwtAlgorithm = "ES256") -> None:
        self.algorithm: JwtAlgorithm = algorithm
        self.keys: dict[str, PrivateKey] = {"first": new_key(algorithm)}

    def jwks(self) -> str:
        return json.dumps({"keys": [{**_public(key), "kid": kid} for kid, key in self.keys.items()]})

    def write(self, path: Path) -> None:
        """Publish the keys in a file."""
        path.write_text(self.jwks())

    def settings(self, jwks: str | Path) -> JwtSettings:
        return JwtSettings(self.algorithm, ISSUER, AUDIENCE, str(jwks))

    def sign(self, kid: str = "first", **claims: Any) -> str:
        """A valid JWT with these claims changed; None removes a claim."""
        now = int(time.time())
        valid = {"iss": ISSUER, "aud": AUDIENCE, "sub": "kim", "iat": now, "exp": now + 3600}
        payload = {name: value for name, value in {**valid, **claims}.items() if value is not None}
        return jwt.encode(payload, self.keys[kid], algorithm=self.algorithm, headers={"kid": kid})

    def public_pem(self) -> bytes:
        """The public key, which an attacker could use as an HMAC secret."""
        return self.keys["first"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _public(key: PrivateKey) -> dict[str, Any]:
    if isinstance(key, rsa.RSAPrivateKey):
        return RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return OKPAlgorithm.to_jwk(key.public_key(), as_dict=True)


class JwksServer:
    """The JWKS on a web server, with a count of its requests."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status = 200
        self.requests = 0


@contextmanager
def serve_jwks(provider: IdentityProvider) -> Generator[JwksServer]:
    """Serve the keys on a real local server."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            jwks_server.requests += 1
            content = provider.jwks().encode()
            self.send_response(jwks_server.status)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Location", jwks_server.url)
            self.end_headers()
            self.wfile.write(content)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Do not log requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    jwks_server = JwksServer(f"http://127.0.0.1:{server.server_port}/jwks.json")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield jwks_server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
