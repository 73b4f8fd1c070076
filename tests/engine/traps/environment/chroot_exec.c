/* fact: a program execs in a chroot without /proc, /bin or the engine's files
 * build: -static */
#include "trap.h"
#include <sys/sendfile.h>
#include <sys/stat.h>
static char folder[] = "/tmp/tare-trap-XXXXXX";
static void inside(void)
{
	if (chroot(folder) || chdir("/"))
		_exit(90);
	execl("/program", "program", "inside", NULL);
	_exit(91);
}
int main(int count, char **argument)
{
	if (count > 1)
		return access("/proc", F_OK) == -1 && access("/bin", F_OK) == -1 ? 33 : 34;
	if (geteuid() != 0)
		skip_trap("only root may chroot");
	char name[200];
	if (!mkdtemp(folder))
		return 2;
	snprintf(name, sizeof name, "%s/program", folder);
	int from = open("/proc/self/exe", O_RDONLY), to = open(name, O_CREAT | O_WRONLY, 0700);
	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	close(to);
	fact_equal(end_in_child(inside), 33, "it runs inside");
	unlink(name), rmdir(folder);
	(void)argument;
	return trap_done();
}
