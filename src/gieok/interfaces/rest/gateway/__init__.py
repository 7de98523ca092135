"""What every request passes around its route: authentication, limits, body, errors, logs, metrics."""
