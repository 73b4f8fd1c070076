/* fact: code that the kernel writes for the program runs as written: by read, recv, /proc/self/mem */
#include "trap.h"
#include <sys/socket.h>
#include <sys/uio.h>

int main(void)
{
	char *code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC), text[16];
	int ends[2], sockets[2], memory = open("/proc/self/mem", O_RDWR);
	long wrong[4] = { 0 };
	if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || memory < 0)
		return 2;
	for (int i = 0; i < 300; i++) {
		write_return(text, i);
		wrong[0] += write(ends[1], text, 6) != 6 || read(ends[0], code, 6) != 6 || call_code(code) != i;
		write_return(text, i + 1000);
		struct iovec from = { text, 6 }, to = { code, 6 };
		wrong[1] += process_vm_writev(getpid(), &from, 1, &to, 1, 0) != 6 || call_code(code) != i + 1000;
		write_return(text, i + 2000);
		wrong[2] += send(sockets[1], text, 6, 0) != 6 || recv(sockets[0], code, 6, 0) != 6 ||
			    call_code(code) != i + 2000;
		write_return(text, i + 3000);
		wrong[3] += pwrite(memory, text, 6, (long)code) != 6 || call_code(code) != i + 3000;
	}
	fact_equal(wrong[0], 0, "by read");
	fact_equal(wrong[1], 0, "by process_vm_writev");
	fact_equal(wrong[2], 0, "by recv");
	fact_equal(wrong[3], 0, "by /proc/self/mem");
	return trap_done();
}
