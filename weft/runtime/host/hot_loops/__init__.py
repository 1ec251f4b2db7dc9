"""Loops of interpreted stages that go on as compiled code: what there is code for, and how it is made and run."""
