/* The exported calls of counters: under tare's engine what they execute is not the program's.
 *
 * Each begins with a nop that the engine knows by its displacement (src/engine/wire/region.h,
 * REGION_CALL_COUNTERS): from the call on, until it has returned, nothing is counted in any set. Without the
 * engine it is a nop and a jump.
 */
#ifndef TARE_API_COUNTERS_CALL_H
#define TARE_API_COUNTERS_CALL_H

#if defined(__x86_64__) && !defined(__ILP32__)
#define COUNTERS_CALL(type, name, body, ...)                                                                      \
	__attribute__((used, visibility("hidden"))) type body(__VA_ARGS__);                                       \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused-parameter\"")                   \
		__attribute__((naked)) type                                                                       \
		name(__VA_ARGS__)                                                                                 \
	{                                                                                                         \
		__asm__(".byte 0x66, 0x0f, 0x1f, 0x84, 0x00\n\t.long 0x54415208\n\tjmp " #body);                  \
	}                                                                                                         \
	_Pragma("GCC diagnostic pop") type body(__VA_ARGS__)
#else
#define COUNTERS_CALL(type, name, body, ...)                                                                      \
	__attribute__((alias(#name), visibility("hidden"))) type body(__VA_ARGS__);                               \
	type name(__VA_ARGS__)
#endif

#endif
