"""The wire between feeder board, device and host: frames, delivery, messages, records. No I/O."""
