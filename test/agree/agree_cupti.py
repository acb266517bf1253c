#!/usr/bin/env python3
"""Our declarations of CUPTI (src/verify/gpu/cupti_abi.h) against its own headers and library.

Sizes and offsets are compared by the compiler; each function must be in the library; and the library's host
side, which needs no GPU, must know the counters (src/verify/verdict/counter.def) on the chips that we name. The
headers come with CUDA's toolkit or with the Python package nvidia-cuda-cupti; without them all is skipped.
"""
import ctypes
import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Ours, theirs, and pairs of a field of ours and one of theirs where the names differ.
STRUCTS = {
    "init": ("Profiler_Initialize_Params", {"size": "structSize", "priv": "pPriv"}),
    "chip": ("Device_GetChipName_Params", {"device": "deviceIndex", "name": "pChipName"}),
    "host_open": ("Profiler_Host_Initialize_Params", {"type": "profilerType", "chip": "pChipName", "availability":
                  "pCounterAvailabilityImage", "host": "pHostObject"}),
    "host_close": ("Profiler_Host_Deinitialize_Params", {"host": "pHostObject"}),
    "host_add": ("Profiler_Host_ConfigAddMetrics_Params", {"host": "pHostObject", "metrics": "ppMetricNames", "n": "numMetrics"}),
    "host_image_size": ("Profiler_Host_GetConfigImageSize_Params", {"host": "pHostObject", "bytes": "configImageSize"}),
    "host_image": ("Profiler_Host_GetConfigImage_Params", {"bytes": "configImageSize", "image": "pConfigImage"}),
    "host_values": ("Profiler_Host_EvaluateToGpuValues_Params", {"host": "pHostObject", "data": "pCounterDataImage", "data_bytes":
                    "counterDataImageSize", "range": "rangeIndex", "metrics": "ppMetricNames", "n": "numMetrics", "values": "pMetricValues"}),
    "range_enable": ("RangeProfiler_Enable_Params", {"ctx": "ctx", "range": "pRangeProfilerObject"}),
    "range": ("RangeProfiler_Start_Params", {"range": "pRangeProfilerObject"}),
    "range_config": ("RangeProfiler_SetConfig_Params", {
        "range": "pRangeProfilerObject", "image_bytes": "configSize", "image": "pConfig", "data_bytes": "counterDataImageSize",
        "data": "pCounterDataImage", "kind": "range", "replay": "replayMode", "ranges_most": "maxRangesPerPass", "nesting_levels":
        "numNestingLevels", "least_level": "minNestingLevel", "pass": "passIndex", "target_level": "targetNestingLevel"}),
    "range_stop": ("RangeProfiler_Stop_Params", {"range": "pRangeProfilerObject", "pass": "passIndex", "all_passes": "isAllPassSubmitted"}),
    "range_push": ("RangeProfiler_PushRange_Params", {"name": "pRangeName"}),
    "range_decode": ("RangeProfiler_DecodeData_Params", {"dropped": "numOfRangeDropped"}),
    "range_data_size": ("RangeProfiler_GetCounterDataSize_Params", {"metrics": "pMetricNames", "n": "numMetrics", "ranges_most":
                        "maxNumOfRanges", "nodes_most": "maxNumRangeTreeNodes", "bytes": "counterDataSize"}),
    "range_data_init": ("RangeProfiler_CounterDataImage_Initialize_Params", {"bytes": "counterDataSize", "data": "pCounterData"}),
}
NUMBERS = {"CUPTI_RANGE_PROFILER": "CUPTI_PROFILER_TYPE_RANGE_PROFILER", "CUPTI_USER_RANGE": "CUPTI_UserRange",
           "CUPTI_USER_REPLAY": "CUPTI_UserReplay", "CUPTI_KIND_KERNEL": "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
           "CUPTI_DENIED": "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
           "CUPTI_VIRTUAL_DENIED": "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES"}
CHIPS = ["GA100", "GA102", "AD102", "GH100", "GB100"]


def find():
    """Folders with CUPTI's headers, each with the library next to it."""
    roots = ["/usr/local/cuda*", "/usr/local/cuda*/targets/*", "/usr/local/cuda*/extras/CUPTI", *(f"{p}/nvidia/*" for p in sys.path if p)]
    for root in roots:
        for header in sorted(glob.glob(f"{root}/include/cupti_range_profiler.h")):
            base = pathlib.Path(header).parent.parent
            library = sorted(glob.glob(f"{base}/lib*/libcupti.so*"))
            if library and cuda_header(base):
                return base / "include", library[-1]
    return None, None


