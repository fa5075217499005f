"""Ways for live events to reach their listeners."""
