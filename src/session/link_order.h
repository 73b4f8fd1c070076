/* A program's speed depends on the order in which its object files are linked, too (Mytkowicz, Diwan, Hauswirth,
 * Sweeney, ASPLOS 2009, section 4.2: gcc -O3 against -O2 from 0.92 to 1.10 by link order alone). The program is
 * built once for each of a few orders, and each execution runs one of them. */
#ifndef TARE_SESSION_LINK_ORDER_H
#define TARE_SESSION_LINK_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"

enum { LINK_ORDERS_MOST = 8 }; /* each is a build */

struct link_orders {
	size_t n_files;              /* words of the command that change places: objects and sources */
	const char *const *commands; /* n: the command itself first; all different */
	size_t n;                    /* 1: nothing changes places, why says why */
	const char *why;             /* static */
};

/* Orders of a build command that compiles and links by itself, without a shell's help: its words *.o, *.c, *.cc,
 * *.f90 and the like change places with each other. Libraries stay: their order has a meaning. The arena owns
 * the texts. ERROR_NO_MEMORY only. */
bool link_orders_draw(const char *command, struct random *random, struct arena *arena, struct link_orders *out,
		      struct error *err);

/* Puts the program that was built for one order, at `from`, in the place where it is run, in one step. */
bool link_order_take(const char *from, const char *program, struct error *err);

#endif
