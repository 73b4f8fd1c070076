/* The user's wish to stop, as struct measure_options takes it. */
#ifndef TARE_SESSION_INTERRUPT_H
#define TARE_SESSION_INTERRUPT_H

#include <signal.h>
#include <sys/types.h>

/* Catches SIGINT, SIGTERM, SIGHUP and SIGQUIT from now on, but what was ignored before (nohup); and SIGPIPE, so
 * that a message that nobody reads any more does not end the measurement. 0 until one of them came; then its
 * number, negative when the terminal's driver sent it, which the program got as well. */
const volatile sig_atomic_t *interrupt_catch(void);

/* In a signal handler: the same signal for the tare of that number, which sees as this process does where it came
 * from. */
void interrupt_pass_on(pid_t to, int number, const siginfo_t *info);

#endif
