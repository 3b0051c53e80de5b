"""What a Python bot's author imports. Filled in below; names load on first use."""
