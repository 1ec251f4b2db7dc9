"""`weft saved-model` shows and runs a model as TensorFlow's `saved_model_cli` does."""

from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.cli.command_line import main

# The listing of TensorFlow 1.15.5's saved_model_cli for the same model.
EVERYTHING = """
MetaGraphDef with tag-set: 'serve' contains the following SignatureDefs:

signature_def['serving_default']:
  The given SavedModel SignatureDef contains the following input(s):
    inputs['e'] tensor_info:
        dtype: DT_STRING
        shape: (-1)
        name: e:0
    inputs['n'] tensor_info:
        dtype: DT_STRING
        shape: ()
        name: n:0
    inputs['u'] tensor_info:
        dtype: DT_INT64
        shape: unknown_rank
        name: u:0
    inputs['x'] tensor_info:
        dtype: DT_FLOAT
        shape: (-1, 2)
        name: x:0
  The given SavedModel SignatureDef contains the following output(s):
    outputs['age'] tensor_info:
        dtype: DT_FLOAT
        shape: (-1, 1)
        name: age:0
    outputs['label'] tensor_info:
        dtype: DT_STRING
        shape: ()
        name: label:0
    outputs['y'] tensor_info:
        dtype: DT_FLOAT
        shape: (-1, 1)
        name: y:0
  Method name is: tensorflow/serving/predict
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("model") / "exported")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        n = tf.placeholder(tf.string, [], name="n")
        u = tf.placeholder(tf.int64, name="u")
        e = tf.placeholder(tf.string, [None], name="e")
        w = tf.Variable([[1.0], [2.0]], name="w")
        y = tf.matmul(x, w, name="y")
        age = tf.identity(tf.parse_example(e, {"age": tf.FixedLenFeature([1], tf.float32)})["age"], name="age")
        session.run(tf.global_variables_initializer())
        inputs = {"x": x, "n": n, "u": u, "e": e}
        tf.saved_model.simple_save(session, path, inputs, {"y": y, "label": tf.identity(n, name="label"), "age": age})
    return path


def run(model: str, *options: str) -> int:
    defaults = ["--tag_set", "serve", "--signature_def", "serving_default"]
    return main(["saved-model", "run", "--dir", model, *defaults, *options])


FED = ("--input_exprs", "x=np.ones((2, 2)) * [1, 10];n=b'hi';u=3", "--input_examples", 'e=[{"age": [1.5], "of": ["a", "b"]}]')


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ([], "The given SavedModel contains the following tag-sets:\nserve\n"),
        (
            ["--tag_set", "serve"],
            "The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:\n"
            'SignatureDef key: "serving_default"\n',
        ),
        (["--all"], EVERYTHING),
    ],
)
def test_show_prints_what_saved_model_cli_prints(
    model: str, options: list[str], shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["saved-model", "show", "--dir", model, *options]) == 0
    assert capsys.readouterr().out == shown


def test_show_of_one_signature_has_its_inputs_and_outputs(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["saved-model", "show", "--dir", model, "--tag_set", "serve", "--signature_def", "serving_default"]) == 0
    lines = EVERYTHING.splitlines()[4:]
    assert capsys.readouterr().out.splitlines() == [line.removeprefix("  ") for line in lines]


def test_run_feeds_expressions_and_examples_and_saves_outputs(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "outputs"
    assert run(model, *FED, "--outdir", str(folder)) == 0
    assert f"Result for output key label:\nb'hi'\nOutput label is saved to {folder / 'label.npy'}" in capsys.readouterr().out
    np.testing.assert_array_equal(np.load(folder / "y.npy"), [[21.0], [21.0]])
    np.testing.assert_array_equal(np.load(folder / "age.npy"), [[1.5]])
    assert np.load(folder / "label.npy") == b"hi"


def test_run_feeds_files(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.array([[3.0, 4.0]]))
    np.savez(tmp_path / "rest.npz", n=np.array("text"), e=np.array([], dtype=bytes))
    files = f"x={tmp_path / 'x.npy'};n={tmp_path / 'rest.npz'}[n];e={tmp_path / 'rest.npz'}[e]"
    assert run(model, "--inputs", files, "--input_exprs", "u=1") == 0
    out = capsys.readouterr().out
    assert "Result for output key y:\n[[11.]]" in out
    assert "Result for output key label:\nb'text'" in out


def test_run_replaces_outputs_only_when_it_is_told_to(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "y.npy").write_bytes(b"kept")
    with pytest.raises(SystemExit):
        run(model, *FED, "--outdir", str(tmp_path))
    assert (tmp_path / "y.npy").read_bytes() == b"kept"
    assert 'already exists. Add "--overwrite"' in capsys.readouterr().err
    assert run(model, *FED, "--outdir", str(tmp_path), "--overwrite") == 0
    assert np.load(tmp_path / "y.npy").shape == (2, 1)


def test_run_on_a_server(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    server = tf.train.Server.create_local_server()
    try:
        assert run(model, *FED, "--worker", server.target) == 0
    finally:
        server.stop()
    assert "Result for output key y:\n[[21.]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "--dir", "/nowhere"], "SavedModel file does not exist at: /nowhere/{saved_model.pbtxt|saved_model.pb}"),
        (["show", "--dir", "MODEL", "--tag_set", "gpu"], "tags ['gpu'] could not be found in SavedModel"),
        (["show", "--dir", "MODEL", "--signature_def", "key"], "--signature_def needs --tag_set"),
        (["show", "--dir", "MODEL", "--tag_set", "serve", "--signature_def", "key"], "no signature 'key'; it has ['serving"),
        (["RUN", "--input_exprs", "z=1"], '"z" is not a valid input key. Please choose from "e", "n", "u", "x"'),
        (["RUN", "--input_exprs", "x"], "'x' is not of the form input=value"),
        (["RUN", "--input_exprs", "x=1 +"], "is no Python expression"),
        (["RUN", "--input_exprs", "x=open('/etc/passwd')"], "open is none of these"),
        (["RUN", "--input_exprs", "x=np.load('f', allow_pickle=True)"], "np.load is none of these"),
        (["RUN", "--input_exprs", "x=np.__class__"], "np.__class__ is none of these"),
        (["RUN", "--input_exprs", "x=np.ones(-1)"], "cannot be computed: negative dimensions"),
        (["RUN", "--input_exprs", "x='a'"], "the input 'x' cannot be converted to float32"),
        (["RUN", "--input_examples", "e={}"], "tf.Example input must be a list of dictionaries"),
        (["RUN", "--input_examples", "e=[{'a': 1}]"], 'feature value must be a list, but a: "1"'),
        (["RUN", "--input_examples", "e=[{'a': [1, 'b']}]"], "neither all numbers nor all strings"),
        (["RUN", "--inputs", "x=/nowhere.npy"], "'/nowhere.npy': No such file or directory"),
        (["RUN", "--inputs", "x=FILE"], "is no .npy or .npz file of numbers or strings"),
        (["RUN", "--input_exprs", "x=[[1.0, 2.0]]"], "You must feed a value for placeholder tensor"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    model: str, arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "object.npy").write_bytes(b"\x80\x04N.")
    running = ["run", "--dir", model, "--tag_set", "serve", "--signature_def", "serving_default"]
    words = [word.replace("MODEL", model).replace("FILE", str(tmp_path / "object.npy")) for word in arguments]
    with pytest.raises(SystemExit) as exited:
        main(["saved-model", *(running + words[1:] if words[0] == "RUN" else words)])
    assert exited.value.code == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
