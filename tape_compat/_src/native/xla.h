/* What our handlers need of XLA's interface for foreign functions, a binary interface that is
   kept stable: the beginning of each struct in the order of `xla/ffi/api/c_api.h`, which jaxlib
   brings. Written down here, so that the extension is built without jaxlib, and serves every version
   of it; tests/test_kernels.py compares the two. */
#include <stddef.h>
#include <stdint.h>

enum { XLA_FFI_Extension_Metadata = 1 };
enum { XLA_FFI_Error_Code_INVALID_ARGUMENT = 3, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED = 8 };
enum { XLA_FFI_DataType_S32 = 4, XLA_FFI_DataType_S64 = 5 };
enum { XLA_FFI_DataType_U32 = 8, XLA_FFI_DataType_U64 = 9 };
enum { XLA_FFI_DataType_F32 = 11, XLA_FFI_DataType_F64 = 12 };
enum { XLA_FFI_DataType_C64 = 15, XLA_FFI_DataType_C128 = 18 };
enum { XLA_FFI_AttrType_ARRAY = 1 };

typedef struct XLA_FFI_Error XLA_FFI_Error;
typedef struct XLA_FFI_ExecutionContext XLA_FFI_ExecutionContext;
typedef void XLA_FFI_Task(void *data);

typedef struct XLA_FFI_Extension_Base {
    size_t struct_size;
    int type;
    struct XLA_FFI_Extension_Base *next;
} XLA_FFI_Extension_Base;

typedef struct {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    int major_version, minor_version;
} XLA_FFI_Api_Version;

typedef struct {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    const char *message;
    int errc;
} XLA_FFI_Error_Create_Args;

typedef struct {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    XLA_FFI_Error *error;
} XLA_FFI_Error_Destroy_Args;

typedef struct {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    XLA_FFI_ExecutionContext *ctx;
    XLA_FFI_Task *task;
    void *data;
} XLA_FFI_ThreadPool_Schedule_Args;

typedef struct {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    XLA_FFI_ExecutionContext *ctx;
    int64_t *num_threads;
} XLA_FFI_ThreadPool_NumThreads_Args;

typedef void XLA_FFI_Unused(void);

typedef struct {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    XLA_FFI_Api_Version api_version;
    const void *internal_api;
    XLA_FFI_Error *(*XLA_FFI_Error_Create)(XLA_FFI_Error_Create_Args *);
    XLA_FFI_Unused *XLA_FFI_Error_GetMessage;
    void (*XLA_FFI_Error_Destroy)(XLA_FFI_Error_Destroy_Args *);
    XLA_FFI_Unused *XLA_FFI_Handler_Register;
    XLA_FFI_Unused *XLA_FFI_Stream_Get;
    XLA_FFI_Unused *XLA_FFI_Type_Register;
    XLA_FFI_Unused *XLA_FFI_ExecutionContext_Get;
    XLA_FFI_Unused *XLA_FFI_State_Set;
    XLA_FFI_Unused *XLA_FFI_State_Get;
    XLA_FFI_Unused *XLA_FFI_DeviceMemory_Allocate;
    XLA_FFI_Unused *XLA_FFI_DeviceMemory_Free;
    XLA_FFI_Error *(*XLA_FFI_ThreadPool_Schedule)(XLA_FFI_ThreadPool_Schedule_Args *);
    XLA_FFI_Error *(*XLA_FFI_ThreadPool_NumThreads)(XLA_FFI_ThreadPool_NumThreads_Args *);
} XLA_FFI_Api;

typedef struct {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    int dtype;
    void *data;
    int64_t rank;
    int64_t *dims;
} XLA_FFI_Buffer;

typedef struct {
    int dtype;
    size_t size;
    void *data;
} XLA_FFI_Array;

/* Arguments, and results too. */
typedef struct {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    int64_t size;
    int *types;
    void **args;
} XLA_FFI_Args;

typedef struct {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    int64_t size;
    int *types;
    void **names;
    void **attrs;
} XLA_FFI_Attrs;

typedef struct {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    const XLA_FFI_Api *api;
    XLA_FFI_ExecutionContext *ctx;
    int stage;
    XLA_FFI_Args args;
    XLA_FFI_Args rets;
    XLA_FFI_Attrs attrs;
} XLA_FFI_CallFrame;

typedef struct {
    size_t struct_size;
    XLA_FFI_Api_Version api_version;
    uint32_t traits;
} XLA_FFI_Metadata;

typedef struct {
    XLA_FFI_Extension_Base extension_base;
    XLA_FFI_Metadata *metadata;
} XLA_FFI_Metadata_Extension;
