"""The links to the devices: what is said (session), who writes it down (collector), TCP and serial ports."""
