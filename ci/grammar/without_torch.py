"""Lets xgrammar be imported without torch and transformers.

It names both in annotations and for GPU kernels, and uses neither to read a grammar or to match a
text; torch alone would be some gigabytes to install. Import this module before xgrammar.
"""

import sys
import types

import tvm_ffi  # noqa: F401  (looks for torch itself, and must not find the stand-in)


class _StandIn(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name[0].isupper():
            return type(name, (), {})
        return lambda *args, **kwargs: None


for _name in ("torch", "transformers"):
    sys.modules.setdefault(_name, _StandIn(_name))
