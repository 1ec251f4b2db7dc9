import subprocess
import sys


def test_programs_for_tensorflow_set_and_read_its_logger():
    program = """
import logging, sys
from weft.platform.logs import log_name, tf_logging
logging.getLogger("tensorflow").setLevel(logging.INFO)
part = logging.getLogger("tensorflow.part")
log_name.answer_to("tensorflow")
logger = logging.getLogger("tensorflow")
assert logger is tf_logging.get_logger() and part.parent is logger and logger.getEffectiveLevel() == logging.INFO
part.warning("early")
tf_logging.info("step")
logger.handlers = [logging.StreamHandler(sys.stderr)]
tf_logging.warning("redirected")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "WARNING:tensorflow.part:early\nINFO:tensorflow:step\nredirected\n"
