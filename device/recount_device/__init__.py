"""The station: a sheet's life from feeder to bin, its journal, camera, panel and link to the host."""
