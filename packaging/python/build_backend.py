"""maturin. A clone has no folder with the program beside this file: then the wheel is the module alone."""

from pathlib import Path

from maturin import *  # noqa: F403

Path(__file__).with_name("apply_patch.data").mkdir(exist_ok=True)
