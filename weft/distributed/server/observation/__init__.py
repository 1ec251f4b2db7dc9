"""What a server tells of itself: reports, made when somebody asks, of what its parts count anyway, and metrics by HTTP."""
