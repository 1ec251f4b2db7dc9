"""Looking at tasks from elsewhere: their reports, and traces of what all of them do."""
