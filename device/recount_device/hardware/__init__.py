"""What only a Raspberry Pi has: its camera, its GPIO. Imported where the config chooses it."""
