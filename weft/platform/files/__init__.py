"""Files and folders, local or in stores, and who may touch which."""
