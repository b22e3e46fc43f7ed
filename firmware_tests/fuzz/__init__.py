"""`make fuzz`: every decoder of ours against bytes that no end of ours has written."""
