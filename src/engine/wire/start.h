/* What the host leaves for runtime_start, at the address in rdi. */
#ifndef TARE_ENGINE_WIRE_START_H
#define TARE_ENGINE_WIRE_START_H
#include <stdint.h>
struct start { uint64_t record, stack_top, pc, rsp; };
#endif
