import logging
import subprocess
import sys
from pathlib import Path

import pytest

from weft.platform.logs import tf_logging

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _verbosity():
    before = tf_logging.get_verbosity()
    yield
    tf_logging.set_verbosity(before)


@pytest.fixture
def logged(caplog):
    """The messages that reached the root logger's handlers, at every level."""
    tf_logging.set_verbosity(tf_logging.DEBUG)
    return lambda: [(record.levelname, record.getMessage()) for record in caplog.records]


def stderr_of(text):
    done = subprocess.run(
        [sys.executable, "-c", "from weft.platform import app\nfrom weft.platform.logs import tf_logging\n" + text],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return done.stderr


def run_to_log(arguments, before="", main="tf_logging.info('of tensorflow'); tf_logging.debug('more')"):
    """What a program's `main` logs under `app.run` with these arguments."""
    return stderr_of(f"{before}\ndef main(_):\n    {main}\napp.run(main, {['program', *arguments]!r})").strip()


def test_the_levels_have_tensorflows_values():
    names = ["DEBUG", "INFO", "WARN", "ERROR", "FATAL"]
    assert [tf_logging.__dict__[name] for name in names] == [10, 20, 30, 40, 50]


def test_warnings_are_shown_by_default_and_infos_are_not():
    # In a process of its own: others may have set the level of this one.
    assert stderr_of("assert tf_logging.get_verbosity() == tf_logging.WARN") == ""
    assert stderr_of("tf_logging.info('a'); tf_logging.warn('b %d', 1)") == "WARNING:weft:b 1\n"


def test_every_level_has_its_function(logged):
    for function in (tf_logging.debug, tf_logging.info, tf_logging.warn, tf_logging.warning, tf_logging.error):
        function("%s", "x")
    tf_logging.fatal("x")
    levels = [level for level, _ in logged()]
    assert levels == ["DEBUG", "INFO", "WARNING", "WARNING", "ERROR", "CRITICAL"]


def test_records_name_the_line_that_logged(caplog):
    tf_logging.error("a")
    tf_logging.log_if(tf_logging.ERROR, "b", True)
    tf_logging.log_every_n(tf_logging.ERROR, "c", 1)
    assert {record.filename for record in caplog.records} == {"test_tf_logging.py"}


def test_log_and_vlog_take_a_level(logged):
    tf_logging.log(tf_logging.INFO, "a %s", "b")
    tf_logging.vlog(tf_logging.ERROR, "c")
    assert logged() == [("INFO", "a b"), ("ERROR", "c")]


def test_log_if_needs_its_condition(logged):
    tf_logging.log_if(tf_logging.INFO, "yes", True)
    tf_logging.log_if(tf_logging.INFO, "no", False)
    assert logged() == [("INFO", "yes")]


def test_log_every_n_logs_the_first_of_each_n_calls(logged):
    for i in range(7):
        tf_logging.log_every_n(tf_logging.INFO, "%d", 3, i)
    assert [message for _, message in logged()] == ["0", "3", "6"]


def test_log_first_n_counts_each_line_for_itself(logged):
    for i in range(3):
        tf_logging.log_first_n(tf_logging.INFO, "a%d", 2, i)
        tf_logging.log_first_n(tf_logging.INFO, "b%d", 1, i)
    assert [message for _, message in logged()] == ["a0", "b0", "a1"]


def test_modules_of_weft_log_through_the_same_logger():
    assert stderr_of("import logging; logging.getLogger('weft.x').error('e')") == "ERROR:weft.x:e\n"


def test_a_program_with_handlers_of_its_own_gets_each_record_once():
    text = "import logging; logging.basicConfig(format='mine %(message)s'); tf_logging.error('e')"
    assert stderr_of(text) == "mine e\n"


def test_app_run_does_not_change_where_records_go():
    text = "import sys; sys.argv[:] = ['p']; app.run(lambda _: tf_logging.error('e'))"
    assert stderr_of(text) == "ERROR:weft:e\n"


def test_the_level_is_the_root_loggers_until_one_is_set():
    text = "import logging; logging.basicConfig(format='mine %(message)s', level='INFO'); tf_logging.info('a'); "
    assert stderr_of(text + "tf_logging.set_verbosity(tf_logging.WARN); tf_logging.info('b')") == "mine a\n"


def test_infos_are_shown_under_app_run():
    assert run_to_log([]) == "INFO:weft:of tensorflow"
    assert run_to_log([], before="tf_logging.set_verbosity(tf_logging.ERROR)") == ""
    assert run_to_log([], before="import logging; logging.basicConfig(format='mine %(message)s')") == "mine of tensorflow"


def test_the_flag_verbosity_sets_the_level_under_app_run():
    assert run_to_log(["--verbosity=-1"]) == ""
    assert run_to_log(["-v=1"]) == "INFO:weft:of tensorflow\nDEBUG:weft:more"
    assert run_to_log(["--verbosity=-1"], before="import logging; logging.basicConfig()") == ""


def test_a_flag_verbosity_of_the_programs_own_sets_no_level():
    before = "from weft.platform import flags; flags.DEFINE_string('verbosity', 'much', ''); flags.DEFINE_integer('v', 3, '')"
    assert run_to_log(["--verbosity=low"], before=before) == "INFO:weft:of tensorflow"


def test_infos_of_python_logging_are_shown_under_app_run():
    logged = run_to_log([], main="import logging; logging.info('mine'); logging.debug('less')")
    assert logged.startswith("I")
    assert logged.endswith("] mine")


def test_get_logger_is_a_standard_logger(logged):
    logger = tf_logging.get_logger()
    assert isinstance(logger, logging.Logger)
    logger.info("x")
    tf_logging.flush()
    assert logged() == [("INFO", "x")]
