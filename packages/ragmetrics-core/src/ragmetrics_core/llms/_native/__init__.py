"""Models that are called by the protocol of their provider, through its package."""
