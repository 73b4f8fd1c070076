/* fact: execvp searches PATH, passes over what it may not run, and runs a script without #! by sh */
#include "trap.h"
#include <sys/stat.h>
static char folder[] = "/tmp/tare-trap-XXXXXX", path[400];
static void found(void)
{
	execlp("tare-trap-true", "x", NULL), _exit(errno);
}
static void missing(void)
{
	execlp("tare-trap-missing", "x", NULL), _exit(errno);
}
static void empty(void)
{
	execlp("", "x", NULL), _exit(errno);
}
static void plain(void)
{
	execlp("tare-trap-script", "x", NULL), _exit(errno);
}
static void changed(void)
{
	clearenv(), setenv("PATH", path, 1), execlp("tare-trap-true", "x", NULL), _exit(errno);
}
int main(void)
{
	char name[300];
	if (!mkdtemp(folder))
		return 2;
	snprintf(name, sizeof name, "%s/a", folder), mkdir(name, 0700);
	snprintf(name, sizeof name, "%s/b", folder), mkdir(name, 0700);
	snprintf(name, sizeof name, "%s/a/tare-trap-true", folder), close(creat(name, 0600));
	snprintf(name, sizeof name, "%s/b/tare-trap-true", folder);
	if (symlink("/bin/true", name))
		return 3;
	snprintf(name, sizeof name, "%s/b/tare-trap-script", folder);
	int file = creat(name, 0700);
	if (write(file, "exit 17\n", 8) != 8)
		return 4;
	close(file);
	snprintf(path, sizeof path, "/nonexistent:%s/a:%s/b", folder, folder);
	setenv("PATH", path, 1);
	fact_equal(end_in_child(found), 0, "the third folder's program is found");
	fact_equal(end_in_child(missing), ENOENT, "a missing one is not");
	fact_equal(end_in_child(empty), ENOENT, "nor an empty name");
	fact_equal(end_in_child(plain), 17, "a script without #! is run by sh");
	fact_equal(end_in_child(changed), 0, "with an environment of PATH alone");
	snprintf(name, sizeof name, "/bin/rm -r %s", folder);
	return system(name) || trap_done();
}
