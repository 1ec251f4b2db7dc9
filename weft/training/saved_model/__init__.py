"""SavedModel: a model as a folder, with its graphs by tags, its variables, its assets and what it can be asked for."""
