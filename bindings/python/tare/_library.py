# SPDX-License-Identifier: MIT
"""libtare, by ctypes: finding it, the layout of its structs (include/tare.h), and its errors as exceptions.

The library is loaded by PyDLL: its functions neither wait nor call back, so that they keep the interpreter's lock. No other
thread can run between the entry of a region and the first line of it.
"""
import ctypes
import ctypes.util
import os

try:
    from . import _installed
except ImportError:  # run from the source tree
    _installed = None

SONAME = "libtare.so.0"
TEXT_BYTES = 512


class Error(Exception):
    """What failed, on what and why; `hint`: what can be done, or ""; `code`: libtare's (tare.h), or the command's exit status."""

    def __init__(self, text, hint="", code=None):
        super().__init__(f"{text}\n{hint}" if hint else text)
        self.text, self.hint, self.code = text, hint, code


class NotCounted(Error):
    """A number was wanted where there is none."""


def counted_value(number, name):
    """number.value; raises NotCounted, with the reason, where there is none."""
    if number.value is None:
        raise NotCounted(f"'{name}' was not counted: {number.why}")
    return number.value


class CError(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("os_errno", ctypes.c_int),
                ("text", ctypes.c_char * TEXT_BYTES), ("hint", ctypes.c_char * TEXT_BYTES)]


class CReading(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint64), ("enabled_ns", ctypes.c_uint64), ("running_ns", ctypes.c_uint64),
                ("state", ctypes.c_int32), ("flags", ctypes.c_uint32)]


class COptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("scope", ctypes.c_int)]


class CPasses(ctypes.Structure):
    _fields_ = [("entries", ctypes.c_uint64), ("exits", ctypes.c_uint64), ("threads", ctypes.c_uint64),
                ("unbalanced", ctypes.c_uint64)]


_POINTER, _TEXT, _ERROR = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(CError)
_READINGS = ctypes.POINTER(CReading)
_FUNCTIONS = {  # result, parameters
    "tare_version": (_TEXT,),
    "tare_open": (ctypes.c_bool, ctypes.POINTER(COptions), ctypes.POINTER(_POINTER), _ERROR),
    "tare_add": (ctypes.c_bool, _POINTER, _TEXT, _ERROR),
    "tare_event_count": (ctypes.c_size_t, _POINTER),
    "tare_event_name": (_TEXT, _POINTER, ctypes.c_size_t),
    "tare_event_unit": (_TEXT, _POINTER, ctypes.c_size_t),
    "tare_event_source": (_TEXT, _POINTER, ctypes.c_size_t),
    "tare_start": (ctypes.c_bool, _POINTER, _ERROR),
    "tare_read": (ctypes.c_bool, _POINTER, _READINGS, _ERROR),
    "tare_stop": (ctypes.c_bool, _POINTER, _READINGS, _ERROR),
    "tare_reset": (ctypes.c_bool, _POINTER, _ERROR),
    "tare_close": (None, _POINTER),
    "tare_difference": (None, _READINGS, _READINGS, ctypes.c_size_t, _READINGS),
    "tare_scaled": (ctypes.c_bool, _READINGS, ctypes.POINTER(ctypes.c_double)),
    "tare_regions_start": (ctypes.c_bool, _TEXT, _ERROR),
    "tare_region": (_POINTER, _TEXT, _ERROR),
    "tare_region_enter": (None, _POINTER),
    "tare_region_leave": (None, _POINTER),
    "tare_region_read": (ctypes.c_bool, _POINTER, ctypes.c_int, ctypes.POINTER(CPasses), _READINGS, _ERROR),
}

_loaded = None


def _candidates():
    """Where the library may be, best first: TARE_LIBRARY alone if it is set."""
    if os.environ.get("TARE_LIBRARY"):
        return [os.environ["TARE_LIBRARY"]]
    places = [_installed.LIBRARY] if _installed else []
    return places + [SONAME]


def load():
    """libtare, with its functions' types. Raises Error where it is not found."""
    global _loaded
    if _loaded is None:
        why = []
        for path in _candidates():
            try:
                library = ctypes.PyDLL(path)
                break
            except OSError as error:
                why.append(str(error))
        else:
            raise Error(f"cannot load libtare: {'; '.join(why)}",
                        f"install tare, or set TARE_LIBRARY to the path of {SONAME}")
        for name, (result, *parameters) in _FUNCTIONS.items():
            try:
                function = getattr(library, name)
            except AttributeError:
                raise Error(f"'{library._name}' is not libtare: it has no {name}()",
                            f"set TARE_LIBRARY to the path of {SONAME}") from None
            function.restype, function.argtypes = result, parameters
        _loaded = library
    return _loaded


def check(done, error):
    """Raises what a function of libtare has failed with."""
    if not done:
        raise Error(error.text.decode(errors="replace"), error.hint.decode(errors="replace"), error.code)


def version():
    """libtare's version, "1.2.3"."""
    return load().tare_version().decode()
