"""Tables: values by keys."""
