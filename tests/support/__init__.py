"""Real servers on loopback that tests talk to."""
