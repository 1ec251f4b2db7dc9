"""Names of hosts, addresses, ports, and who is at the other end."""
