/*
 * Regions under the engine: what the host asks for, what libtare says, and what the runtime writes.
 *
 * A region is a *context of translation*: a block executed inside of regions is another block (own number, own counters) than the
 * same code outside. So everything that is known of blocks is known of regions, and code inside costs what code outside does.
 * Contexts are numbered as they come up; context 0 is "in no region". A block's context is in its record_block.
 *
 * libtare's side: REGION_CALL(code), an instruction that does nothing on any CPU (a 9-byte nop whose displacement is a magic
 * number), with arguments in registers, right where the runtime is to act:
 *
 *     code                       rax before        rdi                      what the engine does
 *     REGION_CALL_PRESENT        0                 -                        rax = 1
 *     REGION_CALL_ENTER          -                 name, bytes and 0        the thread is in it; returns to the caller (as by ret)
 *     REGION_CALL_LEAVE          -                 the same pointer         … no longer; likewise
 *
 * ENTER and LEAVE stand at the first instruction of a function. Under the engine that function ends there: neither the nop nor
 * the return is counted, and the call that came to it is taken out of the counts (as are the stub's own instructions).
 */
#ifndef TARE_ENGINE_WIRE_REGION_H
#define TARE_ENGINE_WIRE_REGION_H

#include <stdint.h>

/* nopw disp32(%rax,%rax,1): 66 0f 1f 84 00 disp32 */
#define REGION_CALL_MAGIC 0x54415200u /* | code */
#define REGION_CALL_BYTES 9u

enum region_call { REGION_CALL_PRESENT = 1, REGION_CALL_ENTER = 2, REGION_CALL_LEAVE = 3 };

#endif
