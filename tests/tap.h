/* Tests print the Test Anything Protocol: `ok 1 - fact`. A test's name states a fact.
 *
 *     int main(void) {
 *         ok(sum(1, 2) == 3, "one and two make three");
 *         equal_u64(sum(1, 2), 3, "one and two make three");     prints both values when they differ
 *         skip("no PMU on this machine", "cycles of a loop are exact");
 *         return done();
 *     }
 */
#ifndef TARE_TESTS_TAP_H
#define TARE_TESTS_TAP_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A sanitizer has page faults and signal handlers of its own; gcc and clang say it differently. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static unsigned tap_run, tap_failed;

__attribute__((unused, format(printf, 2, 3))) static bool ok(bool holds, const char *fact, ...)
{
	va_list args;
	va_start(args, fact);
	printf("%sok %u - ", holds ? "" : "not ", ++tap_run);
	vprintf(fact, args);
	putchar('\n');
	va_end(args);
	tap_failed += !holds;
	fflush(stdout);
	return holds;
}

__attribute__((unused)) static bool equal_u64(uint64_t is, uint64_t expected, const char *fact)
{
	if (is != expected)
		printf("# is %" PRIu64 ", expected %" PRIu64 "\n", is, expected);
	return ok(is == expected, "%s", fact);
}

__attribute__((unused)) static bool near(double is, double expected, double tolerance, const char *fact)
{
	bool holds = fabs(is - expected) <= tolerance;
	if (!holds)
		printf("# is %.12g, expected %.12g within %.3g\n", is, expected, tolerance);
	return ok(holds, "%s", fact);
}

__attribute__((unused)) static bool equal_text(const char *is, const char *expected, const char *fact)
{
	bool holds = is && expected ? strcmp(is, expected) == 0 : is == expected;
	if (!holds)
		printf("# is       '%s'\n# expected '%s'\n", is ? is : "(null)", expected ? expected : "(null)");
	return ok(holds, "%s", fact);
}

/* Counts as skipped, with its reason. */
__attribute__((unused)) static void skip(const char *reason, const char *fact)
{
	printf("ok %u - %s # SKIP %s\n", ++tap_run, fact, reason);
}

__attribute__((unused)) static int done(void)
{
	printf("1..%u\n", tap_run);
	return tap_failed != 0;
}

#endif