def cuda_header(base):
    return [p for p in [str(base / "include"), *glob.glob("/usr/local/cuda*/include"), *glob.glob(f"{base.parent}/*/include")]
            if os.path.exists(f"{p}/cuda.h")][:1]


def check_layout(include):
    """One static assertion for each size, offset and number."""
    lines = [f"static_assert(CUPTI_{ours} == {theirs}, \"\");" for ours, theirs in
             ((ours.removeprefix("CUPTI_"), theirs) for ours, theirs in NUMBERS.items())]
    for ours, (theirs, fields) in STRUCTS.items():
        last = list(re.search(rf"struct cupti_{ours} \{{(.*?)\}};", (ROOT / "src/verify/gpu/cupti_abi.h").read_text(), re.S)[1].split(";"))[-2]
        last = re.findall(r"\w+", last)[-1]
        lines.append(f"static_assert(CUPTI_SIZE(cupti_{ours}, {last}) == CUpti_{theirs}_STRUCT_SIZE, \"{ours}\");")
        lines += [f"static_assert(offsetof(cupti_{ours}, {a}) == offsetof(CUpti_{theirs}, {b}), \"{ours}.{a}\");" for a, b in fields.items()]
    lines += [f"static_assert(offsetof(cupti_kernel_record, name) == offsetof({k}, name) && offsetof({k}, kind) == 0, \"{k}\");"
              for k in re.findall(r"^\} (CUpti_ActivityKernel\d+);", (include / "cupti_activity.h").read_text(), re.M)]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "layout.cpp"
        source.write_text('#include <cstddef>\n#include <string>\n#include <cupti.h>\n#include <cupti_target.h>\n#include <cupti_profiler_host.h>\n'
                          '#include <cupti_range_profiler.h>\n#include "verify/gpu/cupti_abi.h"\n' + "\n".join(lines) + "\n")
        flags = [f"-I{p}" for p in [include, *cuda_header(include.parent)]]
        done = subprocess.run(["c++", "-std=c++17", "-fsyntax-only", "-w", *flags, f"-I{ROOT}/src", source], capture_output=True, text=True)
    failed = len(re.findall(r"error:", done.stderr))
    print(done.stderr[-2000:], end="")
    return max(0, len(lines) - failed), failed


def check_functions(library):
    names = re.findall(r"^CUPTI\(\w+, (\w+),", (ROOT / "src/verify/gpu/cupti.def").read_text(), re.M)
    missing = [name for name in names if not hasattr(library, name)]
    if missing:
        print(f"functions that CUPTI lacks: {missing}")
    return len(names) - len(missing), len(missing) + (not names)


class Open(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("priv", ctypes.c_void_p), ("type", ctypes.c_int), ("chip", ctypes.c_char_p),
                ("availability", ctypes.c_void_p), ("host", ctypes.c_void_p)]


class Add(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("priv", ctypes.c_void_p), ("host", ctypes.c_void_p),
                ("metrics", ctypes.POINTER(ctypes.c_char_p)), ("n", ctypes.c_size_t)]


def check_counters(library):
    """Every counter on every chip; and a name that no chip has must be refused."""
    text = (ROOT / "src/verify/verdict/counter.def").read_text()
    metrics = re.findall(r'^COUNTER\(\w+, "\w+", "([^"]+)"', text, re.M)
    passed = failed = 0
    for chip in CHIPS:
        for metric, wanted in [*((m, True) for m in metrics), ("no__such_counter.sum", False)]:
            opened = Open(ctypes.sizeof(Open), None, 0, chip.encode(), None, None)
            good = not library.cuptiProfilerHostInitialize(ctypes.byref(opened))
            names = (ctypes.c_char_p * 1)(metric.encode())
            known = good and not library.cuptiProfilerHostConfigAddMetrics(ctypes.byref(Add(ctypes.sizeof(Add), None, opened.host, names, 1)))
            if known != wanted:
                print(f"{chip}: {metric}: {'known' if known else 'not known'}")
            passed, failed = passed + (known == wanted), failed + (known != wanted)
    return passed, failed + (len(metrics) < 4)


def main():
    include, path = find()
    if not path:
        print("CUPTI's headers are not on this machine")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    library = ctypes.CDLL(path)
    results = [check_layout(include), check_functions(library), check_counters(library)]
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
