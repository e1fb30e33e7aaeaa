"""`thegame train`: what it writes, resuming, and bad input in one sentence."""

import json

import pytest

from thegame_app.cli import run

SMOKE = "configs/smoke.yaml"
QUICK = ["--set", "steps=512", "--set", "evaluation.games=2"]


def train(*arguments):
    return run(["train", SMOKE, *QUICK, *map(str, arguments)])


def test_json_is_one_document_on_stdout(tmp_path, capsys):
    assert train("--out", tmp_path, "--json", "--seed", 5) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["agent"] == f"ppo:{tmp_path}/policy.safetensors"
    assert (document["seed"], document["steps"]) == (5, 512)
    assert "tensorboard" in err


def test_a_trained_agent_plays_by_its_path(tmp_path, capsys):
    from agents.registry import make_agent
    from thegame_env.rules import Table

    assert train("--out", tmp_path) == 0
    told = capsys.readouterr().out
    assert f"--agents ppo:{tmp_path}/policy.safetensors" in told
    assert make_agent(f"ppo:{tmp_path}/policy", Table(players=2)).name.startswith("ppo:")


def test_a_run_is_not_overwritten_by_accident(tmp_path, capsys):
    assert train("--out", tmp_path) == 0
    assert train("--out", tmp_path) == 2
    assert "holds a run already" in capsys.readouterr().err
    assert train("--out", tmp_path, "--overwrite") == 0
    assert train("--out", tmp_path, "--resume", "--set", "steps=1024") == 0
    assert json.loads((tmp_path / "policy.json").read_text())["config"]["seed"] == 1


@pytest.mark.parametrize("name", ["policy.safetensors", "weights.safetensors"])
def test_weights_without_a_checkpoint_are_not_overwritten_either(tmp_path, capsys, name):
    (tmp_path / name).write_bytes(b"dear")
    assert train("--out", tmp_path) == 2
    assert "holds a run already" in capsys.readouterr().err
    assert train("--out", tmp_path, "--resume") == 2
    assert "nothing to resume" in capsys.readouterr().err
    assert (tmp_path / name).read_bytes() == b"dear"
    assert train("--out", tmp_path, "--overwrite") == 0
    assert not (tmp_path / "weights.safetensors").exists()


def test_late_starts_are_checked_before_a_run_is_removed(tmp_path, capsys):
    (tmp_path / "policy.safetensors").write_bytes(b"dear")
    late = ["--set", "late_starts.player=nobody", "--set", "late_starts.share=0.5"]
    assert train("--out", tmp_path, "--overwrite", *late) == 2
    assert 'unknown agent "nobody"' in capsys.readouterr().err
    assert (tmp_path / "policy.safetensors").read_bytes() == b"dear"


def test_an_interrupted_run_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    from train.watch import Watch

    on_step = Watch._on_step

    def stopping_step(watch):
        watch.stop.requested = True
        return on_step(watch)

    monkeypatch.setattr(Watch, "_on_step", stopping_step)
    assert train("--out", tmp_path) == 130
    assert f"{SMOKE} --resume --set steps=512" in capsys.readouterr().err
    monkeypatch.undo()
    assert train("--out", tmp_path, "--resume") == 0


def test_who_interrupts_before_anything_is_saved_is_told_so(tmp_path, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("train.ppo.make_model", interrupted)
    assert train("--out", tmp_path) == 130
    told = capsys.readouterr().err
    assert "stopped; nothing was saved yet" in told
    assert "--resume" not in told


def test_a_file_is_no_folder_for_a_run(tmp_path, capsys):
    file = tmp_path / "run"
    file.write_bytes(b"dear")
    assert train("--out", file) == 2
    assert capsys.readouterr().err.startswith(f"thegame: {file} is a file, where the folder of")
    assert file.read_bytes() == b"dear"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["configs/nothing.yaml"], "there is no configuration configs/nothing.yaml"),
        ([SMOKE, "--set", "sed=1"], 'unknown key "sed", did you mean "seed"'),
        ([SMOKE, "--set", "seed"], "not of the form key=value"),
        ([SMOKE, "--set", "table.rules=offical"], 'did you mean "official"'),
        ([SMOKE, "--seed", "-1"], "seed"),
        ([SMOKE, "--resume"], "nothing to resume"),
        ([SMOKE, "--resum"], "--resum"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, capsys, arguments, sentence):
    assert run(["train", *arguments, "--out", str(tmp_path / "run")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_plain_install_is_told_the_remedy(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("thegame_app.train_command.LIBRARIES", ("no_such_library",))
    assert train("--out", tmp_path) == 2
    told = capsys.readouterr().err
    assert told == 'thegame: training needs no_such_library: pip install "thegame-env[train]"\n'
