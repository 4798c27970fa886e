"""Files, records and protocol buffers."""
