"""From page images and a contest program to a verdict. Pure: no file, clock, socket or log."""
