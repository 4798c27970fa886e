"""`tf.feature_column`: what a model takes of features, described before they are there."""
