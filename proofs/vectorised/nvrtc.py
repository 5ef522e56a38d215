"""CUDA source text compiled at run time and launched on torch's stream.

NVRTC comes with torch's CUDA builds and the driver with the machine, so no compiler need be
installed. Both are called through ctypes.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
from pathlib import Path
from typing import Any, Protocol

from interlock.proofs.vectorised.backend import Array

Argument = ctypes.c_void_p | ctypes.c_longlong | ctypes.c_int


class NoCompiler(RuntimeError):
    """NVRTC or the driver is not there; the eager kernels do without."""


class CudaError(RuntimeError):
    """A call of NVRTC or of the driver failed."""


class Launcher(Protocol):
    """Kernels that can be started.

    Attributes:
        processors: how many multiprocessors the device has.
    """

    processors: int

    def launch(self, name: str, blocks: int, threads: int, arguments: list[Argument]) -> None:
        """Start a kernel on torch's current stream; returns at once."""


class Module:
    """The kernels of one source text, on torch's current device.

    Raises:
        NoCompiler: no NVRTC library, or no driver.
        CudaError: the text does not compile; the message is the compiler's log.
    """

    def __init__(self, source: str) -> None:
        import torch  # noqa: PLC0415

        torch.zeros(1, device="cuda")  # The driver's context is torch's, which this makes current.
        self._torch = torch
        self.processors = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
        major, minor = torch.cuda.get_device_capability()
        image = _compile(source, f"sm_{major}{minor}", str(torch.version.cuda).partition(".")[0])
        self._driver = _library(["libcuda.so.1"])
        self._module = ctypes.c_void_p()
        self._check(self._driver.cuModuleLoadData(ctypes.byref(self._module), image))
        self._functions: dict[str, ctypes.c_void_p] = {}

    def launch(self, name: str, blocks: int, threads: int, arguments: list[Argument]) -> None:
        function = self._functions.get(name)
        if function is None:
            function = ctypes.c_void_p()
            self._check(self._driver.cuModuleGetFunction(ctypes.byref(function), self._module, name.encode()))
            self._functions[name] = function
        pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(a) for a in arguments))
        stream = ctypes.c_void_p(self._torch.cuda.current_stream().cuda_stream)
        self._check(
            self._driver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, pointers, ctypes.c_void_p())
        )

    def _check(self, status: int) -> None:
        if status:
            text = ctypes.c_char_p()
            self._driver.cuGetErrorString(status, ctypes.byref(text))
            raise CudaError(f"CUDA driver: {(text.value or b'unknown error').decode()}")


def pointer(array: Array, offset_bytes: int = 0) -> ctypes.c_void_p:
    """The address of a tensor's data."""
    return ctypes.c_void_p(array.data_ptr() + offset_bytes)


def _compile(source: str, architecture: str, cuda_major: str) -> bytes:
    nvrtc = _library([f"libnvrtc.so.{cuda_major}", "libnvrtc.so", *_bundled(cuda_major)])
    program = ctypes.c_void_p()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"interlock.cu", 0, None, None):
        raise CudaError("NVRTC takes no program")
    try:
        options = (ctypes.c_char_p * 1)(f"--gpu-architecture={architecture}".encode())
        if nvrtc.nvrtcCompileProgram(program, 1, options):
            raise CudaError(_text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).decode())
        return _text(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(size_of: Any, get: Any, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    get(program, buffer)
    return buffer.raw


def _bundled(cuda_major: str) -> list[str]:
    """NVRTC as wheels of NVIDIA's bring it."""
    found = importlib.util.find_spec("nvidia")
    folders = list(found.submodule_search_locations or []) if found is not None else []
    found_here = [p for folder in folders for p in sorted(Path(folder).glob(f"*/lib/libnvrtc.so.{cuda_major}*"))]
    for library in found_here:
        # NVRTC opens this one by its bare name, and finds it only if it is loaded already.
        for builtins in library.parent.glob("libnvrtc-builtins.so.*"):
            with contextlib.suppress(OSError):
                ctypes.CDLL(str(builtins))
    return [str(p) for p in found_here]


def _library(names: list[str]) -> ctypes.CDLL:
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise NoCompiler(f"none of {', '.join(names)} can be loaded")
