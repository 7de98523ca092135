"""Version chains: a change appends, nothing is overwritten, and one version at most is active."""
