"""The ways in which the values of replicas become one."""
