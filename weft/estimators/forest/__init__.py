"""Random forests that grow while examples come in (contrib.tensor_forest): their parameters, graphs and estimators."""
