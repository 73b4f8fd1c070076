/* Names of the kernel's code, from files as /proc has them, and from /proc itself where this user may. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/kernel.h"
#include "tap.h"

static char folder[] = "/tmp/tare-kernel-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		exit(2);
}

static struct kernel_names *fresh(void)
{
	struct kernel_names *k;
	if (!kernel_new(folder, &k, NULL))
		exit(2);
	return k;
}

static struct kernel_code at(const struct kernel_names *k, uint64_t address)
{
	struct kernel_code code;
	return kernel_find(k, address, &code) ? code
					      : (struct kernel_code){.function = "(none)", .module = "(none)"};
}

static const char modules[] = "ext4 1000 1 - Live 0xffffffffc0200000\n"
			      "jbd2 4096 1 ext4, Live 0xffffffffc0100000 (E)\n";

static const char symbols[] = "0000000000000000 A fixed_percpu_data\n"
			      "ffffffff81000000 T _stext\n"
			      "ffffffff81000000 T startup\n"
			      "ffffffff81000100 t __do_work\n"
			      "ffffffff81000100 T do_work\n"
			      "ffffffff81000100 W an_alias\n"
			      "ffffffff81000200 t last\n"
			      "ffffffff81000300 T _etext\n"
			      "ffffffff82000000 D data\n"
			      "ffffffffc0200010 t ext4_read\t[ext4]\n"
			      "ffffffffc0100000 t jbd2_begin\t[jbd2]\n"
			      "ffffffffc0100800 t jbd2_end\t[jbd2]\n"
			      "ffffffffc0300000 t bpf_prog_1\t[bpf]\n";

static void named(void)
{
	write_file("modules", modules);
	write_file("kallsyms", symbols);
	struct kernel_names *k = fresh();
	struct kernel_code c = at(k, 0xffffffff810001ff);
	ok(!strcmp(c.function, "do_work") && !strcmp(c.module, "[kernel]") && c.begins == 0xffffffff81000100 &&
		   c.module_begins == 0,
	   "a function has its bytes up to the next symbol; of its names the plain global one is shown");
	equal_text(at(k, 0xffffffff81000000).function, "startup", "the linker's marks are not preferred");
	equal_text(at(k, 0xffffffff810002ff).function, "last", "the last function ends at the linker's mark");
	equal_text(at(k, 0xffffffff81000300).function, "(none)", "behind it there is no name");
	equal_text(at(k, 0xffffffff82000010).function, "(none)", "data is no function");
	equal_text(at(k, 0xffffffff80ffffff).function, "(none)", "nor is what is before all");
	c = at(k, 0xffffffffc02003e7);
	ok(!strcmp(c.function, "ext4_read") && !strcmp(c.module, "[ext4]") &&
		   c.module_begins == 0xffffffffc0200000,
	   "a module's function has its module");
	equal_text(at(k, 0xffffffffc02003e8).function, "(none)", "which ends where /proc/modules says");
	equal_text(at(k, 0xffffffffc0100900).function, "jbd2_end", "lines need no order");
	equal_text(at(k, 0xffffffffc0101000).function, "(none)", "and no module goes into the next one");
	equal_text(at(k, 0xffffffffc0300000).module, "[bpf]", "what /proc/modules lacks has a module, too");
	equal_text(at(k, 0).function, "(none)", "0 has no name");
	equal_text(at(k, 0x401000).function, "(none)", "nor has a program's address");
	ok(!kernel_trouble(k, NULL), "nothing is wrong");
	kernel_free(k);
}

static void without_modules(void)
{
	char path[256];
	snprintf(path, sizeof path, "%s/modules", folder);
	unlink(path);
	struct kernel_names *k = fresh();
	equal_text(at(k, 0xffffffff81000150).function, "do_work", "without /proc/modules the kernel has names");
	equal_text(at(k, 0xffffffffc0200020).module, "[ext4]", "and modules, too");
	kernel_free(k);
}

static void hidden(void)
{
	static const char zeros[] =
		"0000000000000000 T _stext\n0000000000000000 T do_work\n0000000000000000 t ext4_read\t[ext4]\n";
	const char *hint;
	struct kernel_code code;
	write_file("kallsyms", zeros);
	write_file("modules", "ext4 1000 1 - Live 0x0000000000000000\n");
	char path[256];
	snprintf(path, sizeof path, "%s/sys", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/sys/kernel", folder);
	mkdir(path, 0700);
	write_file("sys/kernel/kptr_restrict", "2\n");
	struct kernel_names *k = fresh();
	ok(!kernel_find(k, 0, &code) && !kernel_find(k, 0xffffffff81000000, &code),
	   "where all addresses are 0 nothing has a name");
	ok(kernel_trouble(k, &hint) && strstr(kernel_trouble(k, &hint), "to anyone") &&
		   strstr(hint, "kptr_restrict=1"),
	   "it says that it is not permitted, and the step that would allow it");
	kernel_free(k);
	write_file("sys/kernel/kptr_restrict", "1\n");
	k = fresh();
	ok(kernel_trouble(k, &hint) && hint[0] && strstr(hint, geteuid() == 0 ? "CAP_SYSLOG" : "as root"),
	   "at level 1 the step is another one: %s", hint);
	kernel_free(k);
}

static void broken(void)
{
	const char *hint;
	write_file("kallsyms", "");
	struct kernel_names *k = fresh();
	ok(kernel_trouble(k, &hint) && strstr(hint, "CONFIG_KALLSYMS"),
	   "an empty file is a kernel without symbols");
	kernel_free(k);
	write_file("kallsyms", "nonsense\n\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T "
			       "\nffffffff81000000 Tx name\nzz T name\n");
	k = fresh();
	ok(kernel_trouble(k, &hint) != NULL && at(k, 0xffffffff81000000).begins == 0,
	   "lines that are none give no name");
	kernel_free(k);
	static char line[70000] = "ffffffff81000000 T ";
	memset(line + strlen(line), 'x', 65000);
	write_file("kallsyms", line);
	write_file("modules", "a\nb c d e f g\next4 18446744073709551615 1 - Live 0xffffffffc0200000\n");
	k = fresh();
	ok(strlen(at(k, 0xffffffff81000000).function) == 65000, "a name of 65000 bytes, and no newline");
	kernel_free(k);
	char path[256];
	snprintf(path, sizeof path, "%s/kallsyms", folder);
	unlink(path);
	k = fresh();
	ok(kernel_trouble(k, &hint) && strstr(kernel_trouble(k, &hint), "no such file"),
	   "without the file it says so");
	kernel_free(k);
}

/* This kernel: the truth is the file, read here. */
static void running(void)
{
	struct kernel_names *k;
	char line[1024], name[512], type;
	unsigned long long address, wanted = 0;
	if (!kernel_new(NULL, &k, NULL))
		exit(2);
	FILE *file = fopen("/proc/kallsyms", "r");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "%llx %c %511s", &address, &type, name) == 3 && !strcmp(name, "vfs_read"))
			wanted = address;
	if (file)
		fclose(file);
	if (wanted)
		equal_text(at(k, wanted + 1).function, "vfs_read",
			   "the running kernel's functions are found, or it says why not");
	else
		ok(kernel_trouble(k, NULL) != NULL,
		   "the running kernel's functions are found, or it says why not");
	kernel_free(k);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 2;
	named();
	without_modules();
	hidden();
	broken();
	running();
	char command[256];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command) != 0 || done();
}
