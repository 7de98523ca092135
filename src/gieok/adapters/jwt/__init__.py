"""JWTs of a foreign sign-on: its public keys, and what its claims mean here."""

from gieok.adapters.jwt.verifier import JwtVerifier

__all__ = ["JwtVerifier"]
