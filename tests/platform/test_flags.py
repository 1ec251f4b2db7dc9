"""Programs are run as files: absl's flags are one per process, and so is sys.argv."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEADER = "from weft.platform import flags, app\nFLAGS = flags.FLAGS\n"


@pytest.fixture
def program(tmp_path):
    """Run the text of a program with arguments; return what it printed, or its error output and exit status."""

    def run(text, *args, status=0):
        file = tmp_path / "program.py"
        file.write_text(HEADER + text)
        done = subprocess.run(
            [sys.executable, file, *args],
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(ROOT), "PATH": ""},
            check=False,
        )
        assert done.returncode == status, done.stderr
        return done.stdout if status == 0 else done.stderr

    return run


def test_reading_a_flag_parses_the_command_line(program):
    text = "flags.DEFINE_string('job_name', '', '')\nflags.DEFINE_integer('task_index', 0, '')\n"
    assert program(text + "print(FLAGS.job_name, FLAGS.task_index)", "--job_name=ps", "--task_index", "3") == "ps 3\n"


def test_unknown_flags_are_left_alone(program):
    assert program("flags.DEFINE_integer('a', 1, '')\nprint(FLAGS.a)", "--unknown=3", "-x", "--a=2") == "2\n"


def test_a_flag_defined_after_the_first_read_gets_its_value(program):
    text = "flags.DEFINE_integer('a', 1, '')\nFLAGS.a\nflags.DEFINE_integer('b', 1, '')\nprint(FLAGS.a, FLAGS.b)"
    assert program(text, "--a=2", "--b=3") == "2 3\n"


def test_lists_are_not_doubled_by_a_second_parse(program):
    text = "flags.DEFINE_multi_integer('m', None, '')\nFLAGS.m\napp.run(lambda _: print(FLAGS.m))"
    assert program(text, "--m=1", "--m=2") == "[1, 2]\n"


@pytest.mark.parametrize(("argument", "value"), [("--x", "True"), ("--x=True", "True"), ("--nox", "False")])
def test_booleans_can_be_written_in_three_ways(program, argument, value):
    assert program("flags.DEFINE_boolean('x', None, '')\nprint(FLAGS.x)", argument) == f"{value}\n"


def test_the_default_may_be_none(program):
    assert program("flags.DEFINE_bool('x', None, '')\nprint(FLAGS.x)") == "None\n"


def test_older_keywords_of_the_definitions_are_taken(program):
    text = "flags.DEFINE_float(flag_name='rate', default_value=0.5, docstring='the rate')\nprint(FLAGS.rate)"
    assert program(text) == "0.5\n"


def test_flags_can_be_assigned_listed_and_looked_up(program):
    text = """
flags.DEFINE_enum('mode', 'a', ['a', 'b'], '')
FLAGS.mode = 'b'
FLAGS._parse_flags()
print(FLAGS.mode, FLAGS['mode'].value, FLAGS.__flags['mode'].value, 'mode' in FLAGS, 'none' in FLAGS)
print(FLAGS.flag_values_dict()['mode'], 'mode' in list(FLAGS), 'mode' in dir(FLAGS), len(FLAGS) > 0)
"""
    assert program(text) == "b b b True False\nb True True True\n"


def test_an_unknown_name_is_an_attribute_error(program):
    assert "AttributeError: nothing" in program("FLAGS.nothing", status=1)


def test_defining_a_flag_twice_is_an_error(program):
    text = "flags.DEFINE_string('a', '', '')\nflags.DEFINE_string('a', '', '')"
    assert "DuplicateFlagError" in program(text, status=1)


def test_a_notebook_may_define_a_flag_again(program):
    text = """
import sys
sys.ps1 = 'In : '
flags.DEFINE_integer('a', 1, '')
flags.DEFINE_integer('a', 2, '')
print(FLAGS.a)
"""
    assert program(text) == "2\n"


def test_a_flag_belongs_to_the_module_that_defines_it(program):
    text = "flags.DEFINE_integer('a', 1, '')\nprint(FLAGS.find_module_defining_flag('a').endswith('program.py'))"
    assert program(text) == "True\n"


def test_run_finds_main_and_exits_with_its_result(program):
    text = "def main(argv):\n    print(argv[1:])\n    return 3\napp.run()"
    assert program(text, "a", status=3) == ""
    assert program(text.replace("return 3", "return None"), "a", "--zzz=1") == "['a', '--zzz=1']\n"


def test_run_passes_on_the_arguments_that_no_flag_claims(program):
    text = "flags.DEFINE_integer('a', 1, '')\napp.run(lambda argv: print(argv, FLAGS.a), argv=['p', '--b=1', '--a=5'])"
    assert program(text) == "['p', '--b=1'] 5\n"


def test_a_bad_value_is_reported_with_the_flags_name(program):
    error = program("flags.DEFINE_integer('a', 1, '')\napp.run(lambda _: None)", "--a=x", status=1)
    assert "flag --a=x" in error
    assert "--a is an integer ('1' by default)." in error


def test_a_bad_value_is_told_without_a_traceback_and_with_what_the_flag_is(program):
    text = "flags.DEFINE_integer('rows', 10, 'Rows of a step.')\napp.run(lambda _: None)"
    assert program(text, "--rows=ten", status=1) == (
        "FATAL Flags parsing error:\n"
        "  flag --rows=ten: invalid literal for int() with base 10: 'ten'. --rows is an integer: 'Rows of a step' "
        "('10' by default).\n"
        "Pass --helpshort or --helpfull to see help on flags.\n"
    )


def test_a_flag_that_is_nearly_one_of_the_programs_is_told(program):
    text = "import sys\nflags.DEFINE_integer('batch_size', 10, 'Rows.')\napp.run(lambda _: sys.exit(4))"
    error = program(text, "--bach_size=3", "--other=1", "--", "--batch_siz=2", status=4)
    assert error == ("WARNING --bach_size=3 is no flag of the program, and nothing is set by it. Did you mean 'batch_size'?\n")


def test_run_without_a_main_says_what_is_missing(program):
    assert "no function 'main'" in program("app.run()", status=1)


def test_a_program_may_have_flags_by_the_names_of_absls_own(program):
    text = """
for name in ("log_dir", "v", "verbosity", "stderrthreshold"):
    flags.DEFINE_string(name, "my " + name, "")
def main(_):
    print(FLAGS.log_dir, FLAGS.v, FLAGS.verbosity, FLAGS.stderrthreshold)
app.run()
"""
    assert program(text, "--log_dir=/logs", "--v=high") == "/logs high my verbosity my stderrthreshold\n"


def test_a_usage_error_is_told_with_the_flags(program):
    text = """
from absl import app as absl_app
def main(_):
    raise absl_app.UsageError("too few files", 3)
app.run()
"""
    assert "too few files" in program(text, status=3)
