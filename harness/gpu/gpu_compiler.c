/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC and hiprtc; see gpu_compiler.h. The two interfaces differ in names only. */
#include "harness/gpu/gpu_compiler.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(TOPKCTS_CUDA)

#include <nvrtc.h>
#define GPU_BACKEND "cuda"
#define RTC_NAME "NVRTC"
#define RTC_SUCCESS NVRTC_SUCCESS
#define RTC_REJECTED NVRTC_ERROR_COMPILATION
typedef nvrtcResult  rtc_result;
typedef nvrtcProgram rtc_program;
#define rtcVersion nvrtcVersion
#define rtcErrorText nvrtcGetErrorString
#define rtcCreate nvrtcCreateProgram
#define rtcCompile nvrtcCompileProgram
#define rtcLogSize nvrtcGetProgramLogSize
#define rtcLog nvrtcGetProgramLog
#define rtcCodeSize nvrtcGetCUBINSize
#define rtcCode nvrtcGetCUBIN
#define rtcDestroy nvrtcDestroyProgram
#define RTC_TEXTS(list) (list)
#define RTC_RELEASE ""

#elif defined(TOPKCTS_HIP)

#include <hip/hip_version.h>
#include <hip/hiprtc.h>
#define GPU_BACKEND "hip"
#define RTC_NAME "hiprtc"
#define RTC_SUCCESS HIPRTC_SUCCESS
#define RTC_REJECTED HIPRTC_ERROR_COMPILATION
typedef hiprtcResult  rtc_result;
typedef hiprtcProgram rtc_program;
#define rtcVersion hiprtcVersion
#define rtcErrorText hiprtcGetErrorString
#define rtcCreate hiprtcCreateProgram
#define rtcCompile hiprtcCompileProgram
#define rtcLogSize hiprtcGetProgramLogSize
#define rtcLog hiprtcGetProgramLog
#define rtcCodeSize hiprtcGetCodeSize
#define rtcCode hiprtcGetCode
#define rtcDestroy hiprtcDestroyProgram
/* hiprtcVersion has answered 9.0 from HIP 5.2 to 6.4: the release is what tells compilers apart. */
#define RTC_TEXT_OF(x) #x
#define RTC_TEXT(x) RTC_TEXT_OF(x)
#define RTC_RELEASE                                                                                                    \
    " of HIP " RTC_TEXT(HIP_VERSION_MAJOR) "." RTC_TEXT(HIP_VERSION_MINOR) "." RTC_TEXT(HIP_VERSION_PATCH)
/* Declared without const in older headers; the lists are only read. */
#define RTC_TEXTS(list) ((const char **)(uintptr_t)(list))

#else
#error "compile with -DTOPKCTS_CUDA or -DTOPKCTS_HIP"
#endif

static enum status check(rtc_result result, const char *what, struct error *err)
{
    if (result == RTC_SUCCESS)
        return STATUS_OK;
    return error_set(err, STATUS_BOOKS, RTC_NAME ": %s: %s", what, rtcErrorText(result));
}

static enum status compiler_version(char *text, size_t size, struct error *err)
{
    int major = 0, minor = 0;
    if (check(rtcVersion(&major, &minor), "asking for its version", err))
        return err->status;
    snprintf(text, size, RTC_NAME " %d.%d" RTC_RELEASE, major, minor);
    return STATUS_OK;
}

static char *take_log(rtc_program program)
{
    size_t bytes = 0;
    if (rtcLogSize(program, &bytes) != RTC_SUCCESS || bytes <= 1)
        return NULL;
    char *log = calloc(1, bytes + 1);
    if (log && rtcLog(program, log) != RTC_SUCCESS) {
        free(log);
        return NULL;
    }
    return log;
}

static enum status take_code(rtc_program program, void **code, size_t *bytes, struct error *err)
{
    if (check(rtcCodeSize(program, bytes), "asking for the size of the code", err))
        return err->status;
    if (*bytes == 0)
        return error_set(err, STATUS_BOOKS, RTC_NAME ": compiled to no code at all");
    *code = malloc(*bytes);
    if (!*code)
        return error_no_memory(err);
    return check(rtcCode(program, *code), "fetching the code", err);
}

static enum status compiler_compile(const struct gpu_compilation *compilation, void **code, size_t *bytes, char **log,
                                    struct error *err)
{
    rtc_program program = NULL;
    *code = NULL;
    *log = NULL;
    if (check(rtcCreate(&program, compilation->text, compilation->name, compilation->n_headers,
                        RTC_TEXTS(compilation->header_texts), RTC_TEXTS(compilation->header_names)),
              "taking the source", err))
        return err->status;
    rtc_result result = rtcCompile(program, compilation->n_options, RTC_TEXTS(compilation->options));
    *log = take_log(program);
    if (result == RTC_REJECTED)
        error_set(err, STATUS_FAIL, RTC_NAME " rejects %s", compilation->name);
    else if (!check(result, "compiling", err))
        take_code(program, code, bytes, err);
    rtcDestroy(&program);
    if (err->status) {
        free(*code);
        *code = NULL;
    }
    return err->status;
}

static const struct gpu_compiler compiler = {
    .abi = GPU_COMPILER_ABI,
    .backend = GPU_BACKEND,
    .version = compiler_version,
    .compile = compiler_compile,
};

__attribute__((visibility("default"))) const struct gpu_compiler *topkcts_gpu_compiler(void)
{
    return &compiler;
}
